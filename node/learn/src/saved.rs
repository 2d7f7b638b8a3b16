//! A saved model that can be used: with its parameters everything that stands between a table and a prediction.
//!
//! [`About`] is kept in the metadata of the file, each entry under a name of its own, so that other programs can read it too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use topology::Hint;

use crate::checkpoint::{self, CheckpointError, CheckpointInfo};
use crate::data::{DataError, DataSource, Dataset, ImageShape, LabelUse, SourceKind, Task};
use crate::model::{self, Model, ModelError, ModelSpec, Predictions};
use crate::schema::Schema;

/// What a model was made for.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The model in the words of a config.
    pub spec: ModelSpec,
    /// Names of the features, in order; empty where the data had none.
    pub features: Vec<String>,
    /// Names of the classes, in order; empty where the data had none.
    pub classes: Vec<String>,
    /// What is predicted.
    pub task: Task,
    /// Numbers per record.
    pub inputs: usize,
    /// The shape of the records, where they are images.
    pub image: Option<ImageShape>,
    /// How records become features, where it was declared.
    pub schema: Option<Schema>,
    /// Facts of the run for readers: its name, ε, δ, analysis.
    pub facts: BTreeMap<String, String>,
}

/// A model with its parameters.
#[derive(Debug)]
pub struct Saved {
    /// What it was made for.
    pub about: About,
    /// The digest of the run's configuration, the round, the guarantee.
    pub info: CheckpointInfo,
    /// The shape.
    pub model: Box<dyn Model>,
    /// The parameters.
    pub params: Vec<f32>,
}

/// Why a saved model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// A file that cannot be read or is no model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file that does not say what its numbers mean.
    #[error("`{}` does not say what its model was made for: `{key}` is missing or cannot be read", path.display())]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// Which entry.
        key: &'static str,
    },
    /// Sizes that no model has.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Columns that are not those of the model.
    #[error("the data have {found} features, and the model was made for {needs}")]
    Features {
        /// Of the data.
        found: usize,
        /// Of the model.
        needs: usize,
    },
}

impl Hint for SavedError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Checkpoint(error) => error.hint(),
            Self::Unknown { .. } => {
                Some("train it again with this version: a model then carries its columns".into())
            }
            Self::Model(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Features { .. } => {
                Some("read the data as they were read for training: the same keys behind the file".into())
            }
        }
    }
}

impl About {
    /// What a model of this kind for records like these is made for.
    pub fn of(spec: &ModelSpec, data: &Dataset, schema: Option<&Schema>) -> Self {
        Self {
            spec: spec.clone(),
            features: data.feature_names().map(<[String]>::to_vec).unwrap_or_default(),
            classes: data.class_names().map(<[String]>::to_vec).unwrap_or_default(),
            task: data.task(),
            inputs: data.columns(),
            image: data.image_shape(),
            schema: schema.cloned(),
            facts: BTreeMap::new(),
        }
    }

    /// As entries of metadata.
    pub fn entries(&self) -> BTreeMap<String, String> {
        let json = |value: serde_json::Value| value.to_string();
        let target = match self.task {
            Task::Classification { classes } => format!("{classes} classes"),
            Task::Regression => "number".into(),
            Task::Unlabelled => "nothing".into(),
        };
        let mut entries = self.facts.clone();
        let spec = serde_json::to_value(&self.spec).unwrap_or_default();
        entries.insert("spec".into(), json(spec));
        entries.insert("inputs".into(), self.inputs.to_string());
        entries.insert("target".into(), target);
        entries.insert("features".into(), json(serde_json::json!(self.features)));
        entries.insert("classes".into(), json(serde_json::json!(self.classes)));
        if let Some(image) = self.image {
            entries.insert("image".into(), format!("{}x{}", image.height, image.width));
        }
        if let Some(schema) = &self.schema {
            entries.insert("schema".into(), schema.to_toml());
        }
        entries
    }

