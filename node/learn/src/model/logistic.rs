//! Binary logistic regression on labels 0 and 1: loss ln(1 + exp(∓(⟨w, x⟩ + b))).
//!
//! The Hessian of one record is p(1 − p)(x, 1)(x, 1)ᵀ with p(1 − p) ≤ ¼, so β = (‖x‖² + 1)/4.

use super::Model;
use super::dense::{Activation, DenseShape};
use super::error::{ModelError, at_least_one};
use super::head::Head;
use super::smoothness::{Smoothness, squared_row_with_bias};

/// Logistic regression with a bias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogisticRegression {
    shape: DenseShape,
}

impl LogisticRegression {
    /// For records of `inputs` features.
    ///
    /// # Errors
    /// No feature.
    pub fn new(inputs: usize) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        let shape =
            DenseShape { widths: vec![inputs, 1], activation: Activation::Relu, head: Head::Logistic };
        Ok(Self { shape })
    }
}

impl Model for LogisticRegression {
    fn kind(&self) -> &'static str {
        "logistic"
    }

    super::dense::methods_of_shape!("linear");

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let squared = squared_row_with_bias(row_norm);
        let gradient_bound = Some(squared.sqrt());
        Some(Smoothness { beta: squared / 4.0, gradient_bound, clipped_is_convex: true })
    }
}
