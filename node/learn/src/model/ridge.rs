//! Ridge regression: loss ½(⟨w, x⟩ + b − y)² + (λ/2)‖(w, b)‖².
//!
//! The penalty holds for the bias too: that makes the loss λ-strongly convex, and steps contract (ρ < 1).

use super::Model;
use super::dense::{Activation, DenseShape};
use super::error::{ModelError, at_least_one, not_negative};
use super::head::Head;
use super::smoothness::{Smoothness, squared_row_with_bias};

/// Least squares with a bias and an L2 penalty on all parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeRegression {
    shape: DenseShape,
    penalty: f64,
}

impl RidgeRegression {
    /// For records of `inputs` features, with penalty λ.
    ///
    /// # Errors
    /// No feature, or a penalty that is negative or not finite.
    pub fn new(inputs: usize, penalty: f64) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        not_negative("penalty", penalty)?;
        let shape = DenseShape { widths: vec![inputs, 1], activation: Activation::Relu, head: Head::Squared };
        Ok(Self { shape, penalty })
    }
}

impl Model for RidgeRegression {
    fn kind(&self) -> &'static str {
        "ridge"
    }

    super::dense::methods_of_shape!("linear");

    fn penalty(&self) -> f64 {
        self.penalty
    }

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let beta = squared_row_with_bias(row_norm);
        Some(Smoothness { beta, gradient_bound: None, clipped_is_convex: true })
    }
}
