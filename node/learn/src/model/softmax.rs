//! Multinomial logistic regression: loss −ln softmax(W x + b)_y.
//!
//! The Hessian of one record is (diag(p) − ppᵀ) ⊗ (x, 1)(x, 1)ᵀ; the first factor has eigenvalues up to ½, so
//! β = (‖x‖² + 1)/2. Clipping is not known to preserve convexity: the gradient has several directions.

use super::Model;
use super::chunk::Chunk;
use super::dense::{Activation, DensePass, DenseShape};
use super::error::{ModelError, at_least_one, at_least_two_classes};
use super::head::Head;
use super::init::TensorShape;
use super::pass::Pass;
use super::smoothness::{Smoothness, squared_row_with_bias};
use crate::data::Task;

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
        // ‖p − e_y‖² = (1 − p_y)² + Σ p_k² ≤ 2.
        let gradient_bound = Some((2.0 * squared).sqrt());
        Some(Smoothness { beta: squared / 2.0, gradient_bound, clipped_is_convex: false })
    }
}
