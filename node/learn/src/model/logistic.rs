//! Binary logistic regression on labels 0 and 1: loss ln(1 + exp(∓(⟨w, x⟩ + b))).
//!
//! The Hessian of one record is p(1 − p)(x, 1)(x, 1)ᵀ with p(1 − p) ≤ ¼, so β = (‖x‖² + 1)/4.

use super::Model;
use super::chunk::Chunk;
use super::dense::{Activation, DensePass, DenseShape};
use super::error::{ModelError, at_least_one};
use super::head::Head;
use super::init::TensorShape;
use super::pass::Pass;
use super::smoothness::{Smoothness, squared_row_with_bias};
use crate::data::Task;

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

    fn smoothness(&self, row_norm: f64) -> Option<Smoothness> {
        let squared = squared_row_with_bias(row_norm);
        let gradient_bound = Some(squared.sqrt());
        Some(Smoothness { beta: squared / 4.0, gradient_bound, clipped_is_convex: true })
    }
}
