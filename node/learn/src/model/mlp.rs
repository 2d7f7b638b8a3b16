//! Multi-layer perceptron of any depth.
//!
//! Not convex, and smooth with no useful constant: the account uses `rounds` or `local`.

use super::Model;
use super::chunk::Chunk;
use super::dense::{Activation, DensePass, DenseShape};
use super::error::{ModelError, at_least_one, at_least_two_classes};
use super::head::Head;
use super::init::TensorShape;
use super::pass::Pass;
use crate::data::Task;

/// Dense layers with an activation between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mlp {
    shape: DenseShape,
}

impl Mlp {
    /// For records of `inputs` features, with the widths of the hidden layers from the first on. Two or more classes
    /// have one output each and a softmax; a real target has one output and the squared loss.
    ///
    /// # Errors
    /// No feature, no hidden layer, a layer without units, fewer than two classes, or records without targets.
    pub fn new(
        inputs: usize,
        hidden: &[usize],
        activation: Activation,
        task: Task,
    ) -> Result<Self, ModelError> {
        at_least_one("features", inputs)?;
        at_least_one("hidden layers", hidden.len())?;
        hidden.iter().try_for_each(|&width| at_least_one("units of a hidden layer", width))?;
        let head = match task {
            Task::Classification { classes } => {
                at_least_two_classes(classes)?;
                Head::Softmax { classes }
            }
            Task::Regression => Head::Squared,
            Task::Unlabelled => return Err(ModelError::NoTargets { kind: "mlp" }),
        };
        let mut widths = vec![inputs];
        widths.extend_from_slice(hidden);
        widths.push(head.width());
        Ok(Self { shape: DenseShape { widths, activation, head } })
    }
}

impl Model for Mlp {
    fn kind(&self) -> &'static str {
        "mlp"
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
        self.shape.tensors("layer")
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
}
