//! A figure and how far the noise of privacy may have moved it.

use privacy::special::normal_quantile;
use serde::{Deserialize, Serialize};

/// Share of repetitions whose interval must hold the figure without noise.
pub const CONFIDENCE: f64 = 0.95;

/// The half-width of an interval in standard deviations: 1.96.
#[must_use]
pub fn half_width_in_deviations() -> f64 {
    normal_quantile(0.5 + 0.5 * CONFIDENCE)
}

/// A figure with the standard deviation that noise gives it, to first order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Standard deviation over the noise of privacy alone.
    pub deviation: f64,
    /// Variance that drawing the records from a population adds, where it is known or bounded.
    pub sampling: Option<f64>,
}

impl Estimate {
    /// A figure whose sampling variance nobody has said.
    #[must_use]
    pub fn new(value: f64, deviation: f64) -> Self {
        Self { value, deviation, sampling: None }
    }

    /// The same with the variance of sampling.
    #[must_use]
    pub fn sampled(self, variance: f64) -> Self {
        Self { sampling: Some(variance.max(0.0)), ..self }
    }

    /// The ends of the 95 % interval: of the noise alone, or of noise and sampling where `population` is set and
    /// the sampling variance is known.
    #[must_use]
    pub fn interval(&self, population: bool) -> (f64, f64) {
        let sampling = if population { self.sampling.unwrap_or(0.0) } else { 0.0 };
        let half = half_width_in_deviations() * (self.deviation * self.deviation + sampling).sqrt();
        (self.value - half, self.value + half)
    }
}

/// Euclidean norm, summed in the order given.
pub(crate) fn norm(values: &[f64]) -> f64 {
    square(values).sqrt()
}

/// Sum of squares.
pub(crate) fn square(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

/// Inner product.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(x, y)| x * y).sum()
}
