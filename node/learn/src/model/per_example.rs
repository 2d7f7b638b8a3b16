//! A model of your own, example by example: say what comes out and what its gradient is, and clipping, noise and accounting follow.
//!
//! The gradients of a chunk are kept one by one, which costs rows × parameters numbers: right for small models. The built-in ones get their norms
//! from factors instead.

use super::chunk::Chunk;
use super::error::ModelError;
use super::init::TensorShape;
use super::pass::Pass;
use super::{Model, kernel};
use crate::data::{Target, Task};
use std::sync::Arc;

/// What a model does with one record.
pub trait PerExample: std::fmt::Debug + Send + Sync + 'static {
    /// Its name.
    fn kind(&self) -> &'static str;
    /// Features per record.
    fn inputs(&self) -> usize;
    /// Numbers that come out per record.
    fn outputs(&self) -> usize;
    /// The targets that the loss needs.
    fn task(&self) -> Task;
    /// The parameters' names and shapes, in the order of the flat vector.
    fn tensors(&self) -> Vec<TensorShape>;
    /// Computes the outputs for one record.
    fn forward(&self, params: &[f32], features: &[f32], outputs: &mut [f32]);
    /// The loss of one record, given its outputs.
    fn loss(&self, outputs: &[f32], target: Target) -> f64;
    /// Overwrites `gradient` with that of the loss of one record.
    fn gradient(&self, params: &[f32], features: &[f32], target: Target, gradient: &mut [f32]);
    /// Turns outputs into predictions: values, or probabilities.
    fn predict(&self, _outputs: &mut [f32]) {}
}

/// A [`PerExample`] as a [`Model`].
#[derive(Debug, Clone)]
pub struct ByExample<M> {
    model: Arc<M>,
    parameters: usize,
}

impl<M: PerExample> ByExample<M> {
    /// Wraps a model.
    ///
    /// # Errors
    /// No parameter, no feature or no output.
    pub fn new(model: M) -> Result<Self, ModelError> {
        let parameters = model.tensors().iter().map(TensorShape::count).sum();
        super::error::at_least_one("parameters", parameters)?;
        super::error::at_least_one("features", model.inputs())?;
        super::error::at_least_one("outputs", model.outputs())?;
        Ok(Self { model: Arc::new(model), parameters })
    }
}

impl<M: PerExample> Model for ByExample<M> {
    fn kind(&self) -> &'static str {
        self.model.kind()
    }

    fn inputs(&self) -> usize {
        self.model.inputs()
    }

    fn outputs(&self) -> usize {
        self.model.outputs()
    }

    fn task(&self) -> Task {
        self.model.task()
    }

    fn tensors(&self) -> Vec<TensorShape> {
        self.model.tensors()
    }

    fn pass(&self, rows: usize) -> Box<dyn Pass> {
        Box::new(ByExamplePass {
            model: self.model.clone(),
            outputs: vec![0.0; rows * self.model.outputs()],
            gradients: vec![0.0; rows * self.parameters],
            parameters: self.parameters,
            rows: 0,
        })
    }

    fn chunk_loss(&self, outputs: &[f32], chunk: &Chunk) -> f64 {
        let rows = outputs.chunks_exact(self.model.outputs()).enumerate();
        rows.map(|(row, outputs)| self.model.loss(outputs, target(chunk, row))).sum()
    }

    fn chunk_predict(&self, outputs: &mut [f32]) {
        outputs.chunks_exact_mut(self.model.outputs()).for_each(|outputs| self.model.predict(outputs));
    }
}

fn target(chunk: &Chunk, row: usize) -> Target {
    match (chunk.labels().get(row), chunk.reals().get(row)) {
        (Some(&label), _) => Target::Class(label),
        (None, Some(&value)) => Target::Real(value),
        (None, None) => Target::None,
    }
}

/// Every example's gradient, side by side.
#[derive(Debug)]
struct ByExamplePass<M> {
    model: Arc<M>,
    outputs: Vec<f32>,
    gradients: Vec<f32>,
    parameters: usize,
    rows: usize,
}

impl<M: PerExample> Pass for ByExamplePass<M> {
    fn forward(&mut self, params: &[f32], chunk: &Chunk) -> &mut [f32] {
        self.rows = chunk.rows();
        let used = &mut self.outputs[..self.rows * self.model.outputs()];
        let rows = chunk.features().chunks_exact(self.model.inputs());
        for (features, outputs) in rows.zip(used.chunks_exact_mut(self.model.outputs())) {
            self.model.forward(params, features, outputs);
        }
        used
    }

    fn backward(&mut self, params: &[f32], chunk: &Chunk) {
        let rows = chunk.features().chunks_exact(self.model.inputs());
        for (row, (features, gradient)) in
            rows.zip(self.gradients.chunks_exact_mut(self.parameters)).enumerate()
        {
            self.model.gradient(params, features, target(chunk, row), gradient);
        }
    }

    fn squared_norms(&mut self, _chunk: &Chunk, norms: &mut [f64]) {
        kernel::squared_norms_of_rows(norms, &self.gradients[..self.rows * self.parameters]);
    }

    fn weighted_sum(&mut self, _chunk: &mut Chunk, weights: &[f32], out: &mut [f32]) {
        let used = &mut self.gradients[..self.rows * self.parameters];
        super::dense::clear_left_out(used, weights);
        kernel::scale_rows(used, weights);
        kernel::sum_of_rows(out, used);
    }

    fn sum(&mut self, _chunk: &mut Chunk, out: &mut [f32]) {
        kernel::sum_of_rows(out, &self.gradients[..self.rows * self.parameters]);
    }
}
