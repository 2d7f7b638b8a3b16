//! Linear regression: loss ½(⟨w, x⟩ + b − y)².
//!
//! The Hessian of one record is (x, 1)(x, 1)ᵀ, so β = ‖x‖² + 1.

use super::Model;
use super::dense::{Activation, DenseShape};
use super::error::{ModelError, at_least_one};
use super::head::Head;
use super::smoothness::{Smoothness, squared_row_with_bias};

/// Least squares with a bias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearRegression {
    shape: DenseShape,
}

impl LinearRegression {
    /// For records of `inputs` features.
    ///
    /// # Errors
    /// No feature.
    pub fn new(inputs: usize) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        let shape = DenseShape { widths: vec![inputs, 1], activation: Activation::Relu, head: Head::Squared };
        Ok(Self { shape })
    }
}

impl Model for LinearRegression {
    fn kind(&self) -> &'static str {
        "linear"
    }

    super::dense::methods_of_shape!("linear");

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let beta = squared_row_with_bias(row_norm);
        Some(Smoothness { beta, gradient_bound: None, clipped_is_convex: true })
    }
}
