//! A model as a config describes it.

use serde::{Deserialize, Serialize};

use super::{
    Activation, ClippedBy, Cnn, LinearRegression, LogisticRegression, Mean, Mlp, Model, ModelError,
    RidgeRegression, SoftmaxRegression,
};
use crate::data::{Dataset, ImageShape, Task};

/// Which model; sizes come from the data. A saved model says it in its metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ModelSpec {
    /// The mean of the records.
    Mean {},
    /// Linear regression.
    Linear {},
    /// Ridge regression.
    Ridge {
        /// λ of the penalty (λ/2)‖θ‖².
        penalty: f64,
    },
    /// Logistic regression on two classes.
    Logistic {},
    /// Softmax regression.
    Softmax {},
    /// Multi-layer perceptron.
    Mlp {
        /// Widths of the hidden layers.
        hidden: Vec<usize>,
        /// Between layers.
        activation: Activation,
    },
    /// The small convolutional network.
    Cnn {},
    /// A foreign one, which only its trainer can compute.
    External {
        /// Who clips.
        clipping: ClippedBy,
        /// First values: `zeros`, or a file of safetensors.
        initial: String,
    },
}

impl ModelSpec {
    /// The widest hidden layer that it names; 0 where it names none.
    pub(crate) fn largest_width(&self) -> usize {
        match self {
            Self::Mlp { hidden, .. } => hidden.iter().copied().max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The model for records like those of `data`.
    ///
    /// # Errors
    /// Data that the model is not for, or sizes that make no sense.
    pub fn build(&self, data: &Dataset) -> Result<Box<dyn Model>, ModelError> {
        self.build_for(data.columns(), data.task(), data.image_shape())
    }

    /// The model for records of `inputs` features; `image` is their shape where they are images.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_for(
        &self,
        inputs: usize,
        task: Task,
        image: Option<ImageShape>,
    ) -> Result<Box<dyn Model>, ModelError> {
        Ok(match self {
            Self::Mean {} => Box::new(Mean::new(inputs)?),
            Self::Linear {} => fitting(LinearRegression::new(inputs)?, task)?,
            Self::Ridge { penalty } => fitting(RidgeRegression::new(inputs, *penalty)?, task)?,
            Self::Logistic {} => fitting(LogisticRegression::new(inputs)?, task)?,
            Self::Softmax {} => fitting(SoftmaxRegression::new(inputs, classes(task))?, task)?,
            Self::Mlp { hidden, activation } => Box::new(Mlp::new(inputs, hidden, *activation, task)?),
            Self::External { .. } => return Err(ModelError::External),
            Self::Cnn {} => {
                let (height, width) = sides(inputs, image)?;
                fitting(Cnn::small(height, width, classes(task))?, task)?
            }
        })
    }
}

/// The model, if its loss is for this kind of target.
fn fitting(model: impl Model + 'static, task: Task) -> Result<Box<dyn Model>, ModelError> {
    if model.task() == task {
        return Ok(Box::new(model));
    }
    let (needs, has) = (super::error::in_words(model.task()), super::error::in_words(task));
    Err(ModelError::Targets { kind: model.kind(), needs, has })
}

/// Two where there are none: `fitting` then says what is wrong with the targets.
fn classes(task: Task) -> usize {
    match task {
        Task::Classification { classes } => classes,
        Task::Regression | Task::Unlabelled => 2,
    }
}

/// The image's sides, as they are known or as a square.
fn sides(features: usize, image: Option<ImageShape>) -> Result<(usize, usize), ModelError> {
    if let Some(shape) = image {
        return Ok((shape.height, shape.width));
    }
    let side = features.isqrt();
    if side * side == features { Ok((side, side)) } else { Err(ModelError::NotAnImage { features }) }
}
