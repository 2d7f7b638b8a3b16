//! What a configuration says about nodes whose data differ: models of their own, several shared ones, what is remembered.

use learn::model::Model;
use learn::personal::{Free, Lambda, Personal};
use topology::schedule::{RunKey, shuffled_order};

use super::error::SetupError;
use crate::account::Kept;
use crate::config::{Config, Correction, PersonalKind};
use crate::settings::Settings;
use crate::work::{Adaptive, Adjacency, Choices, Differing, Drift, Layout, Quantile, Slots};

/// Parts of a run after which a node chooses anew: measured on digits.
const CHOSEN_AFTER: [f64; 4] = [0.1, 0.2, 0.3, 0.5];
/// No round of an exchange: the deal has an order of its own.
const DEAL: u64 = 1 << 40;

/// How nodes make models of their own, where they do.
pub(super) fn personal(config: &Config, model: &dyn Model) -> Result<Option<Personal>, SetupError> {
    let said = &config.personal;
    if said.kind == PersonalKind::None || !config.algorithm.kind.trains() {
        return Ok(None);
    }
    Ok(Some(Personal {
        lambda: said.lambda.map_or(Lambda::Auto, Lambda::Is),
        steps: said.steps,
        alone_steps: said.steps.max(u64::from(config.rounds)),
        free: Free::named(model, &said.parameters)?,
        seed: config.seed,
    }))
}

/// What travels as one vector.
pub(super) fn layout(config: &Config, model: &dyn Model) -> Layout {
    let with_clip = config.privacy.clip_quantile.is_some() && config.algorithm.kind.trains();
    Layout { parameters: model.parameter_count(), slots: config.clusters.slots, with_clip }
}

/// The first models, one after another, each slot with a seed of its own; behind them what else travels.
pub(super) fn initial(config: &Config, model: &dyn Model) -> Vec<f32> {
    let seed = |slot: u64| config.seed.wrapping_add(slot.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let models = (0..config.clusters.slots as u64).flat_map(|slot| model.initial(seed(slot)));
    let log_clip = layout(config, model).with_clip.then(|| libm::log(config.privacy.clip_norm) as f32);
    models.chain(log_clip).collect()
}

/// How far a node-level run steps with the mean of all contributions: that of a slot is divided by contributors over slots, and where nodes stay out by those
/// that are expected. Both are public numbers, and no count travels.
pub(super) fn node_step(config: &Config) -> f64 {
    config.clusters.slots as f64 / config.algorithm.check_in
}

/// Whether honest contributions have no bound that everybody knows.
pub(super) fn is_unbounded(config: &Config) -> bool {
    config.privacy.clip_quantile.is_some() || config.algorithm.correction == Correction::D2
}

/// Whether contributions depend on a node's own earlier noise.
pub(super) fn own_noise_returns(config: &Config) -> bool {
    config.local.scaffold || config.algorithm.correction == Correction::D2
}

/// What contributions have besides the plain ones; `None` where nothing is asked for.
pub(super) fn differing(
    config: &Config,
    layout: Layout,
    settings: &Settings,
    noise_multiplier: f64,
) -> Option<Differing> {
    let drift = match (config.local.scaffold, config.algorithm.correction) {
        (true, _) => Drift::Scaffold { way: config.local_steps as f64 * config.learning_rate },
        (false, Correction::D2) => Drift::D2 { rate: settings.step.sizes.at(0) },
        (false, Correction::None) => Drift::None,
    };
    let check_in = config.algorithm.check_in;
    let plain = layout == Layout::plain(layout.parameters) && drift == Drift::None && check_in >= 1.0;
    if plain || !config.algorithm.kind.trains() {
        return None;
    }
    let adaptive = config.privacy.clip_quantile.map(|quantile| Adaptive {
        rule: Quantile::new(quantile),
        first: config.privacy.clip_norm,
        noise_multiplier,
        bit_noise: Quantile::bit_noise(noise_multiplier, config.nodes),
        step_size: settings.step.sizes.at(0),
    });
    let slots = slots(config, &settings.key, noise_multiplier);
    Some(Differing { layout, slots, adaptive, drift, check_in })
}

/// How nodes take one of several models; `None` where there is one.
fn slots(config: &Config, key: &RunKey, noise_multiplier: f64) -> Option<Slots> {
    let clusters = &config.clusters;
    if clusters.slots < 2 {
        return None;
    }
    let mut dealt = vec![0; config.nodes];
    for (at, node) in shuffled_order(key, DEAL, config.nodes).into_iter().enumerate() {
        dealt[node as usize] = (at % clusters.slots) as u16;
    }
    let deal = (clusters.deal * f64::from(config.rounds)).ceil() as u32;
    // Without noise nothing is protected, and nobody need choose in private.
    let choices =
        (noise_multiplier > 0.0 && config.privacy.adjacency == Adjacency::Record).then(|| Choices {
            rounds: chosen_before(config, deal),
            noise_multiplier: clusters.choice_noise,
            clip: clusters.loss_clip,
        });
    Some(Slots { dealt: dealt.into(), deal, choices })
}

/// The rounds before which nodes choose: the measured ones first, further ones evenly over the second half.
fn chosen_before(config: &Config, deal: u32) -> Vec<u32> {
    let count = config.clusters.choices as usize;
    let further = count.saturating_sub(CHOSEN_AFTER.len());
    let later = (1..=further).map(|at| 0.5 + 0.5 * at as f64 / (further + 1) as f64);
    let parts = CHOSEN_AFTER.into_iter().take(count).chain(later);
    parts.map(|part| ((part * f64::from(config.rounds)).ceil() as u32).max(deal)).collect()
}

/// What nodes release and keep, besides their contributions.
pub(super) fn kept(config: &Config) -> Option<Kept> {
    let privacy = &config.privacy;
    let noise = privacy.epsilon.map_or(privacy.noise_multiplier.unwrap_or(0.0) > 0.0, f64::is_finite);
    let chosen = config.clusters.slots > 1 && privacy.adjacency == Adjacency::Record && noise;
    chosen.then(|| Kept {
        noise_multiplier: config.clusters.choice_noise,
        count: u64::from(config.clusters.choices),
    })
}
