//! Data sets: readers, built-in and synthetic sets, scaling, train/test splits.

mod arrays;
mod builtin;
mod checks;
mod coin;
pub(crate) mod csv;
mod dataset;
mod error;
mod hints;
mod input;
mod libsvm;
mod mnist;
mod parquet;
pub(crate) mod random;
mod scaling;
mod source;
mod split;
mod synthetic;
mod targets;
mod turned;

pub use arrays::{ArrayOptions, read_arrays};
pub use builtin::{breast_cancer, digits};
pub use coin::{CoinOf, fingerprint, held_out, hold_out_by_coin};
pub use csv::{
    Categorical, CsvOptions, DecimalSign, Missing, RawTable, TargetKind, read_bytes, read_csv,
    read_every_row, read_table,
};
pub use dataset::{Dataset, Groups, ImageShape, Loaded, MAX_RECORDS, Target, Targets, Task};
pub use error::{DataError, Place};
pub use libsvm::{LibsvmOptions, read_libsvm};
pub use mnist::{MnistPart, read_mnist};
pub use scaling::{Bounds, Scaling, scale_target};
pub use source::{
    DataSource, LabelUse, Readable, SOURCE_KEYS, SourceKey, SourceKeys, SourceKind, source_keys_page,
};
pub use split::{Holdout, hold_out};
pub use synthetic::{Blobs, ClusterWeights, TwoClusters};
pub use turned::turned;
