//! What may be sent.

use serde::Serialize;

/// A vector that went through clipping and noise, or a function of such vectors and public ones.
///
/// Only [`ClippedSum::release`](super::ClippedSum::release) makes one:
///
/// ```compile_fail
/// let forged = learn::gradient::Shareable { values: vec![1.0], private: true };
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shareable {
    values: Vec<f32>,
    #[serde(skip)]
    private: bool,
}

impl Shareable {
    pub(super) fn new(values: Vec<f32>, private: bool) -> Self {
        Self { values, private }
    }

    /// The numbers.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The numbers, without a copy.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Whether noise was added and came from a private source. `false` for seeded noise and for releases without noise.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Post-processing: changes the numbers in place, for example from a gradient to the parameters after a step.
    ///
    /// # Guarantee
    /// The result has the guarantee of what it was made from.
    ///
    /// # Assumes
    /// `f` uses nothing but these numbers and public values.
    #[must_use]
    pub fn post_process(mut self, f: impl FnOnce(&mut Vec<f32>)) -> Self {
        f(&mut self.values);
        self
    }
}
