//! Multi-layer perceptron of any depth.
//!
//! Not convex, and smooth with no useful constant: the account uses `rounds` or `local`.

use super::Model;
use super::dense::{Activation, DenseShape};
use super::error::{ModelError, at_least_one, at_least_two_classes};
use super::head::Head;
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

    #[cfg(test)]
    pub(super) fn shape(&self) -> &DenseShape {
        &self.shape
    }
}

impl Model for Mlp {
    fn kind(&self) -> &'static str {
        "mlp"
    }

    #[cfg(target_arch = "x86_64")]
    fn group_pass(&self, threads: usize) -> Option<Box<dyn super::GroupPass>> {
        super::wide::pass(&self.shape, threads)
    }

    super::dense::methods_of_shape!("layer");
}
