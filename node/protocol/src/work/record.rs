//! One record is protected: the mean of clipped gradients over a Poisson sample.

use learn::data::Dataset;
use learn::gradient::{Adjacency, ClippedSum, PoissonSampler, Workspace, rounding};
use learn::model::Model;
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::noise::NoiseSource;

/// Lanes of any workspace that drivers use: rounding is bounded for as many.
pub const MOST_LANES: usize = 2;

/// Public numbers that make contributions of nodes with different numbers of records comparable: equal noise, and every record of the swarm of equal
/// weight. An analysis that counts on the noise of others relies on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonScale {
    /// What sums are divided by, whatever the node's own number of records.
    pub divisor: f64,
    /// By how much, relative to the clip norm, rounding may enlarge the sensitivity; nodes for which it is more clip that much tighter.
    pub slack: f64,
}

/// How a batch is drawn and added up.
pub(super) struct Batch {
    /// Records on average; `None` for all.
    pub(super) expected: Option<f64>,
    pub(super) common: CommonScale,
    pub(super) clip: ClipNorm,
}

impl Batch {
    /// The clipped sum of one sample, with the sensitivity that all nodes count with.
    pub(super) fn sum(
        &self,
        params: &[f32],
        (model, data): (&dyn Model, &Dataset),
        workspace: &mut Workspace,
        noise: &mut dyn NoiseSource,
    ) -> Result<ClippedSum, TrainError> {
        let expected = self.expected.unwrap_or(data.len() as f64);
        let sample = PoissonSampler::for_batch(expected, data.len())?.draw(noise);
        let own = rounding::slack(data.len(), model.chunk_rows(), MOST_LANES);
        let clip = if own > self.common.slack {
            self.clip.shrunk((1.0 + self.common.slack) / (1.0 + own))
        } else {
            self.clip
        };
        let sensitivity = Adjacency::Record.clip_norms() * self.clip.value() * (1.0 + self.common.slack);
        let sum = workspace.clipped_sum(params, data, sample, clip)?;
        Ok(sum.on_common_scale(sensitivity, self.common.divisor))
    }
}

/// The largest norm of an honest mean of a batch, without its noise.
pub(super) fn largest_signal(
    clip: f64,
    batch: Option<f64>,
    common: CommonScale,
    most_records: Option<usize>,
) -> f64 {
    match batch {
        None => {
            let records = most_records.map_or(common.divisor, |largest| largest as f64);
            clip * records / common.divisor
        }
        // More than eight deviations above the mean of a Poisson sample.
        Some(batch) => clip * (1.0 + (8.0 * batch.sqrt() + 32.0) / batch),
    }
}
