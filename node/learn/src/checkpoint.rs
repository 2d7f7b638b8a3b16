//! Models on disk: safetensors, readable from Python, with the run's facts as metadata.
//!
//! A file is written beside its final name and renamed, so that readers see the old model or the new one, never half
//! of one. Bytes depend only on the content: metadata are written in the order of their names.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use topology::Hint;

use crate::model::Model;

/// The version of the layout, under `format` in the metadata.
const FORMAT: &str = "murmuration-1";

/// What is known about a saved model besides its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckpointInfo {
    /// Digest of the config that all nodes of the run share.
    pub config_digest: String,
    /// The round after which it was saved.
    pub round: u64,
    /// The privacy guarantee in words, with ε, δ, adjacency and analysis; or that there is none.
    pub guarantee: String,
    /// What else is known, by name: how records become features, what the classes are called, what the run was. See [`crate::saved`].
    pub about: BTreeMap<String, String>,
}

/// What was tried where a file could not be read.
pub(crate) const READ: &str = "read";

/// Why a model cannot be saved or loaded.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The file system refused.
    #[error("Cannot {doing} `{path}`")]
    File {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not a safetensors file, or a damaged one.
    #[error("`{path}` is not a whole safetensors file")]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: SafeTensorError,
    },
    /// A file without our metadata.
    #[error("`{path}` has no `{key}` in its metadata")]
    Metadata {
        /// Which file.
        path: PathBuf,
        /// Which entry is missing or unreadable.
        key: &'static str,
    },
    /// A model of another shape.
    #[error("`{path}`: tensor `{tensor}` is {has}, and the model `{kind}` needs {needs}")]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Which tensor.
        tensor: String,
        /// What the file has.
        has: String,
        /// What the model needs.
        needs: String,
        /// Kind of the model.
        kind: &'static str,
    },
    /// A parameter vector of the wrong length, or with values that are not finite.
    #[error("The parameters do not fit the model `{kind}`: {why}")]
    Parameters {
        /// Kind of the model.
        kind: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl Hint for CheckpointError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::File { source, doing: READ, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                "a run leaves `model.safetensors` in its folder, and a node in its `--state` folder".into()
            }
            Self::File { doing: READ, .. } => "check that the file can be read".into(),
            Self::File { .. } => "check that the folder exists and can be written to".into(),
            Self::Format { .. } => "copy the file again, or take an earlier checkpoint".into(),
            Self::Metadata { .. } => "only files that this program wrote carry a run's metadata".into(),
            Self::Shape { .. } => "load it with the config of the run that wrote it".into(),
            Self::Parameters { .. } => "a diverged run has no model to save: use a smaller step size".into(),
        };
        Some(hint)
    }
}

/// Writes the parameters of `model` to `path`, replacing what was there in one step.
///
/// # Errors
/// Parameters of the wrong number or not finite, or a file that cannot be written; the old file is then untouched.
pub fn save(
    path: &Path,
    model: &dyn Model,
    params: &[f32],
    info: &CheckpointInfo,
) -> Result<(), CheckpointError> {
    let bytes = to_bytes(model, params, info)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let failed = |doing| {
        let path = path.to_path_buf();
        move |source| CheckpointError::File { doing, path, source }
    };
    let written = std::fs::File::create(&part)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // Best effort: the error that matters is the first one.
        let _ = std::fs::remove_file(&part);
    }
    written.map_err(failed("write"))
}

/// Reads the parameters of `model` and the run's facts from `path`.
///
/// # Errors
/// A file that cannot be read, is damaged, lacks metadata, or holds a model of another shape.
pub fn load(path: &Path, model: &dyn Model) -> Result<(Vec<f32>, CheckpointInfo), CheckpointError> {
    let bytes = std::fs::read(path).map_err(|source| CheckpointError::File {
        doing: READ,
        path: path.to_path_buf(),
        source,
    })?;
    from_bytes(&bytes, path, model)
}

