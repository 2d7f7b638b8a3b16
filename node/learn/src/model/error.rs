//! Errors of models: sizes that make no sense, and data that do not fit.

use thiserror::Error;
use topology::Hint;

use crate::data::Task;

/// Why a model cannot be built or used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModelError {
    /// Nothing where at least one is needed.
    #[error("A model needs at least one of: {what}")]
    Missing {
        /// What there is none of.
        what: &'static str,
    },
    /// One class or none.
    #[error("A classifier needs at least two classes: {classes}")]
    Classes {
        /// What was given.
        classes: usize,
    },
    /// A number outside its range.
    #[error("The {name} of a model must be zero or positive and finite: {value}")]
    Negative {
        /// Name of the parameter.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A model that predicts, on records without targets.
    #[error("The model `{kind}` predicts a target, and the records have none")]
    NoTargets {
        /// Kind of the model.
        kind: &'static str,
    },
    /// Targets of the wrong kind.
    #[error("The model `{kind}` is for {needs}, and the data are for {has}")]
    Targets {
        /// Kind of the model.
        kind: &'static str,
        /// What the model is for.
        needs: String,
        /// What the data are.
        has: String,
    },
    /// A wrong number of features.
    #[error("The model `{kind}` is for {needs} features, and the records have {has}")]
    Features {
        /// Kind of the model.
        kind: &'static str,
        /// Features that the model was built for.
        needs: usize,
        /// Features of the records.
        has: usize,
    },
    /// A wrong number of parameters.
    #[error("The model `{kind}` has {needs} parameters, and {has} were given")]
    Parameters {
        /// Kind of the model.
        kind: &'static str,
        /// Length of its flat vector.
        needs: usize,
        /// Length of what was given.
        has: usize,
    },
    /// No record to compute a mean over.
    #[error("A loss, gradient or prediction needs at least one record")]
    NoRecords,
    /// Layers that do not fit the image.
    #[error(
        "Convolution layer {layer} does not fit: kernel {kernel} on an image of {height}×{width} with padding {padding}"
    )]
    Convolution {
        /// Counted from 1.
        layer: usize,
        /// Its kernel's side.
        kernel: usize,
        /// Lines of its input.
        height: usize,
        /// Columns of its input.
        width: usize,
        /// Zeros around it.
        padding: usize,
    },
    /// A model that only a trainer can compute.
    #[error("The model `external` is computed by its trainer, and there is none here")]
    External,
    /// A convolutional network on something that is no image of the right size.
    #[error("The model `cnn` is for square images, and {features} features are none")]
    NotAnImage {
        /// Features per record.
        features: usize,
    },
}

impl Hint for ModelError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Missing { what } => format!("give a positive number of {what}"),
            Self::Classes { .. } => "for a real target use `linear` or `ridge`".into(),
            Self::Negative { name, .. } => format!("use `{name} = 0` for none"),
            Self::NoTargets { .. } => "use `mean`, or name the label column of the data".into(),
            Self::Targets { .. } => {
                "`linear`, `ridge`: real targets; `logistic`: two classes; `softmax`, `cnn`: classes; `mlp`: both".into()
            }
            Self::Features { .. } | Self::Parameters { .. } => {
                "build the model for these data, or load the checkpoint of the same model".into()
            }
            Self::NoRecords => "choose a data set or a part that is not empty".into(),
            Self::Convolution { .. } => "use a smaller kernel or stride, or more padding".into(),
            Self::External => {
                "start a node with `murmur node --trainer CMD`; its model is a file of safetensors, for the program that trained it".into()
            }
            Self::NotAnImage { .. } => "use `mlp` or `softmax` for tables".into(),
        };
        Some(hint)
    }
}

pub(crate) fn at_least_one(what: &'static str, count: usize) -> Result<(), ModelError> {
    if count == 0 { Err(ModelError::Missing { what }) } else { Ok(()) }
}

pub(crate) fn at_least_two_classes(classes: usize) -> Result<(), ModelError> {
    if classes < 2 { Err(ModelError::Classes { classes }) } else { Ok(()) }
}

pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<(), ModelError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(ModelError::Negative { name, value }) }
}

/// A task in words.
pub(crate) fn in_words(task: Task) -> String {
    match task {
        Task::Classification { classes } => format!("{classes} classes"),
        Task::Regression => "real targets".into(),
        Task::Unlabelled => "records without targets".into(),
    }
}
