//! Several local steps between two contributions.
//!
//! At node level a node may take any number of plain steps on its own data: only the difference to where it started is
//! clipped and noised, as one contribution. (At record level every step is a release of its own; see [`crate::train`].)

use super::OptimiserSpec;
use super::schedule::StepSizes;
use crate::data::random::Draws;
use crate::gradient::{ExampleGradient, GradientError, Workspace};
use crate::objective::Objective;
use crate::train::TrainError;

/// How a node learns on its own before it contributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSteps {
    /// Number of steps.
    pub steps: u64,
    /// Records per step; all of them where that is not fewer than there are.
    pub batch: usize,
    /// Step sizes.
    pub schedule: StepSizes,
    /// Optimiser; its state does not outlive the contribution.
    pub optimiser: OptimiserSpec,
}

/// The whole update of one node: its parameters after the local steps on its objective minus `params`, not clipped yet.
///
/// Batches are drawn by `seed`; at node level they need not be secret, as all data of the node are protected together.
///
/// # Errors
/// Data that do not fit the model, or steps that make no sense.
pub fn node_update(
    objective: &Objective<'_>,
    params: &[f32],
    local: &LocalSteps,
    seed: u64,
) -> Result<ExampleGradient, TrainError> {
    objective.check(params).map_err(GradientError::from)?;
    let records = objective.data().len();
    local.schedule.validate()?;
    let mut optimiser = local.optimiser.build(params.len())?;
    let mut workspace = Workspace::new(objective.model());
    let mut order: Vec<u32> = (0..records as u32).collect();
    let batch = local.batch.clamp(1, records);
    let mut draws = Draws::new(seed, "local steps");
    let mut moved = params.to_vec();
    for step in 0..local.steps {
        // A partial shuffle: the first `batch` of a fresh permutation.
        for i in 0..if batch < records { batch } else { 0 } {
            order.swap(i, i + draws.below(records - i));
        }
        let gradient = objective.gradient(&moved, &order[..batch], &mut workspace)?;
        optimiser.step(&mut moved, &gradient, local.schedule.at(step));
        workspace.recycle(gradient);
    }
    moved.iter_mut().zip(params).for_each(|(after, &before)| *after -= before);
    Ok(ExampleGradient::of_node(moved))
}

#[cfg(test)]
mod tests {
    use privacy::clip::ClipNorm;
    use privacy::event::DpEvent;
    use privacy::noise::danger_from_seed;

    use super::*;
    use crate::data::{Dataset, Targets};
    use crate::model::Mean;

    fn steps(steps: u64, step_size: f64) -> LocalSteps {
        LocalSteps {
            steps,
            batch: 100,
            schedule: StepSizes::Constant { step_size },
            optimiser: OptimiserSpec::Sgd { radius: None },
        }
    }

    #[test]
    fn local_steps_on_the_mean_go_the_geometric_way_to_the_nodes_mean() {
        let data = Dataset::new(vec![1.0, 3.0], 1, Targets::None).unwrap();
        let mean = Mean::new(1).unwrap();
        let update = node_update(&Objective::new(&mean, &data), &[0.0], &steps(3, 0.5), 1).unwrap();
        let sum = update.clip(ClipNorm::new(10.0).unwrap());
        let (shareable, _) = sum.release(0.0, &mut danger_from_seed(1, "noise")).unwrap();
        // 2·(1 − 2⁻³).
        assert_eq!(shareable.values(), [1.75]);
    }

    #[test]
    fn a_nodes_release_is_charged_for_the_replacement_of_all_its_data() {
        let data = Dataset::new(vec![1.0, 3.0], 1, Targets::None).unwrap();
        let mean = Mean::new(1).unwrap();
        let update = node_update(&Objective::new(&mean, &data), &[0.0], &steps(3, 0.5), 1).unwrap();
        let sum = update.clip(ClipNorm::new(0.5).unwrap());
        let (_, event) = sum.release(3.0, &mut danger_from_seed(1, "noise")).unwrap();
        assert_eq!(event, DpEvent::Gaussian { noise_multiplier: 1.5 });
    }
}
