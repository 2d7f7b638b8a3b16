//! A model that only its trainer can compute, in a program of its own: here it has names, shapes and first values.

use serde::{Deserialize, Serialize};

use super::Model;
use super::chunk::Chunk;
use super::error::{ModelError, at_least_one};
use super::init::TensorShape;
use super::pass::Pass;
use crate::data::Task;

/// Who clips the gradients of single records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClippedBy {
    /// The node: it sees every row.
    #[default]
    Node,
    /// The trainer, with factors that the node computes from the norms that it is told. The guarantee then rests on the trainer.
    Trainer,
}

/// Names, shapes and first values of a foreign model.
#[derive(Clone, PartialEq)]
pub struct External {
    tensors: Vec<TensorShape>,
    first: Vec<f32>,
}

impl External {
    /// A model of these tensors that starts with `first`, tensor after tensor.
    ///
    /// # Errors
    /// No parameter, or another number of first values.
    pub fn new(tensors: Vec<TensorShape>, first: Vec<f32>) -> Result<Self, ModelError> {
        let needs = tensors.iter().map(TensorShape::count).sum();
        at_least_one("parameters", needs)?;
        if first.len() != needs {
            return Err(ModelError::Parameters { kind: "external", needs, has: first.len() });
        }
        Ok(Self { tensors, first })
    }
}

/// First values may be many: they are not printed.
impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "External({} tensors, {} parameters)", self.tensors.len(), self.first.len())
    }
}

impl Model for External {
    fn kind(&self) -> &'static str {
        "external"
    }

    fn inputs(&self) -> usize {
        1
    }

    fn outputs(&self) -> usize {
        1
    }

    fn task(&self) -> Task {
        Task::Unlabelled
    }

    fn tensors(&self) -> Vec<TensorShape> {
        self.tensors.clone()
    }

    fn initial(&self, _seed: u64) -> Vec<f32> {
        self.first.clone()
    }

    fn pass(&self, rows: usize) -> Box<dyn Pass> {
        Box::new(Unknown(vec![f32::NAN; rows]))
    }

    fn chunk_loss(&self, _outputs: &[f32], _chunk: &Chunk) -> f64 {
        f64::NAN
    }

    fn chunk_predict(&self, _outputs: &mut [f32]) {}
}

/// What cannot be computed here must not look like a number, and contributes nothing.
struct Unknown(Vec<f32>);

impl Pass for Unknown {
    fn forward(&mut self, _params: &[f32], chunk: &Chunk) -> &mut [f32] {
        &mut self.0[..chunk.rows()]
    }

    fn backward(&mut self, _params: &[f32], _chunk: &Chunk) {}

    fn squared_norms(&mut self, _chunk: &Chunk, norms: &mut [f64]) {
        norms.fill(f64::INFINITY);
    }

    fn weighted_sum(&mut self, _chunk: &mut Chunk, _weights: &[f32], out: &mut [f32]) {
        out.fill(0.0);
    }

    fn sum(&mut self, _chunk: &mut Chunk, out: &mut [f32]) {
        out.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_model_has_its_shapes_and_first_values_and_no_predictions() {
        let tensors = vec![TensorShape::zeros("w", &[2, 3]), TensorShape::zeros("b", &[2])];
        let model = External::new(tensors.clone(), (0..8).map(|value| value as f32).collect()).unwrap();
        assert_eq!((model.parameter_count(), model.initial(7)[7]), (8, 7.0));
        assert!(!format!("{model:?}").contains("7.0"));
        assert!(External::new(tensors, vec![0.0; 7]).is_err() && External::new(vec![], vec![]).is_err());
        let data = crate::data::Dataset::new(vec![0.0; 3], 1, crate::data::Targets::None).unwrap();
        assert!(crate::model::loss(&model, &model.initial(1), &data).unwrap().is_nan());
    }
}
