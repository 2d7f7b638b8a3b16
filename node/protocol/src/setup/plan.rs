//! The noise of a run, what it will cost, and the limits that keep it so.

use crate::account::{self, Aim, NoisePlan, Protects, Question, Shape, Visibility};
use crate::config::{AlgorithmKind, Config};
use crate::settings::Settings;
use crate::work::Adjacency;

use super::data::Sizes;
use super::error::SetupError;

/// How much less noise, or loss, makes one plan better than another: members must choose alike, and last digits depend on the processor.
const CLEARLY: f64 = 0.999;

/// Plans the run of these settings. Where records are sampled, looks into masked rounds are priced by themselves, or as a part of every round, which is amplified: by whichever
/// needs less noise. Both are bounds, and it is said before the run which of them holds.
pub(super) fn cheapest(
    config: &Config,
    settings: &mut Settings,
    rho: Option<f64>,
    sizes: Sizes,
) -> Result<NoisePlan, SetupError> {
    let apart = plan(config, &super::shape(config, settings, rho), sizes);
    let sampled = matches!(protects(config, sizes)?, Protects::Record { rate } if rate < 1.0);
    if settings.algorithm.looks().is_none() || !sampled {
        return apart;
    }
    let algorithm = settings.algorithm.clone().with_look_in_every_round();
    let always = Settings { algorithm, ..settings.clone() };
    let Ok(together) = plan(config, &super::shape(config, &always, rho), sizes) else { return apart };
    let size = |plan: &NoisePlan| (plan.planned.noise_multiplier, dearest(plan));
    let better = apart.as_ref().map_or(true, |apart| {
        let ((noise, loss), (other, other_loss)) = (size(&together), size(apart));
        noise < CLEARLY * other || (noise <= other && loss < CLEARLY * other_loss)
    });
    if !better {
        return apart;
    }
    settings.algorithm = always.algorithm;
    Ok(together)
}

/// Towards whom most is lost of those against whom masks hold.
fn dearest(plan: &NoisePlan) -> f64 {
    plan.planned.coalition.map_or(plan.planned.worst, |(_, epsilon)| epsilon)
}

/// Plans the run of `shape`. What is compared with in the simulator is public to everybody; `central` finds its own noise there.
fn plan(config: &Config, shape: &Shape, sizes: Sizes) -> Result<NoisePlan, SetupError> {
    let protects = protects(config, sizes)?;
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

fn protects(config: &Config, sizes: Sizes) -> Result<Protects, SetupError> {
    Ok(match config.privacy.adjacency {
        Adjacency::Record | Adjacency::Person => {
            Protects::Record { rate: sizes.sampler(config)?.rate().probability() }
        }
        Adjacency::Node => Protects::Node,
    })
}

/// Contributions of a node: at record level each local step of `fedavg` is one.
fn releases(config: &Config, rounds: u32) -> u32 {
    let steps = u32::try_from(config.local_steps).unwrap_or(u32::MAX);
    match (config.algorithm.kind, config.privacy.adjacency) {
        (AlgorithmKind::Fedavg, Adjacency::Record | Adjacency::Person) => rounds.saturating_mul(steps),
        _ => rounds,
    }
}
