//! The MNIST family: a folder with four IDX files and, where present, the ids of the writers.

use std::path::{Path, PathBuf};

use super::arrays::{ArrayOptions, groups_of, read_arrays, read_idx};
use super::csv::TargetKind;
use super::dataset::{Dataset, Loaded};
use super::error::DataError;
use super::input::Input;
use super::scaling::{Bounds, Scaling};

/// Which images of a folder to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MnistPart {
    /// `train-*` to learn from, `t10k-*` as the common test set.
    #[default]
    Both,
    /// Only `train-*`.
    Train,
    /// Only `t10k-*`, to learn from.
    Test,
}

/// Grey levels are bytes, so their bounds belong to the format.
const GREY: Scaling = Scaling::Units(Bounds { low: 0.0, high: 255.0 });

/// Reads `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and the same with `t10k` from a folder, each plain
/// or with `.gz`; pixels in units 0..1, ten classes. Files `*-writers-idx1-short` become the groups.
///
/// # Errors
/// A file that is missing, truncated, or holds labels outside 0 to 9.
pub fn read_mnist(folder: impl AsRef<Path>, part: MnistPart) -> Result<Loaded, DataError> {
    GREY.apply_to_loaded(read_raw(folder.as_ref(), part)?)
}

/// The same with grey levels 0 to 255.
pub(crate) fn read_raw(folder: &Path, part: MnistPart) -> Result<Loaded, DataError> {
    let has = |prefix: &str| find(folder, &format!("{prefix}-images-idx3-ubyte")).exists();
    if part == MnistPart::Both && !has("train") && has("t10k") {
        let why = "only the files `t10k-*` are there, not `train-*`; learn from them with `part=test`".into();
        return Err(DataError::Malformed { file: folder.display().to_string(), why });
    }
    let train = read_half(folder, if part == MnistPart::Test { "t10k" } else { "train" })?;
    let test = (part == MnistPart::Both).then(|| read_half(folder, "t10k")).transpose()?;
    Ok(Loaded { train, test })
}

fn read_half(folder: &Path, prefix: &str) -> Result<Dataset, DataError> {
    let labels = find(folder, &format!("{prefix}-labels-idx1-ubyte"));
    let options =
        ArrayOptions { labels: Some(labels), target: TargetKind::Classes(10), ..ArrayOptions::default() };
    let data = read_arrays(find(folder, &format!("{prefix}-images-idx3-ubyte")), &options)?.train;
    let writers = find(folder, &format!("{prefix}-writers-idx1-short"));
    if !writers.exists() {
        return Ok(data);
    }
    let ids = read_idx::<f64>(&Input::file(writers))?;
    data.with_groups(groups_of(&ids.values))
}

/// The plain file, or the gzipped one where only that is there.
fn find(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    let packed = folder.join(format!("{name}.gz"));
    if !plain.exists() && packed.exists() { packed } else { plain }
}
