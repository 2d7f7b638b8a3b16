//! How good predictions are: accuracy, root mean squared error, area under the ROC curve, mean and spread.
//!
//! Sums are `f64` in a fixed order. A value that is not finite is an error, never a metric.

use serde::Serialize;
use thiserror::Error;
use topology::Hint;

/// Predictions that cannot be judged.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MetricError {
    /// Nothing to judge.
    #[error("no predictions to judge")]
    Empty,
    /// Predictions and truths differ in number.
    #[error("{predictions} predictions for {truths} records")]
    LengthsDiffer {
        /// Predictions given.
        predictions: usize,
        /// Records that there are.
        truths: usize,
    },
    /// An infinity or NaN.
    #[error("value {index} is {value}, not a finite number")]
    NotFinite {
        /// Where, counted from 0.
        index: usize,
        /// What.
        value: f64,
    },
    /// The area under the ROC curve compares two classes.
    #[error("all {count} records have the same class; the area under the curve needs both")]
    OneClass {
        /// Number of records.
        count: usize,
    },
}

impl Hint for MetricError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::OneClass { .. } => Some("use a test set that has records of both classes".into()),
            Self::NotFinite { .. } => Some("the model has diverged; use a smaller step size".into()),
            _ => None,
        }
    }
}

/// The share of predictions that equal the truth.
///
/// # Errors
/// No predictions, or another number of them than of truths.
pub fn accuracy(predicted: &[u32], truth: &[u32]) -> Result<f64, MetricError> {
    check_lengths(predicted.len(), truth.len())?;
    let right = predicted.iter().zip(truth).filter(|(p, t)| p == t).count();
    Ok(right as f64 / truth.len() as f64)
}

/// The root of the mean squared difference.
///
/// # Errors
/// No predictions, another number of them than of truths, or a value that is not finite.
pub fn rmse(predicted: &[f32], truth: &[f32]) -> Result<f64, MetricError> {
    check_lengths(predicted.len(), truth.len())?;
    check_finite(predicted.iter().map(|&x| f64::from(x)))?;
    check_finite(truth.iter().map(|&x| f64::from(x)))?;
    let squares = predicted.iter().zip(truth).map(|(&p, &t)| {
        let gap = f64::from(p) - f64::from(t);
        gap * gap
    });
    Ok(libm::sqrt(squares.sum::<f64>() / truth.len() as f64))
}

/// The area under the ROC curve: the probability that a random positive record scores above a random negative
/// one, ties counting half (Mann and Whitney's statistic by mid-ranks; Hanley and McNeil 1982).
///
/// Complexity: O(n log n).
///
/// # Errors
/// No scores, another number of them than of truths, a score that is not finite, or only one class.
pub fn auc(scores: &[f32], positive: &[bool]) -> Result<f64, MetricError> {
    check_lengths(scores.len(), positive.len())?;
    check_finite(scores.iter().map(|&x| f64::from(x)))?;
    let positives = positive.iter().filter(|&&p| p).count();
    let negatives = positive.len() - positives;
    if positives == 0 || negatives == 0 {
        return Err(MetricError::OneClass { count: positive.len() });
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // By `partial_cmp`, for which -0 and 0 are a tie; NaN was refused above.
    order.sort_by(|&a, &b| scores[a].partial_cmp(&scores[b]).expect("scores are finite"));
    // Twice the number of pairs won, so that half a point for a tie stays a whole number.
    let (mut twice_won, mut negatives_below) = (0u128, 0u128);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let tied_positives = tied.iter().filter(|&&i| positive[i]).count() as u128;
        let tied_negatives = tied.len() as u128 - tied_positives;
        twice_won += tied_positives * (2 * negatives_below + tied_negatives);
        negatives_below += tied_negatives;
    }
    Ok(twice_won as f64 / (2.0 * positives as f64 * negatives as f64))
}

/// Mean of −ln of the probability that the right class was given; one that was given none counts as 1e-15.
///
/// # Errors
/// No predictions, another number of them than of truths, a label without a probability, or a value that is not finite.
pub fn log_loss(probabilities: &[&[f32]], truth: &[u32]) -> Result<f64, MetricError> {
    check_lengths(probabilities.len(), truth.len())?;
    let mut total = 0.0;
    for (index, (row, &label)) in probabilities.iter().zip(truth).enumerate() {
        let given = row.get(label as usize).map_or(f64::NAN, |&value| f64::from(value));
        if !given.is_finite() {
            return Err(MetricError::NotFinite { index, value: given });
        }
        total -= libm::log(given.clamp(1e-15, 1.0));
    }
    Ok(total / truth.len() as f64)
}

/// The expected calibration error over ten bins of equal width (Naeini, Cooper, Hauskrecht 2015): how far what was said is from what happened, bin by
/// bin, weighted by records.
///
/// # Errors
/// No probabilities, another number of them than of events, or a value that is not finite.
pub fn calibration_error(said: &[f32], happened: &[bool]) -> Result<f64, MetricError> {
    const BINS: usize = 10;
    check_lengths(said.len(), happened.len())?;
    check_finite(said.iter().map(|&x| f64::from(x)))?;
    let mut gaps = [0.0; BINS];
    for (&probability, &event) in said.iter().zip(happened) {
        let bin = ((f64::from(probability) * BINS as f64) as usize).min(BINS - 1);
        gaps[bin] += f64::from(probability) - f64::from(u8::from(event));
    }
    Ok(gaps.iter().map(|gap| gap.abs()).sum::<f64>() / said.len() as f64)
}

