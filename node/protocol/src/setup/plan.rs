//! The noise of a run and what it will cost.

use learn::calibrate;
use learn::gradient::SamplingRate;
use learn::optimiser::{OptimiserSpec, Schedule};
use learn::train::Training;
use privacy::clip::ClipNorm;

use super::data::Sizes;
use super::error::SetupError;
use crate::account::Planned;
use crate::config::Config;
use crate::settings::BudgetRule;
use crate::work::Adjacency;

/// What the plan depends on.
pub(super) struct Question<'a> {
    pub(super) config: &'a Config,
    /// Rounds of the state machine.
    pub(super) rounds: u32,
    pub(super) sizes: Sizes,
}

/// The plan and the limits that follow from it.
pub(super) struct Answer {
    pub(super) planned: Planned,
    pub(super) budget: Vec<BudgetRule>,
}

/// Finds the noise. TODO(issue 5): ask `account::plan`, which knows the pairwise analyses; until then every message counts as public, which is sound
/// for every scope and wasteful for `worst` and `mean`.
pub(super) fn plan(question: &Question<'_>) -> Result<Answer, SetupError> {
    let config = question.config;
    let training = training(question)?;
    let per_z = if config.privacy.adjacency == Adjacency::Node { 2.0 } else { 1.0 };
    let records = question.sizes.smallest;
    let noise_multiplier = match (config.privacy.epsilon, config.privacy.noise_multiplier) {
        (Some(epsilon), _) => {
            per_z * calibrate::noise_multiplier(&training, records, epsilon, config.privacy.delta)?
        }
        (None, multiplier) => multiplier.unwrap_or(0.0),
    };
    let local = if noise_multiplier == 0.0 {
        f64::INFINITY
    } else {
        let event = Training { noise_multiplier: noise_multiplier / per_z, ..training }.event(records);
        calibrate::epsilon(&event, config.privacy.delta).map_err(calibrate::CalibrateError::from)?
    };
    let planned = Planned { noise_multiplier, analysis: "local".into(), worst: local, mean: local, local };
    Ok(Answer { planned, budget: Vec::new() })
}

/// The contributions of one node as a training of its own.
fn training(question: &Question<'_>) -> Result<Training, SetupError> {
    let config = question.config;
    let rate = match config.privacy.adjacency {
        Adjacency::Record => question.sizes.sampler(config)?.rate(),
        Adjacency::Node => SamplingRate::ALL,
    };
    Ok(Training {
        steps: u64::from(config.rounds.min(question.rounds)),
        rate,
        clip: ClipNorm::new(config.privacy.clip_norm)?,
        noise_multiplier: 1.0,
        schedule: Schedule::Constant { step_size: config.learning_rate },
        optimiser: OptimiserSpec::Sgd { radius: None },
        average: false,
    })
}