    fn parse(mut entries: BTreeMap<String, String>, path: &Path) -> Result<Self, SavedError> {
        let unknown = |key: &'static str| SavedError::Unknown { path: path.to_path_buf(), key };
        let mut take = |key: &'static str| entries.remove(key).ok_or_else(|| unknown(key));
        let spec = take("spec").and_then(|text| serde_json::from_str(&text).map_err(|_| unknown("spec")))?;
        let inputs = take("inputs")?.parse().map_err(|_| unknown("inputs"))?;
        let task = match take("target")?.as_str() {
            "number" => Task::Regression,
            "nothing" => Task::Unlabelled,
            classes => {
                let count = classes.strip_suffix(" classes").and_then(|count| count.parse().ok());
                Task::Classification { classes: count.ok_or_else(|| unknown("target"))? }
            }
        };
        let list = |text: String, key| serde_json::from_str(&text).map_err(|_| unknown(key));
        let features: Vec<String> = list(take("features")?, "features")?;
        let classes: Vec<String> = list(take("classes")?, "classes")?;
        let image = entries.remove("image").and_then(|text| {
            let (height, width) = text.split_once('x')?;
            Some(ImageShape { height: height.parse().ok()?, width: width.parse().ok()? })
        });
        let schema = entries.remove("schema").map(|text| Schema::from_toml(&text, "the model's schema"));
        let schema = schema.transpose().map_err(DataError::from)?;
        Ok(Self { spec, features, classes, task, inputs, image, schema, facts: entries })
    }
}

impl Saved {
    /// Reads a model and what it was made for.
    ///
    /// # Errors
    /// A file that is no model, or does not say what it was made for.
    pub fn load(path: &Path) -> Result<Self, SavedError> {
        let bytes = std::fs::read(path).map_err(|source| CheckpointError::File {
            doing: crate::checkpoint::READ,
            path: path.to_path_buf(),
            source,
        })?;
        Self::from_bytes(&bytes, path)
    }

    /// The model in the bytes of a file; `name` is how errors call them. Bytes of strangers are welcome: nothing larger than they are is made of them.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &Path) -> Result<Self, SavedError> {
        let info = checkpoint::info_of(bytes, name)?;
        let about = About::parse(info.about.clone(), name)?;
        // Before anything is built: sizes are what somebody wrote.
        if about.inputs > bytes.len() || about.spec.largest_width() > bytes.len() {
            return Err(SavedError::Unknown { path: name.to_path_buf(), key: "spec" });
        }
        let model = about.spec.build_for(about.inputs, about.task, about.image)?;
        if model.parameter_count() > bytes.len() / 4 {
            return Err(SavedError::Unknown { path: name.to_path_buf(), key: "spec" });
        }
        let (params, info) = checkpoint::from_bytes(bytes, name, model.as_ref())?;
        Ok(Self { about, info, model, params })
    }

    /// Reads records as the model needs them: by its own schema, or as `source` says where it has none.
    ///
    /// # Errors
    /// Data that cannot be read so, or of another width.
    pub fn read(&self, source: &DataSource, label: LabelUse) -> Result<Dataset, SavedError> {
        let mut source = match (&self.about.schema, &source.kind) {
            (Some(schema), SourceKind::Csv(..)) if source.schema.is_none() => {
                source.with_schema(schema, label)?
            }
            _ => source.clone(),
        };
        if let SourceKind::Csv(_, options) = &mut source.kind {
            // Whom a record is about makes no difference to a model.
            options.id = None;
        }
        let loaded = source.load(1)?;
        let data = match (loaded.test, label) {
            // Whoever names a split asks for the part that was kept apart.
            (Some(test), LabelUse::Needed) => test,
            _ => loaded.train,
        };
        if data.columns() != self.about.inputs {
            return Err(SavedError::Features { found: data.columns(), needs: self.about.inputs });
        }
        Ok(data)
    }

    /// Predictions for records, in order.
    ///
    /// # Errors
    /// Records that do not fit the model.
    pub fn predict(&self, data: &Dataset) -> Result<Predictions, ModelError> {
        model::predict(self.model.as_ref(), &self.params, data)
    }

    /// The name of a class.
    pub fn class_name(&self, class: usize) -> String {
        self.about.classes.get(class).cloned().unwrap_or_else(|| class.to_string())
    }
}
