//! Multinomial logistic regression: loss −ln softmax(W x + b)_y.
//!
//! The Hessian of one record is (diag(p) − ppᵀ) ⊗ (x, 1)(x, 1)ᵀ; the first factor has eigenvalues up to ½, so
//! β = (‖x‖² + 1)/2. Clipping is not known to preserve convexity: the gradient has several directions.

use super::Model;
use super::dense::{Activation, DenseShape};
use super::error::{ModelError, at_least_one, at_least_two_classes};
use super::head::Head;
use super::smoothness::{Smoothness, squared_row_with_bias};

/// Softmax regression with a bias per class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftmaxRegression {
    shape: DenseShape,
}

impl SoftmaxRegression {
    /// For records of `inputs` features in `classes` classes.
    ///
    /// # Errors
    /// No feature, or fewer than two classes.
    pub fn new(inputs: usize, classes: usize) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        at_least_two_classes(classes)?;
        let head = Head::Softmax { classes };
        Ok(Self { shape: DenseShape { widths: vec![inputs, classes], activation: Activation::Relu, head } })
    }
}

impl Model for SoftmaxRegression {
    fn kind(&self) -> &'static str {
        "softmax"
    }

    super::dense::methods_of_shape!("linear");

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let squared = squared_row_with_bias(row_norm);
        // ‖p − e_y‖² = (1 − p_y)² + Σ p_k² ≤ 2.
        let gradient_bound = Some((2.0 * squared).sqrt());
        Some(Smoothness { beta: squared / 2.0, gradient_bound, clipped_is_convex: false })
    }
}
