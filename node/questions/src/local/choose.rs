//! How many categories a local question should have: few answer well, many lie about where things are.

use super::{u_variance, uniform_probability};
use crate::kinds::u_statistic::Kernel;

/// Most categories that are tried.
const MOST: usize = 128;

/// The k that minimises variance + (L/k)² for a U-statistic on [0, 1] with Lipschitz constant 1, people spread evenly.
#[must_use]
pub fn categories_for_u(epsilon: f64, people: u64, kernel: impl Fn(&[f64]) -> Kernel) -> usize {
    best(2..=32, |k| {
        let points: Vec<f64> = (0..k).map(|i| (i as f64 + 0.5) / k as f64).collect();
        let even = vec![1.0 / k as f64; k];
        u_variance(&kernel(&points), &even, uniform_probability(epsilon, k), people as f64)
    })
}

/// The k for a quantile: the variance of a share of one half, and half a bin of the range.
#[must_use]
pub fn categories_for_quantile(epsilon: f64, people: u64) -> usize {
    best(2..=MOST, |k| {
        let beta = uniform_probability(epsilon, k);
        let out = 0.5 * beta;
        let inside = out + 1.0 - beta;
        let variance = 0.5 * (inside * (1.0 - inside) + out * (1.0 - out));
        variance / (people as f64 * (1.0 - beta) * (1.0 - beta))
    })
}

fn best(range: std::ops::RangeInclusive<usize>, variance: impl Fn(usize) -> f64) -> usize {
    let cost = |k: usize| variance(k) + 1.0 / (k * k) as f64;
    range.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(2)
}
