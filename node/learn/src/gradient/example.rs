//! The unclipped contribution of one protected unit.

use privacy::clip::ClipNorm;

use super::clipped::ClippedSum;
use super::error::GradientError;
use crate::data::Dataset;
use crate::model::{self, Model};

/// A contribution before clipping: the gradient of one example or, at node level, a node's whole update.
///
/// It shows everything about the data behind it, so it can be neither serialised nor copied nor printed; the one thing to
/// do with it is [`clip`](Self::clip).
///
/// ```compile_fail
/// fn send(value: &impl serde::Serialize) {}
/// fn leak(gradient: learn::gradient::ExampleGradient) {
///     send(&gradient); // ExampleGradient is not Serialize
/// }
/// ```
///
/// ```compile_fail
/// fn leak(gradient: learn::gradient::ExampleGradient) -> Vec<f32> {
///     gradient.values // private
/// }
/// ```
#[must_use = "a contribution that is not clipped and released is lost"]
pub struct ExampleGradient {
    values: Vec<f32>,
}

impl ExampleGradient {
    /// The gradient of record `record` alone, penalty left out. Sums over batches are made without forming these, by
    /// [`Workspace::clipped_sum`](super::Workspace::clipped_sum).
    ///
    /// # Errors
    /// Data or parameters that do not fit the model.
    ///
    /// # Panics
    /// Where `record` is not below the number of records.
    pub fn of_record(
        model: &dyn Model,
        params: &[f32],
        data: &Dataset,
        record: usize,
    ) -> Result<Self, GradientError> {
        let alone = data.subset(&[record as u32]);
        let mut values = model::gradient(model, params, &alone)?;
        let penalty = model.penalty() as f32;
        values.iter_mut().zip(params).for_each(|(value, &param)| *value -= penalty * param);
        Ok(Self { values })
    }

    /// A node's whole update (its parameters after local steps minus those before): the unit protected at node level.
    pub fn of_node(update: Vec<f32>) -> Self {
        Self { values: update }
    }

    /// Clips to norm C: the sum of this one contribution.
    ///
    /// # Guarantee
    /// The result has L2 norm at most C, and is zero if a value was NaN or infinite. Replacing everything behind the
    /// contribution moves the result by at most 2C: that is the sensitivity that
    /// [`ClippedSum::release`] reports.
    ///
    /// # Assumes
    /// At most 2²⁸ parameters.
    pub fn clip(mut self, clip: ClipNorm) -> ClippedSum {
        clip.clip(&mut self.values);
        ClippedSum::of_node(self.values, clip)
    }

    /// As [`clip`](Self::clip), with a number behind it that says whether that was needed: `weight` times ½ where the norm was at most C, else times −½.
    ///
    /// # Guarantee
    /// Replacing everything behind the contribution moves the vector by at most 2C and the number by at most `weight`: together √(4C² + `weight`²), which is
    /// the sensitivity that [`ClippedSum::release`] reports.
    ///
    /// # Assumes
    /// As [`clip`](Self::clip); a positive weight that does not depend on the data.
    pub fn clip_and_tell(self, clip: ClipNorm, weight: f64) -> ClippedSum {
        let squares: f64 = self.values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        let bit = if squares.sqrt() <= clip.value() { 0.5 } else { -0.5 };
        self.clip(clip).with_number(bit, weight)
    }
}
