//! The noise of a run, what it will cost, and the limits that keep it so.

use crate::account::{self, Aim, NoisePlan, Protects, Question, Shape, Visibility};
use crate::config::{AlgorithmKind, Config};
use crate::work::Adjacency;

use super::data::Sizes;
use super::error::SetupError;

/// Plans the run of `shape`. What is compared with in the simulator is public to everybody; `central` finds its own noise there.
pub(super) fn plan(config: &Config, shape: &Shape, sizes: Sizes) -> Result<NoisePlan, SetupError> {
    let protects = match config.privacy.adjacency {
        Adjacency::Record | Adjacency::Person => {
            Protects::Record { rate: sizes.sampler(config)?.rate().probability() }
        }
        Adjacency::Node => Protects::Node,
    };
    let kind = config.algorithm.kind;
    let visibility = if kind.is_comparison() { Visibility::Public } else { Visibility::Network };
    let aim = match (config.privacy.epsilon, config.privacy.noise_multiplier) {
        (Some(epsilon), _) => Aim::Epsilon { epsilon, scope: config.privacy.target },
        (None, multiplier) => Aim::Noise(multiplier.unwrap_or(0.0)),
    };
    let releases = releases(config, shape.rounds);
    let shape = &Shape { rounds: releases, ..shape.clone() };
    Ok(account::plan(&Question { shape, protects, visibility }, aim)?)
}

/// Contributions of a node: at record level each local step of `fedavg` is one.
fn releases(config: &Config, rounds: u32) -> u32 {
    let steps = u32::try_from(config.local_steps).unwrap_or(u32::MAX);
    match (config.algorithm.kind, config.privacy.adjacency) {
        (AlgorithmKind::Fedavg, Adjacency::Record | Adjacency::Person) => rounds.saturating_mul(steps),
        _ => rounds,
    }
}
