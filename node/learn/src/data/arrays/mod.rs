//! Data sets in binary arrays: NPY, NPZ and IDX files, recognised by content, plain or gzipped.
//!
//! The first axis counts records; the others are flattened into features, and an array of images keeps its shape.

mod elements;
mod idx;
mod npy;

pub(crate) use idx::read_idx;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::checks::check_counts;
use super::csv::TargetKind;
use super::dataset::{Dataset, Groups, ImageShape, Loaded, Targets};
use super::error::DataError;
use super::input::Input;
use super::targets::{self, NamedTargets};
use elements::{Array, Float};
use npy::{Npz, is_npy, is_npz, read_npy};

/// How to read arrays as a data set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArrayOptions {
    /// Beside an NPY or IDX file of features: the file of labels, in either format.
    pub labels: Option<PathBuf>,
    /// In a single NPY table: the column of labels, counted from 0.
    pub label_column: Option<usize>,
    /// In an NPZ archive: the array of features; by default `x_train`, `x`, `X`, `features` or `data`.
    pub x: Option<String>,
    /// In an NPZ archive: the array of labels; by default `y_train`, `y`, `Y`, `labels` or `target`. With
    /// `x_train` and `y_train`, the arrays `x_test` and `y_test` are the common test set.
    pub y: Option<String>,
    /// In an NPZ archive, the array that says whom a record belongs to; beside a file, the file that does.
    pub id: Option<String>,
    /// What the labels are.
    pub target: TargetKind,
    /// What to put where a feature is NaN; without it NaN is refused.
    pub fill: Option<f32>,
}

/// Reads a data set from an NPY, NPZ or IDX file.
///
/// # Errors
/// A missing or truncated file, arrays that do not belong together, labels outside the classes, or a value that
/// is not finite; the error names file, row and column.
pub fn read_arrays(path: impl AsRef<Path>, options: &ArrayOptions) -> Result<Loaded, DataError> {
    let input = Input::file(&path);
    let start = input.beginning(4)?;
    if is_npz(&start) {
        return read_archive(&input, options);
    }
    let mut features = read_any::<f32>(&input)?;
    let labels = match (&options.labels, options.label_column) {
        (Some(path), _) => Some((path.display().to_string(), read_any::<f64>(&Input::file(path))?)),
        (None, Some(column)) => Some((input.name(), cut_column(&input, &mut features, column)?)),
        (None, None) => None,
    };
    let groups = options.id.as_ref().map(|path| read_any::<f64>(&Input::file(path))).transpose()?;
    let train = assemble(&input.name(), features, labels, groups, options)?;
    Ok(Loaded { train, test: None })
}

/// Reads an NPY or IDX file, whichever it is.
fn read_any<T: Float>(input: &Input) -> Result<Array<T>, DataError> {
    let start = input.beginning(8)?;
    if is_npy(&start) { read_npy(input) } else { read_idx(input) }
}

const FEATURE_NAMES: [&str; 5] = ["x_train", "x", "X", "features", "data"];
const LABEL_NAMES: [&str; 5] = ["y_train", "y", "Y", "labels", "target"];

fn read_archive(input: &Input, options: &ArrayOptions) -> Result<Loaded, DataError> {
    let mut archive = Npz::open(input)?;
    let names = archive.names();
    let known = |name: &&str| names.iter().any(|known| known == name);
    let pick = |asked: &Option<String>, usual: [&str; 5]| {
        asked.clone().or_else(|| usual.into_iter().find(known).map(str::to_string))
    };
    let x = pick(&options.x, FEATURE_NAMES).unwrap_or_else(|| "x".to_string());
    let y = pick(&options.y, LABEL_NAMES);
    let mut read = |x: &str, y: Option<&str>, id: Option<&str>| -> Result<Dataset, DataError> {
        let features = archive.read::<f32>(x)?;
        let labels = y
            .map(|name| Ok::<_, DataError>((format!("{}:{name}", input.name()), archive.read::<f64>(name)?)));
        let groups = id.map(|name| archive.read::<f64>(name)).transpose()?;
        assemble(&format!("{}:{x}", input.name()), features, labels.transpose()?, groups, options)
    };
    let train = read(&x, y.as_deref(), options.id.as_deref())?;
    let has_test = x == "x_train" && known(&"x_test") && (y.is_none() || known(&"y_test"));
    let test = has_test.then(|| read("x_test", y.as_ref().map(|_| "y_test"), None)).transpose()?;
    Ok(Loaded { train, test })
}

/// Puts features, labels and groups together and checks that they belong together.
fn assemble(
    file: &str,
    mut features: Array<f32>,
    labels: Option<(String, Array<f64>)>,
    groups: Option<Array<f64>>,
    options: &ArrayOptions,
) -> Result<Dataset, DataError> {
    if let Some(fill) = options.fill {
        features.values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = fill);
    }
    let records = features.records();
    let (targets, names) = match labels {
        None => (Targets::None, None),
        Some((label_file, labels)) => label_targets(file, records, (&label_file, labels), &options.target)?,
    };
    let image = image_shape(&features.shape);
    let width = features.width();
    let mut data = Dataset::new(features.values, width, targets).map_err(|error| error.in_file(file))?;
    if let Some(names) = names {
        data = data.with_class_names(names)?;
    }
    if let Some(shape) = image {
        data = data.with_image_shape(shape)?;
    }
    if let Some(ids) = groups {
        check_counts("ids", ids.values.len(), &format!("records in `{file}`"), records)?;
        data = data.with_groups(groups_of(&ids.values))?;
    }
    Ok(data)
}

fn label_targets(
    file: &str,
    records: usize,
    (label_file, labels): (&str, Array<f64>),
    kind: &TargetKind,
) -> Result<NamedTargets, DataError> {
    let left = format!("labels in `{label_file}`");
    check_counts(&left, labels.values.len(), &format!("records in `{file}`"), records)?;
    targets::from_numbers(label_file, &labels.values, kind)
}

/// Takes a column out of a table.
fn cut_column(input: &Input, table: &mut Array<f32>, column: usize) -> Result<Array<f64>, DataError> {
    let width = table.width();
    if table.shape.len() != 2 || column >= width || width < 2 {
        let why = format!(
            "no column {column} to take for labels from an array of {}; columns count from 0",
            elements::shape_text(&table.shape)
        );
        return Err(input.malformed(why));
    }
    let labels = table.values.iter().skip(column).step_by(width).map(|&value| f64::from(value)).collect();
    let mut at = 0;
    table.values.retain(|_| {
        at += 1;
        (at - 1) % width != column
    });
    table.shape[1] -= 1;
    Ok(Array { shape: vec![table.shape[0]], values: labels })
}

/// Three axes, or four with one channel, are images.
fn image_shape(shape: &[usize]) -> Option<ImageShape> {
    match *shape {
        [_, height, width] | [_, height, width, 1] => Some(ImageShape { height, width }),
        _ => None,
    }
}

/// Groups in the order of their first record.
pub(crate) fn groups_of(ids: &[f64]) -> Groups {
    let mut index: BTreeMap<u64, u32> = BTreeMap::new();
    let mut names = Vec::new();
    let mut of_record = Vec::with_capacity(ids.len());
    for id in ids {
        let group = *index.entry(id.to_bits()).or_insert_with(|| {
            names.push(id.to_string());
            names.len() as u32 - 1
        });
        of_record.push(group);
    }
    Groups { of_record, names }
}
