//! Which parameters are a node's own.

use std::ops::Range;

use thiserror::Error;

use crate::model::Model;

/// Parameters that may differ from the shared model's, as ranges of the flat vector in increasing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free(Vec<Range<usize>>);

/// A tensor that the model does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the model `{kind}` has no tensor `{name}`: it has {known}")]
pub struct UnknownTensor {
    /// What was asked for.
    pub name: String,
    /// Kind of the model.
    pub kind: &'static str,
    /// The tensors that there are.
    pub known: String,
}

impl Free {
    /// All parameters.
    pub fn all(model: &dyn Model) -> Self {
        Self(std::iter::once(0..model.parameter_count()).collect())
    }

    /// The tensors of these names; without names, all.
    ///
    /// # Errors
    /// A name that no tensor has.
    pub fn named(model: &dyn Model, names: &[String]) -> Result<Self, UnknownTensor> {
        if names.is_empty() {
            return Ok(Self::all(model));
        }
        let tensors = model.tensors();
        if let Some(name) = names.iter().find(|name| tensors.iter().all(|tensor| tensor.name != **name)) {
            let known: Vec<String> = tensors.iter().map(|tensor| format!("`{}`", tensor.name)).collect();
            return Err(UnknownTensor { name: name.clone(), kind: model.kind(), known: known.join(", ") });
        }
        let (mut start, mut ranges) = (0, Vec::new());
        for tensor in &tensors {
            let range = start..start + tensor.count();
            start = range.end;
            if names.contains(&tensor.name) {
                ranges.push(range);
            }
        }
        Ok(Self(ranges))
    }

    /// Their places, in increasing order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().cloned().flatten()
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    /// Sets all others to zero.
    pub(super) fn keep(&self, gradient: &mut [f32]) {
        let mut next = 0;
        for range in &self.0 {
            gradient[next..range.start].fill(0.0);
            next = range.end;
        }
        gradient[next..].fill(0.0);
    }
}
