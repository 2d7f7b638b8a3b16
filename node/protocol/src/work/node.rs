//! All data of a node are protected: its update after local steps.

use learn::gradient::ExampleGradient;
use learn::objective::Objective;
use learn::optimiser::{LocalSteps, node_update};
use learn::train::TrainError;

/// The update from a model in a round, with which the seed of the batches is mixed.
pub(super) fn update(
    objective: &Objective<'_>,
    (params, round): (&[f32], u32),
    local: &LocalSteps,
    seed: u64,
) -> Result<ExampleGradient, TrainError> {
    let seed = seed.wrapping_add(u64::from(round).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    node_update(objective, params, local, seed)
}
