//! `gini`: the mean distance of two records, 2∫F(1 − F), from cumulative counts.

use super::quantile::Cumulative;
use crate::estimate::{Estimate, dot};

/// Gini's mean difference in the units of the column.
#[must_use]
pub fn gini(cumulative: &Cumulative<'_>) -> Estimate {
    let width = cumulative.width();
    let total = cumulative.raw.last().copied().unwrap_or(0.0);
    let shares: Vec<f64> = cumulative.raw.iter().map(|f| f / total).collect();
    let before = |j: usize| if j == 0 { 0.0 } else { shares[j - 1] };
    let middles: Vec<f64> = (0..shares.len()).map(|j| 0.5 * (shares[j] + before(j))).collect();
    let steps: f64 = (0..shares.len()).map(|j| (shares[j] - before(j)) * (shares[j] - before(j))).sum();
    let value = 2.0 * width * middles.iter().map(|m| m * (1.0 - m)).sum::<f64>() - width / 6.0 * steps;

    let slopes: Vec<f64> = middles.iter().map(|m| 2.0 * width * (1.0 - 2.0 * m)).collect();
    let last = slopes.len() - 1;
    let mut weights: Vec<f64> = (0..last).map(|j| (slopes[j] + slopes[j + 1]) / (2.0 * total)).collect();
    weights.push(slopes[last] / (2.0 * total) - dot(&slopes, &middles) / total);
    let deviation = cumulative.noise() * cumulative.decoder().functional_deviation(&weights);
    Estimate::new(value, deviation)
}
