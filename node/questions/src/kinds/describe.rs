//! `describe`: count, mean and deviation from the same bins as the quartiles, so that Table 1 costs one block a column.

use super::quantile::{Cumulative, onto_cumulative};
use crate::estimate::{Estimate, dot};

/// Figures of one column, from the middles of bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// Records that have a value.
    pub count: Estimate,
    /// Mean.
    pub mean: Estimate,
    /// Standard deviation, with Sheppard's correction for the width of bins.
    pub stddev: Estimate,
}

/// Count, mean and standard deviation; `whole_numbers` where each bin is one value, which needs no correction.
#[must_use]
pub fn describe(cumulative: &Cumulative<'_>, whole_numbers: bool) -> Description {
    let counts = cumulative.bins();
    let count = cumulative.count();
    let middles: Vec<f64> = (0..counts.len()).map(|bin| cumulative.middle(bin)).collect();
    let n = count.value;
    let mean = dot(&counts, &middles) / n;
    let squares: Vec<f64> = middles.iter().map(|m| (m - mean) * (m - mean)).collect();
    let correction = if whole_numbers { 0.0 } else { cumulative.width() * cumulative.width() / 12.0 };
    let variance = dot(&counts, &squares) / n - correction;
    let by_mean: Vec<f64> = middles.iter().map(|m| (m - mean) / n).collect();
    let by_variance: Vec<f64> = squares.iter().map(|square| (square - variance) / n).collect();
    let deviation = |weights: &[f64]| {
        cumulative.noise() * cumulative.decoder().functional_deviation(&onto_cumulative(weights))
    };
    let stddev = variance.max(0.0).sqrt();
    let fourth = counts.iter().zip(&squares).map(|(h, square)| h * square * square).sum::<f64>() / n;
    Description {
        count,
        mean: Estimate::new(mean, deviation(&by_mean)).sampled(variance.max(0.0) / n),
        stddev: Estimate::new(stddev, deviation(&by_variance) / (2.0 * stddev))
            .sampled((fourth - variance * variance).max(0.0) / (4.0 * n * variance)),
    }
}
