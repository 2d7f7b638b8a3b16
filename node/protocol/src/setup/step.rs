//! The step that all nodes take with a sum of contributions, and what is certified of it.

use learn::model::{self, Model};
use learn::optimiser::{OptimiserSpec, StepSizes};

use super::data::Sizes;
use super::differing;
use crate::config::Config;
use crate::settings::StepRule;
use crate::work::Adjacency;

/// Records: the optimiser steps with the learning rate. Nodes: they did so on their own, and the mean of their updates is applied as it is.
///
/// A slot's sum is divided by contributors over slots, a public number: the mean over all contributors is too small by the number of slots, and the step is
/// longer by as much. Adam's steps have one length whatever the scale.
pub(super) fn step_rule(config: &Config, model: &dyn Model) -> StepRule {
    let share = match config.optimiser {
        OptimiserSpec::Adam {} => 1.0,
        OptimiserSpec::Sgd { .. } | OptimiserSpec::Momentum { .. } => config.clusters.slots as f64,
    };
    match config.privacy.adjacency {
        Adjacency::Record | Adjacency::Person => StepRule {
            sizes: StepSizes::Constant { step_size: config.learning_rate * share },
            optimiser: config.optimiser,
            penalty: model.penalty() / share,
        },
        Adjacency::Node => StepRule {
            sizes: StepSizes::Constant { step_size: differing::node_step(config) },
            optimiser: match config.optimiser {
                // A ball is kept by everybody, noise or not.
                OptimiserSpec::Sgd { radius } => OptimiserSpec::Sgd { radius },
                OptimiserSpec::Momentum { .. } | OptimiserSpec::Adam {} => {
                    OptimiserSpec::Sgd { radius: None }
                }
            },
            // The local steps had it already.
            penalty: 0.0,
        },
    }
}

/// ρ of one step on records; nothing is certified for several local steps or for optimisers with a memory.
pub(super) fn rho(config: &Config, model: &dyn Model, row_norm: f64, sizes: Sizes) -> Option<f64> {
    let plain = matches!(config.optimiser, OptimiserSpec::Sgd { .. });
    if config.privacy.adjacency != Adjacency::Record || !plain {
        return None;
    }
    let weight = match config.batch_size {
        None => sizes.largest? as f64 / sizes.mean?,
        // A Poisson sample may happen to be everything.
        Some(batch) => sizes.largest? as f64 / batch as f64,
    };
    model::certified_rho(
        model,
        row_norm,
        config.learning_rate,
        Some(config.privacy.clip_norm),
        weight.max(1.0),
    )
}
