//! scikit-learn without pickle: JSON with the numbers, and a Python file that makes a pipeline of them.

use serde_json::{Value, json};

use super::layers::{End, ExportError, Network};
use crate::model::Activation;
use crate::saved::Saved;

/// The Python file: `load(path)` gives a pipeline, `features(rows)` turns rows of a table into its input.
pub const PYTHON: &str = include_str!("murmur_model.py");

/// The model as JSON for [`PYTHON`].
///
/// # Errors
/// A kind of model without dense layers.
pub fn sklearn(saved: &Saved) -> Result<Value, ExportError> {
    let network = Network::of(saved)?;
    let layers: Vec<Value> = network
        .layers
        .iter()
        .map(|layer| {
            let rows: Vec<&[f32]> = layer.weight.chunks_exact(layer.inputs).collect();
            json!({ "weight": rows, "bias": layer.bias })
        })
        .collect();
    let classes: Vec<String> = match saved.about.task {
        crate::data::Task::Classification { classes } => {
            (0..classes).map(|class| saved.class_name(class)).collect()
        }
        _ => Vec::new(),
    };
    let (end, target) = match network.end {
        End::Sigmoid => ("sigmoid", None),
        End::Softmax => ("softmax", None),
        End::Value(low, high) => ("value", Some([low, high])),
    };
    Ok(json!({
        "format": "murmuration-sklearn-1",
        "kind": saved.model.kind(),
        "features": saved.about.features,
        "classes": classes,
        "bounds": network.bounds,
        "layers": layers,
        "activation": if network.activation == Activation::Tanh { "tanh" } else { "relu" },
        "end": end,
        "target": target,
        "schema": saved.about.schema.as_ref().map(crate::schema::Schema::to_table),
        "about": saved.about.entries(),
    }))
}
