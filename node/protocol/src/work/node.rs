//! All data of a node are protected: its update after local steps.

use learn::data::Dataset;
use learn::gradient::{ExampleGradient, Shareable};
use learn::model::Model;
use learn::optimiser::{LocalSteps, node_update};
use learn::train::TrainError;

use super::Job;

/// The update from the job's model; the seed of the batches is mixed with the round.
pub(super) fn update(
    (model, data): (&dyn Model, &Dataset),
    job: &Job,
    local: &LocalSteps,
    seed: u64,
) -> Result<ExampleGradient, TrainError> {
    let seed = seed.wrapping_add(u64::from(job.round).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    node_update(model, job.params.as_slice(), data, local, seed)
}

/// An update points downhill, a gradient uphill: what is sent is a gradient.
pub(super) fn downhill(update: Shareable) -> Shareable {
    update.post_process(|values| values.iter_mut().for_each(|value| *value = -*value))
}
