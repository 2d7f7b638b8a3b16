//! `confusion`, `accuracy`: a table of true and predicted classes.

use crate::estimate::Estimate;

/// The share of the diagonal: s·√(k(1 − acc)² + (k² − k)acc²)/N.
#[must_use]
pub fn accuracy(classes: usize, sum: &[f64], noise: f64) -> Estimate {
    let total: f64 = sum.iter().sum();
    let right: f64 = (0..classes).map(|class| sum[class * classes + class]).sum();
    let accuracy = right / total;
    let k = classes as f64;
    let wrong = 1.0 - accuracy;
    let gradient = (k * wrong * wrong + (k * k - k) * accuracy * accuracy).sqrt();
    Estimate::new(accuracy, noise * gradient / total).sampled(accuracy * wrong / total)
}

/// The share of each true class that was recognised.
#[must_use]
pub fn recall(classes: usize, sum: &[f64]) -> Vec<f64> {
    let row = |class: usize| &sum[class * classes..(class + 1) * classes];
    (0..classes).map(|class| row(class)[class] / row(class).iter().sum::<f64>()).collect()
}
