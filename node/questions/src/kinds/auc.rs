//! `auc(score, label)`, `mannwhitney`: how often a record of class 1 has the higher score.

use super::quantile::{Cumulative, differences};
use crate::estimate::{Estimate, dot, square};

/// AUC from cumulative counts of both classes over the same bins; ties of a bin count half.
#[must_use]
pub fn from_cumulative(class_0: &Cumulative<'_>, class_1: &Cumulative<'_>) -> Estimate {
    let (h0, h1) = (differences(&class_0.raw), differences(&class_1.raw));
    let (n0, n1) = (h0.iter().sum::<f64>(), h1.iter().sum::<f64>());
    let below: Vec<f64> = class_0.raw.iter().zip(&h0).map(|(f, h)| f - 0.5 * h).collect();
    let auc = dot(&h1, &below) / (n0 * n1);
    let with_next = |h: &[f64], j: usize| h[j] + h.get(j + 1).copied().unwrap_or(0.0);
    let last = h0.len() - 1;
    let mut c0: Vec<f64> = (0..=last).map(|j| with_next(&h1, j) / (2.0 * n0 * n1)).collect();
    let mut c1: Vec<f64> = (0..=last).map(|j| -with_next(&h0, j) / (2.0 * n0 * n1)).collect();
    c0[last] -= auc / n0;
    c1[last] += (1.0 - auc) / n1;
    let d0 = class_0.noise() * class_0.decoder().functional_deviation(&c0);
    let d1 = class_1.noise() * class_1.decoder().functional_deviation(&c1);
    Estimate::new(auc, (d0 * d0 + d1 * d1).sqrt()).sampled(sampling(auc, n0, n1))
}

/// AUC from flat histograms of both classes, with the noise of products in its variance.
#[must_use]
pub fn from_histograms(class_0: &[f64], class_1: &[f64], noise: f64) -> Estimate {
    let (n0, n1) = (class_0.iter().sum::<f64>(), class_1.iter().sum::<f64>());
    let below = middles(class_0);
    let above: Vec<f64> = middles(class_1).into_iter().map(|middle| n1 - middle).collect();
    let auc = dot(class_1, &below) / (n0 * n1);
    let g1: Vec<f64> = below.iter().map(|b| (b / n0 - auc) / n1).collect();
    let g0: Vec<f64> = above.iter().map(|a| (a / n1 - auc) / n0).collect();
    let bins = class_0.len() as f64;
    // ΣQ²: 1 for each pair of bins below the diagonal, ¼ on it.
    let pairs = bins * (bins - 1.0) / 2.0 + bins / 4.0;
    let products = libm::pow(noise, 4.0) * pairs / (n0 * n1 * n0 * n1);
    let variance = noise * noise * (square(&g0) + square(&g1)) + products;
    Estimate::new(auc, variance.sqrt()).sampled(sampling(auc, n0, n1))
}

/// Cumulative counts up to the middle of each bin.
fn middles(counts: &[f64]) -> Vec<f64> {
    counts
        .iter()
        .scan(0.0, |sum, count| {
            *sum += count;
            Some(*sum - 0.5 * count)
        })
        .collect()
}

/// The variance of sampling by Hanley and McNeil (1982).
fn sampling(auc: f64, n0: f64, n1: f64) -> f64 {
    let square = auc * auc;
    let (q1, q2) = (auc / (2.0 - auc), 2.0 * square / (1.0 + auc));
    (auc * (1.0 - auc) + (n1 - 1.0) * (q1 - square) + (n0 - 1.0) * (q2 - square)) / (n0 * n1)
}