/// Mean and spread of repeated measurements (nodes, seeds).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSpread {
    /// Number of values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation (divisor count − 1); 0 for a single value.
    pub spread: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl MeanSpread {
    /// Of `values`.
    ///
    /// # Errors
    /// No values, or one that is not finite.
    pub fn of(values: &[f64]) -> Result<Self, MetricError> {
        check_lengths(values.len(), values.len())?;
        check_finite(values.iter().copied())?;
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        // Two passes: the shortcut with squares loses all digits where the spread is small beside the mean.
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let spread = if count > 1 { libm::sqrt(squares / (count - 1) as f64) } else { 0.0 };
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { count, mean, spread, min, max })
    }
}

impl std::fmt::Display for MeanSpread {
    /// `0.953 ± 0.004`; a precision can be given.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(f, "{:.digits$} ± {:.digits$}", self.mean, self.spread)
    }
}

fn check_lengths(predictions: usize, truths: usize) -> Result<(), MetricError> {
    if predictions != truths {
        return Err(MetricError::LengthsDiffer { predictions, truths });
    }
    if truths == 0 {
        return Err(MetricError::Empty);
    }
    Ok(())
}

fn check_finite(values: impl Iterator<Item = f64>) -> Result<(), MetricError> {
    for (index, value) in values.enumerate() {
        if !value.is_finite() {
            return Err(MetricError::NotFinite { index, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accuracy_and_rmse_agree_with_hand_computation() {
        assert_eq!(accuracy(&[1, 2, 0, 1], &[1, 2, 1, 1]).unwrap(), 0.75);
        // Differences 3 and 4: the root of 25/2.
        assert!((rmse(&[3.0, 0.0], &[0.0, 4.0]).unwrap() - 12.5f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn auc_agrees_with_hand_computation() {
        let truth = [true, false, true, false];
        // Pairs (0.9,0.8) (0.9,0.1) (0.4,0.8) (0.4,0.1): three of four won.
        assert_eq!(auc(&[0.9, 0.8, 0.4, 0.1], &truth).unwrap(), 0.75);
        assert_eq!(auc(&[0.5; 4], &truth).unwrap(), 0.5);
        assert_eq!(auc(&[2.0, 1.0, 2.0, 1.0], &truth).unwrap(), 1.0);
        // Pairs (1,1) tie, (1,0) won, (3,1) and (3,0) won: 3.5 of 4.
        assert_eq!(auc(&[1.0, 1.0, 3.0, 0.0], &truth).unwrap(), 0.875);
        assert_eq!(auc(&[0.0, -0.0], &[true, false]).unwrap(), 0.5);
    }

    #[test]
    fn mean_and_spread_agree_with_hand_computation() {
        // Squares around 5: 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; 32/7.
        let of = MeanSpread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((of.mean, of.min, of.max), (5.0, 2.0, 9.0));
        assert!((of.spread - (32.0f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(MeanSpread::of(&[3.0]).unwrap().spread, 0.0);
        // 1e9 + {4, 7, 13, 16}: variance exactly 30.
        let far = MeanSpread::of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]).unwrap();
        assert!((far.spread - 30f64.sqrt()).abs() < 1e-9);
        assert_eq!(format!("{of:.1}"), "5.0 ± 2.1");
    }

    #[test]
    fn what_cannot_be_judged_is_an_error_and_not_a_number() {
        assert_eq!(accuracy(&[], &[]), Err(MetricError::Empty));
        assert!(matches!(accuracy(&[1], &[1, 2]), Err(MetricError::LengthsDiffer { .. })));
        assert!(matches!(rmse(&[f32::NAN], &[0.0]), Err(MetricError::NotFinite { index: 0, .. })));
        assert!(matches!(auc(&[f32::INFINITY, 0.0], &[true, false]), Err(MetricError::NotFinite { .. })));
        assert!(matches!(auc(&[0.1, 0.2], &[true, true]), Err(MetricError::OneClass { count: 2 })));
        assert!(MeanSpread::of(&[]).is_err() && MeanSpread::of(&[1.0, f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn auc_equals_the_share_of_pairs_won(records in prop::collection::vec((0u8..6, any::<bool>()), 2..40)) {
            let scores: Vec<f32> = records.iter().map(|(score, _)| f32::from(*score)).collect();
            let positive: Vec<bool> = records.iter().map(|(_, positive)| *positive).collect();
            let (mut won, mut pairs) = (0.0, 0.0);
            for i in 0..scores.len() {
                for j in 0..scores.len() {
                    if positive[i] && !positive[j] {
                        pairs += 1.0;
                        won += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                    }
                }
            }
            match auc(&scores, &positive) {
                Ok(area) => prop_assert!((area - won / pairs).abs() < 1e-12),
                Err(error) => prop_assert!(pairs == 0.0, "{error}"),
            }
        }
    }
}
