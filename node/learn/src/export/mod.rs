//! Saved models for other programs: ONNX, and JSON with a Python file that makes a scikit-learn model of it.
//!
//! Both take features in the order of the model, unscaled: declared bounds are part of what is exported.

mod layers;
mod onnx;
mod protobuf;
mod sklearn;

pub use layers::ExportError;
pub use onnx::onnx;
pub use sklearn::{PYTHON, sklearn};
