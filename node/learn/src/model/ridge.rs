//! Ridge regression: loss ½(⟨w, x⟩ + b − y)² + (λ/2)‖(w, b)‖².
//!
//! The penalty holds for the bias too: that makes the loss λ-strongly convex, and steps contract (ρ < 1).

use super::Model;
use super::chunk::Chunk;
use super::dense::{Activation, DensePass, DenseShape};
use super::error::{ModelError, at_least_one, not_negative};
use super::head::Head;
use super::init::TensorShape;
use super::pass::Pass;
use super::smoothness::{Smoothness, squared_row_with_bias};
use crate::data::Task;

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

    fn inputs(&self) -> usize {
        self.shape.inputs()
    }

    fn outputs(&self) -> usize {
        self.shape.head.width()
    }

    fn task(&self) -> Task {
        self.shape.head.task()
    }

    fn tensors(&self) -> Vec<TensorShape> {
        self.shape.tensors("linear")
    }

    fn pass(&self, rows: usize) -> Box<dyn Pass> {
        Box::new(DensePass::new(self.shape.clone(), rows))
    }

    fn chunk_loss(&self, outputs: &[f32], chunk: &Chunk) -> f64 {
        self.shape.head.loss(outputs, chunk)
    }

    fn chunk_predict(&self, outputs: &mut [f32]) {
        self.shape.head.predict(outputs);
    }

    fn penalty(&self) -> f64 {
        self.penalty
    }

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let beta = squared_row_with_bias(row_norm);
        Some(Smoothness { beta, gradient_bound: None, clipped_is_convex: true })
    }
}
