//! Scaling that needs no knowledge of others' data.
//!
//! Each row is changed by a rule that was fixed before any data was seen: declared bounds, or the row's own norm.
//! So changing one record changes that record's row and no other, and clipping and accounting stay valid.
//!
//! **Why there is no standardisation here.** The usual "subtract the mean, divide by the standard deviation" makes
//! every scaled row a function of every record: mean and deviation are themselves released, unpaid for, in each
//! gradient, and one outlier moves all rows at once, so the influence of one record is no longer bounded by
//! the clip norm. Over several participants it would need an exchange of these statistics as well. Whoever wants
//! them can release a private mean first, at a price, and declare bounds from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dataset::{Dataset, Loaded};
use super::error::DataError;

/// The least and the greatest value that a feature is declared to have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Becomes 0.
    pub low: f32,
    /// Becomes 1.
    pub high: f32,
}

/// A rule for rows that looks at one row at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Rows as they are.
    #[default]
    None,
    /// The same declared bounds for all features, to 0..1; values outside are moved to the bound.
    Units(Bounds),
    /// Declared bounds for each feature, to 0..1; values outside are moved to the bound.
    UnitsPerFeature(Vec<Bounds>),
    /// Declared bounds by the name of the feature, and for all others `default`. Without a default every
    /// feature needs a bound, but for those made of categories (`column=category`), which are 0 or 1 already.
    UnitsByName {
        /// Bounds of single features.
        bounds: BTreeMap<String, Bounds>,
        /// Bounds of all other features.
        default: Option<Bounds>,
    },
    /// Every row divided by its Euclidean norm; a row of zeros stays as it is.
    UnitRows,
}

impl Scaling {
    /// Scales every row of `data`.
    ///
    /// # Guarantee
    /// Row `i` of the result is a function of row `i` alone: neighbouring data sets stay neighbouring. With
    /// [`Scaling::UnitRows`] every row has norm at most 1 (up to a rounding error of 1e-6).
    ///
    /// # Assumes
    /// Bounds were declared without looking at the private records.
    ///
    /// # Errors
    /// Bounds that are not finite or not in order, or another number of them than features.
    pub fn apply(&self, data: Dataset) -> Result<Dataset, DataError> {
        match self {
            Self::None => Ok(data),
            Self::Units(bounds) => {
                bounds.check()?;
                data.map_rows(|row| row.iter_mut().for_each(|value| *value = bounds.to_unit(*value)))
            }
            Self::UnitsPerFeature(all) => {
                super::checks::check_counts("bounds", all.len(), "features", data.columns())?;
                all.iter().try_for_each(Bounds::check)?;
                data.map_rows(|row| {
                    row.iter_mut().zip(all).for_each(|(value, bounds)| *value = bounds.to_unit(*value));
                })
            }
            Self::UnitsByName { bounds, default } => {
                Self::UnitsPerFeature(resolve_names(&data, bounds, *default)?).apply(data)
            }
            Self::UnitRows => data.map_rows(divide_by_norm),
        }
    }

    /// Scales both parts of a loaded set.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_to_loaded(&self, loaded: Loaded) -> Result<Loaded, DataError> {
        if *self == Self::None {
            return Ok(loaded);
        }
        let test = loaded.test.map(|test| self.apply(test)).transpose()?;
        Ok(Loaded { train: self.apply(loaded.train)?, test })
    }
}

impl Scaling {
    /// A value between 0 and 1 of the feature at this place, back in the units of the data; `None` where there are no declared bounds to go by.
    pub fn in_units_of_the_data(&self, at: usize, name: Option<&str>, value: f64) -> Option<f64> {
        let bounds = match self {
            Self::Units(bounds) => *bounds,
            Self::UnitsPerFeature(all) => *all.get(at)?,
            Self::UnitsByName { bounds, default } => {
                name.and_then(|name| bounds.get(name).copied()).or(*default)?
            }
            Self::None | Self::UnitRows => return None,
        };
        let (low, high) = (f64::from(bounds.low), f64::from(bounds.high));
        Some(low + value * (high - low))
    }
}

impl Bounds {
    pub(crate) fn check(&self) -> Result<(), DataError> {
        let width = self.high - self.low;
        if width.is_finite() && width > 0.0 {
            return Ok(());
        }
        Err(DataError::BadParameter {
            name: "bounds",
            value: format!("{}..{}", self.low, self.high),
            why: "must be two finite numbers, the lower first".into(),
        })
    }

