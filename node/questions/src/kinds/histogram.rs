//! `histogram`: one coordinate for each category or bin, one for `other`, one for `missing`; norm 1.

use privacy::special::normal_quantile;

use crate::estimate::CONFIDENCE;

/// The half-width that holds for all K cells at once: s·z(½ + ½·0.95^{1/K}).
#[must_use]
pub fn simultaneous(cells: usize, noise: f64) -> f64 {
    noise * normal_quantile(0.5 + 0.5 * libm::pow(CONFIDENCE, 1.0 / cells as f64))
}