/// The bytes that [`save`] writes, for files that need care of another kind.
///
/// # Errors
/// Parameters of the wrong number or not finite.
pub fn to_bytes(
    model: &dyn Model,
    params: &[f32],
    info: &CheckpointInfo,
) -> Result<Vec<u8>, CheckpointError> {
    check_parameters(model, params)?;
    let raw: Vec<u8> = params.iter().flat_map(|param| param.to_le_bytes()).collect();
    let mut start = 0;
    let mut views = Vec::new();
    for tensor in model.tensors() {
        let end = start + 4 * tensor.count();
        let view = TensorView::new(Dtype::F32, tensor.shape, &raw[start..end])
            .expect("a tensor's bytes are four times its count");
        views.push((tensor.name, view));
        start = end;
    }
    let own = BTreeMap::from([
        ("config_digest", info.config_digest.clone()),
        ("format", FORMAT.to_owned()),
        ("guarantee", info.guarantee.clone()),
        ("model", model.kind().to_owned()),
        ("round", info.round.to_string()),
    ]);
    let mut metadata: BTreeMap<&str, String> =
        info.about.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    metadata.extend(own);
    Ok(layout(&views, &metadata))
}

/// The file's bytes: length of the header, header, tensors in the order of the flat vector. The crate's own writer
/// takes a hash map of metadata, whose order would change from run to run.
fn layout(views: &[(String, TensorView<'_>)], metadata: &BTreeMap<&str, String>) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), serde_json::json!(metadata));
    let mut offset = 0;
    for (name, view) in views {
        let end = offset + view.data().len();
        let entry = serde_json::json!({"dtype": "F32", "shape": view.shape(), "data_offsets": [offset, end]});
        header.insert(name.clone(), entry);
        offset = end;
    }
    let mut text = serde_json::Value::Object(header).to_string();
    // The format asks for tensors that begin at a multiple of eight bytes.
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    views.iter().for_each(|(_, view)| bytes.extend_from_slice(view.data()));
    bytes
}

fn check_parameters(model: &dyn Model, params: &[f32]) -> Result<(), CheckpointError> {
    let bad = |why: String| Err(CheckpointError::Parameters { kind: model.kind(), why });
    if params.len() != model.parameter_count() {
        return bad(format!("{} instead of {}", params.len(), model.parameter_count()));
    }
    match params.iter().position(|param| !param.is_finite()) {
        Some(at) => bad(format!("number {at} is {}", params[at])),
        None => Ok(()),
    }
}

pub(crate) fn from_bytes(
    bytes: &[u8],
    path: &Path,
    model: &dyn Model,
) -> Result<(Vec<f32>, CheckpointInfo), CheckpointError> {
    let broken = |source| CheckpointError::Format { path: path.to_path_buf(), source };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
    let info = read_info(header.metadata().iter().flatten(), path)?;
    let mut params = Vec::with_capacity(model.parameter_count());
    for wanted in model.tensors() {
        let needs = format!("F32 {:?}", wanted.shape);
        let found = tensors.tensor(&wanted.name).ok();
        let has =
            found.as_ref().map_or("missing".into(), |view| format!("{:?} {:?}", view.dtype(), view.shape()));
        let view = found.filter(|_| has == needs).ok_or_else(|| CheckpointError::Shape {
            path: path.to_path_buf(),
            tensor: wanted.name.clone(),
            has,
            needs,
            kind: model.kind(),
        })?;
        let numbers = view.data().chunks_exact(4).map(|word| word.try_into().expect("four bytes"));
        params.extend(numbers.map(f32::from_le_bytes));
    }
    check_parameters(model, &params)?;
    Ok((params, info))
}

/// The metadata of a file, without its tensors.
pub(crate) fn info_of(bytes: &[u8], path: &Path) -> Result<CheckpointInfo, CheckpointError> {
    let broken = |source| CheckpointError::Format { path: path.to_path_buf(), source };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    read_info(header.metadata().iter().flatten(), path)
}

fn read_info<'a>(
    metadata: impl Iterator<Item = (&'a String, &'a String)>,
    path: &Path,
) -> Result<CheckpointInfo, CheckpointError> {
    let mut about: BTreeMap<String, String> =
        metadata.map(|(key, value)| (key.clone(), value.clone())).collect();
    let missing = |key: &'static str| CheckpointError::Metadata { path: path.to_path_buf(), key };
    let mut entry = |key: &'static str| about.remove(key).ok_or_else(|| missing(key));
    entry("format").and_then(|format| if format == FORMAT { Ok(()) } else { Err(missing("format")) })?;
    let (config_digest, guarantee) = (entry("config_digest")?, entry("guarantee")?);
    let round = entry("round")?.parse().map_err(|_| missing("round"))?;
    entry("model")?;
    Ok(CheckpointInfo { config_digest, round, guarantee, about })
}
