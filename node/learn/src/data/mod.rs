//! Data sets: readers, built-in and synthetic sets, scaling, train/test splits.

mod builtin;
mod csv;
mod dataset;
mod error;
mod input;
pub(crate) mod random;
mod scaling;
mod split;
mod synthetic;

pub use builtin::{breast_cancer, digits};
pub use csv::{Categorical, CsvOptions, Missing, TargetKind, read_csv};
pub use dataset::{Dataset, Groups, ImageShape, Loaded, MAX_RECORDS, Target, Targets, Task};
pub use error::{DataError, Place};
pub use scaling::{Bounds, Scaling};
pub use split::{Holdout, hold_out};
pub use synthetic::{Blobs, ClusterWeights, TwoClusters};
