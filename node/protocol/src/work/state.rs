//! What outlives a round at a node and is its own.

use std::collections::BTreeMap;
use std::fmt;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView, serialize};
use thiserror::Error;

/// Named vectors that a node keeps from one contribution to the next: as secret as its data.
///
/// It has no serde form and no place in a message, a snapshot or a log, so it cannot be sent or fetched. A driver with a disk keeps its
/// [bytes](Self::to_bytes) beside the ledger, from which it comes back after a crash.
///
/// ```compile_fail
/// fn sendable<T: serde::Serialize>(_: &T) {}
/// sendable(&protocol::work::NodeState::default());
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct NodeState(BTreeMap<String, Vec<f32>>);

/// Bytes that are no state.
#[derive(Debug, Error)]
pub enum StateError {
    /// Not the format, or cut short.
    #[error("not a whole safetensors file")]
    Format(#[from] SafeTensorError),
    /// Other numbers than a node keeps.
    #[error("`{name}` is not made of single-precision numbers")]
    Numbers {
        /// Which vector.
        name: String,
    },
}

impl NodeState {
    /// A vector by its name.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Keeps a vector, in place of the one of this name before.
    pub fn set(&mut self, name: &str, values: Vec<f32>) {
        self.0.insert(name.to_owned(), values);
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The state as it is kept on disk: safetensors. The same state, the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let raw =
            |values: &Vec<f32>| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
        let all: Vec<(&String, usize, Vec<u8>)> =
            self.0.iter().map(|(name, values)| (name, values.len(), raw(values))).collect();
        let views = all.iter().map(|(name, length, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![*length], bytes);
            (name.as_str(), view.expect("a vector has four bytes per number"))
        });
        serialize(views, None).expect("names and views fit together")
    }

    /// What [`to_bytes`](Self::to_bytes) made.
    ///
    /// # Errors
    /// Bytes that it did not make, or not all of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut state = Self::default();
        for (name, view) in SafeTensors::deserialize(bytes)?.tensors() {
            if view.dtype() != Dtype::F32 {
                return Err(StateError::Numbers { name });
            }
            let (numbers, _) = view.data().as_chunks::<4>();
            state.set(&name, numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect());
        }
        Ok(state)
    }
}

/// Numbers are never printed.
impl fmt::Debug for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeState({} vectors)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_from_its_bytes_and_from_no_others() {
        let mut state = NodeState::default();
        assert!(state.is_empty());
        assert_eq!(NodeState::from_bytes(&state.to_bytes()).unwrap(), state);
        state.set("personal", vec![0.5, f32::MIN_POSITIVE, -0.0]);
        state.set("control", vec![]);
        state.set("personal", vec![1.5, f32::MAX, -0.0]);
        let bytes = state.to_bytes();
        let back = NodeState::from_bytes(&bytes).unwrap();
        assert_eq!(back.get("personal").unwrap()[2].to_bits(), (-0.0_f32).to_bits());
        assert_eq!((back.get("control"), back.get("other")), (Some(&[][..]), None));
        assert_eq!((&back, back.to_bytes()), (&state, bytes.clone()));
        assert!((0..bytes.len()).all(|cut| NodeState::from_bytes(&bytes[..cut]).is_err()));
        assert!(!format!("{state:?}").contains("1.5"));
    }
}
