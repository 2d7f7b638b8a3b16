//! The mean of the records: loss ½‖θ − x‖², whose minimiser over records is their mean.
//!
//! The gradient of one example is θ − x; β = 1 whatever the records are.

use super::chunk::Chunk;
use super::dense::clear_left_out;
use super::error::{ModelError, at_least_one};
use super::init::{Filling, TensorShape};
use super::pass::Pass;
use super::smoothness::Smoothness;
use super::{Model, kernel};
use crate::data::Task;

/// The mean of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mean {
    inputs: usize,
}

impl Mean {
    /// For records of `inputs` features.
    ///
    /// # Errors
    /// No feature.
    pub fn new(inputs: usize) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        Ok(Self { inputs })
    }
}

impl Model for Mean {
    fn kind(&self) -> &'static str {
        "mean"
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.inputs
    }

    fn task(&self) -> Task {
        Task::Unlabelled
    }

    fn tensors(&self) -> Vec<TensorShape> {
        vec![TensorShape::new("mean".into(), vec![self.inputs], Filling::Zero)]
    }

    fn pass(&self, rows: usize) -> Box<dyn Pass> {
        Box::new(MeanPass { values: vec![0.0; rows * self.inputs], width: self.inputs, rows: 0 })
    }

    fn chunk_loss(&self, outputs: &[f32], chunk: &Chunk) -> f64 {
        let pairs = outputs.iter().zip(chunk.features());
        pairs.map(|(&mean, &x)| 0.5 * (f64::from(mean) - f64::from(x)).powi(2)).sum()
    }

    fn chunk_predict(&self, _outputs: &mut [f32]) {}

    /// β = 1 for any rows; ½‖θ − x‖² clipped is the Huber loss, convex and 1-smooth.
    fn smoothness(&self, _row_norm: f64) -> Option<Smoothness> {
        Some(Smoothness { beta: 1.0, gradient_bound: None, clipped_is_convex: true })
    }
}

/// θ in every row, then θ − x.
#[derive(Debug)]
struct MeanPass {
    values: Vec<f32>,
    width: usize,
    rows: usize,
}

impl MeanPass {
    fn used(&mut self) -> &mut [f32] {
        &mut self.values[..self.rows * self.width]
    }
}

impl Pass for MeanPass {
    fn forward(&mut self, params: &[f32], chunk: &Chunk) -> &mut [f32] {
        self.rows = chunk.rows();
        let width = self.width;
        self.used().chunks_exact_mut(width).for_each(|row| row.copy_from_slice(params));
        self.used()
    }

    fn backward(&mut self, _params: &[f32], chunk: &Chunk) {
        kernel::add_scaled(self.used(), -1.0, chunk.features());
    }

    fn squared_norms(&mut self, _chunk: &Chunk, norms: &mut [f64]) {
        kernel::squared_norms_of_rows(norms, self.used());
    }

    fn weighted_sum(&mut self, _chunk: &mut Chunk, weights: &[f32], out: &mut [f32]) {
        clear_left_out(self.used(), weights);
        kernel::scale_rows(self.used(), weights);
        kernel::sum_of_rows(out, self.used());
    }

    fn sum(&mut self, _chunk: &mut Chunk, out: &mut [f32]) {
        kernel::sum_of_rows(out, self.used());
    }
}
