//! Numbers of a label array as targets: what is declared is checked, what is not declared is discovered.

use super::csv::TargetKind;
use super::dataset::Targets;
use super::error::{DataError, Place, listed};

/// Most different whole numbers that are taken for classes when nothing is declared.
pub(crate) const MAX_DISCOVERED_CLASSES: usize = 20;

/// Targets and, where they are not simply numbered, names of the classes.
pub(crate) type NamedTargets = (Targets, Option<Vec<String>>);

/// Turns label numbers of `file` into targets.
///
/// # Errors
/// A number that is not finite, or a label outside the declared classes.
pub(crate) fn from_numbers(file: &str, values: &[f64], kind: &TargetKind) -> Result<NamedTargets, DataError> {
    let place = |row: usize| Place { file: file.into(), row: row as u64 + 1, column: "label".into() };
    if let Some(row) = values.iter().position(|value| !value.is_finite()) {
        return Err(DataError::NotFinite { place: place(row), text: values[row].to_string() });
    }
    let outside = |row: usize, classes: String| {
        Err(DataError::LabelOutside { place: place(row), label: values[row].to_string(), classes })
    };
    match kind {
        TargetKind::Real => Ok((Targets::Real(values.iter().map(|&value| value as f32).collect()), None)),
        TargetKind::Above(threshold) => {
            let labels = values.iter().map(|&value| u32::from(value > f64::from(*threshold))).collect();
            Ok((Targets::Class { labels, classes: 2 }, None))
        }
        TargetKind::Classes(classes) => {
            let wrong = |&value: &f64| value < 0.0 || value >= *classes as f64 || value != libm::trunc(value);
            if let Some(row) = values.iter().position(wrong) {
                return outside(row, format!("0 to {}", *classes as i64 - 1));
            }
            let labels = values.iter().map(|&value| value as u32).collect();
            Ok((Targets::Class { labels, classes: *classes }, None))
        }
        TargetKind::ClassNames(names) => {
            let known: Vec<Option<f64>> = names.iter().map(|name| name.parse().ok()).collect();
            let mut labels = Vec::with_capacity(values.len());
            for (row, value) in values.iter().enumerate() {
                match known.iter().position(|name| *name == Some(*value)) {
                    Some(class) => labels.push(class as u32),
                    None => return outside(row, listed(names)),
                }
            }
            Ok((Targets::Class { labels, classes: names.len() }, Some(names.clone())))
        }
        TargetKind::Discover => Ok(discover(values)),
    }
}

fn discover(values: &[f64]) -> NamedTargets {
    let mut known = WholeNumbers::default();
    for &value in values {
        if !known.insert(value) || known.count() > MAX_DISCOVERED_CLASSES {
            return (Targets::Real(values.iter().map(|&value| value as f32).collect()), None);
        }
    }
    let labels = values.iter().map(|&value| known.class(value).unwrap_or(0)).collect();
    (Targets::Class { labels, classes: known.count() }, Some(known.names()))
}

/// Different whole numbers, rising: the classes of labels that are numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WholeNumbers(Vec<f64>);

impl WholeNumbers {
    /// Adds a number unless it is known; `false` if it is not whole.
    pub(crate) fn insert(&mut self, value: f64) -> bool {
        let is_whole = value.is_finite() && value == libm::trunc(value);
        if is_whole && let Err(at) = self.find(value) {
            self.0.insert(at, without_sign_of_zero(value));
        }
        is_whole
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The position of a number.
    pub(crate) fn class(&self, value: f64) -> Option<u32> {
        self.find(value).ok().map(|at| at as u32)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    fn find(&self, value: f64) -> Result<usize, usize> {
        self.0.binary_search_by(|other| other.total_cmp(&without_sign_of_zero(value)))
    }
}

/// −0 and 0 are one number.
fn without_sign_of_zero(value: f64) -> f64 {
    value + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], kind: &TargetKind) -> Result<Vec<u32>, DataError> {
        match from_numbers("file", values, kind)?.0 {
            Targets::Class { labels, .. } => Ok(labels),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn few_whole_numbers_are_classes_in_their_order_and_others_are_real() {
        let (targets, names) = from_numbers("file", &[1.0, -1.0, 1.0], &TargetKind::Discover).unwrap();
        assert_eq!(targets, Targets::Class { labels: vec![1, 0, 1], classes: 2 });
        assert_eq!(names.unwrap(), ["-1", "1"]);
        let many: Vec<f64> = (0..21).map(f64::from).collect();
        for values in [&[0.5, 1.0][..], &many] {
            assert!(matches!(
                from_numbers("file", values, &TargetKind::Discover).unwrap().0,
                Targets::Real(_)
            ));
        }
    }

    #[test]
    fn a_label_outside_the_declared_classes_is_refused_with_its_row() {
        for bad in [3.0, -1.0, 0.5, 1e20] {
            let message = labels(&[0.0, bad], &TargetKind::Classes(3)).unwrap_err().to_string();
            assert!(message.contains("row 2") && message.contains("0 to 2"), "{message}");
        }
        assert_eq!(labels(&[2.0, 0.0], &TargetKind::Classes(3)).unwrap(), [2, 0]);
        let names = TargetKind::ClassNames(vec!["4".into(), "2".into()]);
        assert_eq!(labels(&[2.0, 4.0], &names).unwrap(), [1, 0]);
        assert!(labels(&[3.0], &names).is_err());
    }

    #[test]
    fn a_threshold_makes_two_classes() {
        assert_eq!(labels(&[0.0, 0.1, 4.0], &TargetKind::Above(0.0)).unwrap(), [0, 1, 1]);
    }
}
