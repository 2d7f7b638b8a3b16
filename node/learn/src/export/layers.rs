//! What all exports need: the layers of a model and the bounds of its features.

use crate::model::{Activation, ModelSpec};
use crate::saved::Saved;
use crate::schema::{Column, Kind, Schema};

/// Why a model cannot be exported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A kind of model that has no counterpart.
    #[error("a model of the kind `{0}` cannot be exported")]
    Kind(&'static str),
}

/// A dense layer.
pub(super) struct Layer<'a> {
    /// Row-major: outputs times inputs.
    pub(super) weight: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) inputs: usize,
}

impl Layer<'_> {
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }
}

/// What is done to the outputs of the last layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    /// σ of one output is the probability of class 1.
    Sigmoid,
    /// One output for each class.
    Softmax,
    /// A number, and the bounds that it is between.
    Value(f32, f32),
}

/// The layers of a model, the function between them, and its end.
pub(super) struct Network<'a> {
    pub(super) layers: Vec<Layer<'a>>,
    pub(super) activation: Activation,
    pub(super) end: End,
    /// Low and high of each feature; none where the model takes features as they are.
    pub(super) bounds: Option<Vec<(f32, f32)>>,
}

impl<'a> Network<'a> {
    pub(super) fn of(saved: &'a Saved) -> Result<Self, ExportError> {
        let (activation, end) = match &saved.about.spec {
            ModelSpec::Logistic {} => (Activation::Relu, End::Sigmoid),
            ModelSpec::Softmax {} => (Activation::Relu, End::Softmax),
            ModelSpec::Linear {} | ModelSpec::Ridge { .. } => (Activation::Relu, value_end(saved)),
            ModelSpec::Mlp { activation, .. } => match saved.about.task {
                crate::data::Task::Regression => (*activation, value_end(saved)),
                _ => (*activation, End::Softmax),
            },
            ModelSpec::Mean {} | ModelSpec::Cnn {} | ModelSpec::External { .. } => {
                return Err(ExportError::Kind(saved.model.kind()));
            }
        };
        let bounds = saved.about.schema.as_ref().map(feature_bounds);
        Ok(Self { layers: layers(saved), activation, end, bounds })
    }
}

fn layers(saved: &Saved) -> Vec<Layer<'_>> {
    let tensors = saved.model.tensors();
    let mut rest = saved.params.as_slice();
    let mut layers = Vec::new();
    for pair in tensors.chunks_exact(2) {
        let (weight, after) = rest.split_at(pair[0].count());
        let (bias, after) = after.split_at(pair[1].count());
        layers.push(Layer { weight, bias, inputs: pair[0].shape[1] });
        rest = after;
    }
    layers
}

/// The bounds of the label, which a model predicts in units 0 to 1.
fn value_end(saved: &Saved) -> End {
    let bounds = saved.about.schema.as_ref().and_then(Schema::label_column).and_then(Column::bounds);
    bounds.map_or(End::Value(0.0, 1.0), |range| End::Value(range.low as f32, range.high as f32))
}

/// Of every feature, in order; a word's are 0 and 1.
fn feature_bounds(schema: &Schema) -> Vec<(f32, f32)> {
    let of = |column: &Column| match &column.kind {
        Kind::Words { values, .. } => vec![(0.0, 1.0); values.len()],
        _ => column.bounds().map(|range| (range.low as f32, range.high as f32)).into_iter().collect(),
    };
    schema.features().flat_map(|(_, column)| of(column)).collect()
}