    fn to_unit(self, value: f32) -> f32 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Bounds for every feature of `data`, found by name.
fn resolve_names(
    data: &Dataset,
    bounds: &BTreeMap<String, Bounds>,
    default: Option<Bounds>,
) -> Result<Vec<Bounds>, DataError> {
    let names = data.feature_names().unwrap_or_default();
    if let Some(unknown) = bounds.keys().find(|name| !names.contains(name)) {
        let (file, wanted, columns) = ("bounds".into(), vec![unknown.clone()], names.to_vec());
        return Err(DataError::UnknownColumn { file, wanted, columns });
    }
    let of_feature = |name: &String| {
        let category = name.contains('=').then_some(Bounds { low: 0.0, high: 1.0 });
        bounds.get(name).copied().or(category).or(default).ok_or_else(|| DataError::BadParameter {
            name: "scale",
            value: name.clone(),
            why: "has no declared bounds; name them, or give bounds for all other features".into(),
        })
    };
    names.iter().map(of_feature).collect()
}

/// Brings a real target from declared bounds to 0..1; values outside are moved to the bound.
///
/// # Guarantee
/// The target of record `i` is a function of that record alone.
///
/// # Assumes
/// The bounds were declared without looking at the private records.
///
/// # Errors
/// Bounds that are not finite or not in order, or data without a real target.
pub fn scale_target(data: Dataset, bounds: Bounds) -> Result<Dataset, DataError> {
    bounds.check()?;
    data.map_reals(|value| bounds.to_unit(value))
}

fn divide_by_norm(row: &mut [f32]) {
    // In f64: the square of an f32 neither overflows nor vanishes there.
    let square: f64 = row.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    if square > 0.0 {
        let factor = 1.0 / libm::sqrt(square);
        row.iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dataset::Targets;
    use super::*;

    #[test]
    fn values_outside_the_declared_bounds_move_to_the_bound() {
        let data = Dataset::new(vec![-4.0, 0.0, 8.0, 16.0, 99.0], 1, Targets::None).unwrap();
        let scaled = Scaling::Units(Bounds { low: 0.0, high: 16.0 }).apply(data).unwrap();
        let values: Vec<f32> = (0..5).map(|i| scaled.row(i)[0]).collect();
        assert_eq!(values, [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn bounds_that_are_empty_or_not_finite_are_refused() {
        let data = Dataset::new(vec![1.0], 1, Targets::None).unwrap();
        for (low, high) in
            [(1.0, 1.0), (2.0, 1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (f32::MIN, f32::MAX)]
        {
            assert!(Scaling::Units(Bounds { low, high }).apply(data.clone()).is_err(), "{low}..{high}");
        }
        assert!(Scaling::UnitsPerFeature(vec![]).apply(data).is_err());
    }

    #[test]
    fn bounds_by_name_leave_categories_alone_and_miss_no_feature() {
        let data = |names: [&str; 2]| {
            let made = Dataset::new(vec![20.0, 1.0], 2, Targets::Real(vec![300.0])).unwrap();
            made.with_feature_names(names.map(String::from).to_vec()).unwrap()
        };
        let bounds = BTreeMap::from([("age".to_string(), Bounds { low: 0.0, high: 100.0 })]);
        let scaling = Scaling::UnitsByName { bounds, default: None };
        assert_eq!(scaling.apply(data(["age", "sex=f"])).unwrap().row(0), [0.2, 1.0]);
        let message = scaling.apply(data(["age", "height"])).unwrap_err().to_string();
        assert!(message.contains("height"), "{message}");
        let message = scaling.apply(data(["ages", "height"])).unwrap_err();
        assert_eq!(topology::Hint::hint(&message).unwrap(), "did you mean `ages`?");
        let scaled = scale_target(data(["a", "b"]), Bounds { low: 0.0, high: 400.0 }).unwrap();
        assert_eq!(scaled.reals().unwrap().as_ref(), [0.75]);
    }

    proptest! {
        #[test]
        fn unit_rows_have_norm_one_or_are_zero(row in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 1..20)) {
            let columns = row.len();
            let zero = row.iter().all(|value| *value == 0.0);
            let data = Dataset::new(row, columns, Targets::None).unwrap();
            let scaled = Scaling::UnitRows.apply(data).unwrap();
            let norm: f64 = scaled.row(0).iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
            prop_assert!(if zero { norm == 0.0 } else { (norm - 1.0).abs() < 1e-6 }, "norm {norm}");
        }

        #[test]
        fn changing_one_record_changes_no_other_row(first in -1e3f32..1e3, second in -1e3f32..1e3) {
            let scale = |x: f32| {
                let data = Dataset::new(vec![x, 1.0, 3.0, 4.0], 2, Targets::None).unwrap();
                Scaling::UnitRows.apply(data).unwrap().row(1).to_vec()
            };
            prop_assert_eq!(scale(first), scale(second));
        }
    }
}
