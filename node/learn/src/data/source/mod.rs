//! Where data come from, as one line of text that can stand in a command or a config file.
//!
//! ```text
//! digits                                            built in, no file needed
//! breast-cancer
//! blobs:nodes=20,classes=5,heterogeneity=0.8        synthetic
//! two-clusters:nodes=8,heterogeneity=2
//! mnist:DIR                                         IDX files of the MNIST family in a folder
//! houses.csv.gz:label=y,drop=longitude,scale=l2     CSV, NPY, NPZ, IDX, libsvm; plain or gzipped
//! patients.csv:schema=clinic.toml                   a table whose columns a schema declares
//! -:label=y                                         CSV from standard input
//! ```
//!
//! After the name or path come `:` and `key=value` pairs with commas between them; `+` joins the members of a
//! list. What cannot be written so (names with commas) can be said with the options of each reader.

mod declared;
mod display;
mod keys;
mod parse;
mod table;

pub use declared::LabelUse;
pub use table::{SOURCE_KEYS, SourceKey, SourceKeys, source_keys_page};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::arrays::{self, ArrayOptions};
use super::builtin;
use super::csv::{self, CsvOptions};
use super::dataset::{Dataset, Loaded};
use super::error::DataError;
use super::input::Input;
use super::libsvm::{self, LibsvmOptions};
use super::mnist::{self, MnistPart};
use super::scaling::{Bounds, Scaling, scale_target};
use super::synthetic::{Blobs, TwoClusters};
use crate::schema::Schema;

/// A data set by name or file, with how to read and scale it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataSource {
    /// What it is.
    pub kind: SourceKind,
    /// How to scale rows; without it, sets whose bounds are known come in units 0..1, others as they are.
    pub scale: Option<Scaling>,
    /// Bounds of a real target, brought to 0..1.
    pub target_bounds: Option<Bounds>,
    /// A schema that declares the columns of a table.
    pub schema: Option<PathBuf>,
}

/// The kinds of sources.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceKind {
    /// The built-in handwritten digits.
    Digits,
    /// The built-in breast cancer set.
    BreastCancer,
    /// Gaussian blobs; the seed of the run is used where none is given.
    Blobs(Blobs, Option<u64>),
    /// Two-cluster linear regression; the seed of the run is used where none is given.
    TwoClusters(TwoClusters, Option<u64>),
    /// A folder of the MNIST family.
    Mnist(PathBuf, MnistPart),
    /// A table with names above its columns: CSV, or CSV from standard input (`-`).
    Csv(PathBuf, CsvOptions),
    /// An NPY, NPZ or IDX file.
    Arrays(PathBuf, ArrayOptions),
    /// A libsvm file.
    Libsvm(PathBuf, LibsvmOptions),
}

/// Records that can be read.
#[derive(Debug)]
pub struct Readable {
    /// The records.
    pub data: Dataset,
    /// The row of each in the file, from 0.
    pub rows: Vec<u32>,
    /// Whether each is one to test by, where a column says so.
    pub test: Option<Vec<bool>>,
}

impl DataSource {
    /// Reads or makes the data. `seed` is used by synthetic sources that name none.
    ///
    /// # Errors
    /// What the reader or generator refuses; the error names file, row and column.
    pub fn load(&self, seed: u64) -> Result<Loaded, DataError> {
        if let Some(path) = &self.schema {
            return self.with_schema(&Schema::load(path)?, LabelUse::Needed)?.load(seed);
        }
        let loaded = self.load_unscaled(seed)?;
        let loaded = self.scale.clone().unwrap_or_default().apply_to_loaded(loaded)?;
        let Some(bounds) = self.target_bounds else { return Ok(loaded) };
        let test = loaded.test.map(|test| scale_target(test, bounds)).transpose()?;
        Ok(Loaded { train: scale_target(loaded.train, bounds)?, test })
    }

    /// The records of a table that can be read, without those in which something is wrong: [`load`](Self::load) refuses the whole file there.
    ///
    /// # Errors
    /// A source that is no table, a file that cannot be read, or not one record that can.
    pub fn readable(&self) -> Result<Readable, DataError> {
        let SourceKind::Csv(path, options) = &self.kind else {
            return Err(DataError::BadSource { spec: self.to_string(), why: "it is no table".into() });
        };
        let (data, rows, test) = csv::read_good_rows(&Input::table(path)?, options)?;
        let scaled = self.scale.clone().unwrap_or_default().apply(data)?;
        let data = match self.target_bounds {
            Some(bounds) => scale_target(scaled, bounds)?,
            None => scaled,
        };
        Ok(Readable { data, rows, test })
    }

    /// A short name for headings: the set, or the file without folder and endings.
    pub fn name(&self) -> String {
        match &self.kind {
            SourceKind::Digits => "digits".into(),
            SourceKind::BreastCancer => "breast-cancer".into(),
            SourceKind::Blobs(..) => "blobs".into(),
            SourceKind::TwoClusters(..) => "two-clusters".into(),
            SourceKind::Mnist(path, _)
            | SourceKind::Csv(path, _)
            | SourceKind::Arrays(path, _)
            | SourceKind::Libsvm(path, _) => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                name.split('.').find(|part| !part.is_empty()).unwrap_or(&name).to_string()
            }
        }
    }

    fn load_unscaled(&self, seed: u64) -> Result<Loaded, DataError> {
        let alone = |train| Ok(Loaded { train, test: None });
        match &self.kind {
            // Asked to scale otherwise, one gets the raw values to scale.
            SourceKind::Digits if self.scale.is_none() => alone(builtin::digits()),
            SourceKind::Digits => alone(builtin::digits_raw()?),
            SourceKind::BreastCancer if self.scale.is_none() => alone(builtin::breast_cancer()),
            SourceKind::BreastCancer => alone(builtin::breast_cancer_raw()?),
            SourceKind::Blobs(spec, own_seed) => spec.generate(own_seed.unwrap_or(seed)),
            SourceKind::TwoClusters(spec, own_seed) => {
                spec.generate(own_seed.unwrap_or(seed)).map(|(loaded, _)| loaded)
            }
            SourceKind::Mnist(folder, part) if self.scale.is_none() => mnist::read_mnist(folder, *part),
            SourceKind::Mnist(folder, part) => mnist::read_raw(folder, *part),
            SourceKind::Csv(path, options) => csv::read_csv(path, options),
            SourceKind::Arrays(path, options) => arrays::read_arrays(path, options),
            SourceKind::Libsvm(path, options) => libsvm::read_libsvm(path, options),
        }
    }
}

impl TryFrom<String> for DataSource {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self, DataError> {
        text.parse()
    }
}

impl From<DataSource> for String {
    fn from(source: DataSource) -> Self {
        source.to_string()
    }
}
