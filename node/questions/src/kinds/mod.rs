//! One small file for each kind of question: what the noisy sum says, and how far noise may have moved it.

pub mod auc;
pub mod confusion;
pub mod crosstab;
pub mod describe;
pub mod distinct;
pub mod frequent;
pub mod gini;
pub mod histogram;
pub mod kendall;
pub mod mean;
pub mod moments;
pub mod pairs;
pub mod quantile;
pub mod root;
pub mod survival;
pub mod u_statistic;
pub mod variance;

/// Whether a ratio over `count` records is lost in noise: N < 4s.
#[must_use]
pub fn too_few(count: f64, noise: f64) -> bool {
    count.is_nan() || count < 4.0 * noise
}
