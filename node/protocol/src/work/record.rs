//! One record, or one person, is protected: the mean of clipped gradients over a Poisson sample.

use learn::data::Dataset;
use learn::gradient::{
    Adjacency, ClippedSum, GradientError, Persons, PoissonSampler, Sample, Workspace, rounding,
};
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
    /// Records, or persons, on average; `None` for all.
    pub(super) expected: Option<f64>,
    pub(super) common: CommonScale,
    pub(super) clip: ClipNorm,
    /// What has a coin: records or persons.
    pub(super) of: Adjacency,
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
        let (sample, units) = self.draw(data, noise)?;
        let clip = self.clip_for(rounding::slack(units, model.chunk_rows(), MOST_LANES));
        Ok(self.on_common_scale(workspace.clipped_sum(params, data, sample, clip)?))
    }

    /// A sample of so many records.
    pub(super) fn sample(&self, records: usize, noise: &mut dyn NoiseSource) -> Result<Sample, TrainError> {
        let expected = self.expected.unwrap_or(records as f64);
        Ok(PoissonSampler::for_batch(expected, records)?.draw(noise))
    }

    /// C, or less where this node's sums may be longer by more than all nodes count with.
    pub(super) fn clip_for(&self, own: f64) -> ClipNorm {
        if own > self.common.slack {
            self.clip.shrunk((1.0 + self.common.slack) / (1.0 + own))
        } else {
            self.clip
        }
    }

    /// The sum with the sensitivity and the divisor that all nodes count with.
    pub(super) fn on_common_scale(&self, sum: ClippedSum) -> ClippedSum {
        let sensitivity = self.of.clip_norms() * self.clip.value() * (1.0 + self.common.slack);
        sum.on_common_scale(sensitivity, self.common.divisor)
    }

    /// A sample of records, or of persons with one record each, and how many it was drawn among.
    fn draw(&self, data: &Dataset, noise: &mut dyn NoiseSource) -> Result<(Sample, usize), TrainError> {
        if self.of != Adjacency::Person {
            return Ok((self.sample(data.len(), noise)?, data.len()));
        }
        let persons = Persons::of(data).ok_or(GradientError::NoPersons)?;
        let expected = self.expected.unwrap_or(persons.len() as f64);
        let sampler = PoissonSampler::for_batch(expected, persons.len())?;
        Ok((persons.draw(&sampler, noise), persons.len()))
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
