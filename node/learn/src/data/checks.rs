//! What must hold of arrays before they are a [`Dataset`](super::Dataset).

use super::dataset::{MAX_RECORDS, Targets};
use super::error::{DataError, Place};

/// Number of records, where all arrays have one entry for each.
pub(super) fn check_sizes(values: usize, columns: usize, targets: &Targets) -> Result<usize, DataError> {
    if columns == 0 || values == 0 {
        return Err(DataError::Empty { file: "table".into() });
    }
    if !values.is_multiple_of(columns) {
        return Err(DataError::CountMismatch {
            left: "features".into(),
            left_count: values,
            right: "columns do not divide them".into(),
            right_count: columns,
        });
    }
    let records = values / columns;
    if records > MAX_RECORDS {
        let (count, limit) = (records as u64, MAX_RECORDS as u64);
        return Err(DataError::TooLarge { file: "table".into(), what: "records", count, limit });
    }
    match targets {
        Targets::Class { labels, .. } => check_counts("labels", labels.len(), "records", records)?,
        Targets::Real(values) => check_counts("targets", values.len(), "records", records)?,
        Targets::None => {}
    }
    Ok(records)
}

/// Refuses infinities and NaN among features.
pub(super) fn check_finite(features: &[f32], columns: usize) -> Result<(), DataError> {
    // The loop without a position vectorises; the position is looked for only where something is wrong.
    if features.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    let at = features.iter().position(|value| !value.is_finite()).expect("one value is not finite");
    let place =
        Place { file: "table".into(), row: (at / columns) as u64 + 1, column: (at % columns).to_string() };
    Err(DataError::NotFinite { place, text: features[at].to_string() })
}

/// Refuses labels outside the classes and real targets that are not finite.
pub(super) fn check_targets(targets: &Targets) -> Result<(), DataError> {
    let place = |row: usize| Place { file: "table".into(), row: row as u64 + 1, column: "target".into() };
    match targets {
        Targets::Class { labels, classes } => {
            let outside = labels.iter().position(|&label| label as usize >= *classes);
            outside.map_or(Ok(()), |row| {
                Err(DataError::LabelOutside {
                    place: place(row),
                    label: labels[row].to_string(),
                    classes: format!("0 to {}", *classes as i64 - 1),
                })
            })
        }
        Targets::Real(values) => {
            let bad = values.iter().position(|value| !value.is_finite());
            bad.map_or(Ok(()), |row| {
                Err(DataError::NotFinite { place: place(row), text: values[row].to_string() })
            })
        }
        Targets::None => Ok(()),
    }
}

/// Refuses two counts that should be equal and are not.
pub(super) fn check_counts(
    left: &str,
    left_count: usize,
    right: &str,
    right_count: usize,
) -> Result<(), DataError> {
    if left_count == right_count {
        return Ok(());
    }
    Err(DataError::CountMismatch { left: left.into(), left_count, right: right.into(), right_count })
}
