//! Masks of rounds, and noise on integers. Keys that have no effect in a run are not shown in it.

use privacy::network::masked::default_colluders;
use toml::Value;

use super::MOST_NODES;
use crate::config::error::ConfigError;
use crate::config::field::Special;
use crate::config::form::{whole, word};
use crate::config::keys::{Key, key};
use crate::config::read::{POSITIVE, PROBABILITY, Reader};
use crate::config::{Config, ExchangeKind, GridChoice, Masking, NoiseKind, Proofs};

pub(super) const KEYS: &[Key] = &[
    key(
        "privacy.masking",
        "what hides contributions on their way: none; rounds: pairwise masks, of which only the total of a round is left; mean: gopa, noise that two neighbours share with opposite signs; auto: masks from three nodes on, where there is noise",
        &Special { read: read_masking, show: show_masking, takes: "none, pairwise, gopa, auto" },
    )
    .also(&["masks", "privacy.masks", "secure_aggregation"]),
    key(
        "privacy.proofs",
        "mean, of at most 1,024 numbers and 64 members: what each proves about what it adds under masks; range: that every number is in range and all masks cancel, so that who lies is named and the next attempt goes on without it",
        &Special { read: read_proofs, show: show_proofs, takes: "none, range" },
    )
    .also(&["proofs", "range_proofs", "privacy.range_proofs"]),
    key(
        "privacy.pairwise_noise",
        "gopa: deviation of the noise that two neighbours share, over that of a contribution's own",
        &Special { read: read_pairwise, show: show_pairwise, takes: "positive number" },
    )
    .because("a guess: where all are neighbours, within a ninth of the loss under masks; each one who drops out leaves nine times its own variance with each neighbour"),
    key(
        "privacy.noise",
        "rounds, mean: noise of contributions, gaussian in floating point or discrete, on integers with exact probabilities; masks are always discrete",
        &Special { read: read_noise, show: show_noise, takes: "gaussian, discrete" },
    ),
    key(
        "privacy.colluders",
        "masks, gopa: members that may pool what they know; privacy.epsilon is met against any so many",
        &Special { read: read_colluders, show: show_colluders, takes: "whole number from 1" },
    )
    .because("fewer than a third of the members and at least one, as for agreement"),
    key(
        "privacy.least",
        "masks: fewest honest members whose noise hides a contribution; with fewer, no data are added",
        &Special { read: read_least, show: show_least, takes: "whole number from 1" },
    ),
    key(
        "privacy.inspect",
        "masks: part of the rounds that are looked into by a public coin, after they are over: 32 public random projections of every contribution, so that who adds too much is named; rounds whose total is too long are looked into whatever it is, but for small models, where that would show too much",
        &Special { read: read_inspect, show: show_inspect, takes: "number from 0 to 1, or \"auto\"" },
    )
    .because("0 below 10,000 parameters, else 0.02; each costs a step of its own, for which plans keep room, or, for samples, has its part in the price of every round"),
    key(
        "privacy.grid",
        "masks, discrete noise: bits of a word",
        &Special { read: read_grid, show: show_grid, takes: "auto, 32, 64" },
    )
    .because("32 bits where rounding then adds at most a hundredth to the sensitivity"),
    key(
        "privacy.largest",
        "masks, discrete noise: largest coordinate of a contribution in clip norms; what is beyond is held there",
        &Special { read: read_largest, show: show_largest, takes: "whole number from 1, or \"auto\"" },
    ),
];

/// A row of the section before.
pub(super) const EXCHANGE: Key = key(
    "algorithm.exchange",
    "masks: how words are added up, doubling (whole vectors to everybody met) or halving (each member adds up a part, then parts are gathered: fewer bytes, more messages)",
    &Special { read: read_exchange, show: show_exchange, takes: "auto, doubling, halving" },
)
.because("halving from 10,000 parameters on, under masks; the total has the same bits");

/// Words for masks.
const MASKINGS: &[(&str, Said)] = &[
    ("none", Said::Is(Masking::None)),
    ("pairwise", Said::Is(Masking::Pairwise)),
    ("auto", Said::Auto),
    ("gopa", Said::Is(Masking::Gopa)),
];

/// What was said about masks.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Is(Masking),
    /// Masks where there is somebody to hide among and noise to hide by.
    Auto,
}

/// Beside one other a contribution is hidden by both noises.
const LEAST: u64 = 2;
/// σ_Δ/σ_η.
const PAIRWISE_NOISE: f64 = 3.0;
const NOISES: &[(&str, NoiseKind)] = &[("gaussian", NoiseKind::Gaussian), ("discrete", NoiseKind::Discrete)];
const PROOFS: &[(&str, Proofs)] = &[("none", Proofs::None), ("range", Proofs::Range)];
const GRIDS: &[(&str, GridChoice)] =
    &[("auto", GridChoice::Auto), ("32", GridChoice::Bits32), ("64", GridChoice::Bits64)];
const EXCHANGES: &[(&str, ExchangeKind)] =
    &[("auto", ExchangeKind::Auto), ("doubling", ExchangeKind::Doubling), ("halving", ExchangeKind::Halving)];

fn read_masking(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let said = reader.word(key, Said::Is(Masking::Unsaid), MASKINGS)?;
    let rounds = config.algorithm.kind.has_totals();
    config.privacy.masking = match said {
        Said::Is(Masking::Pairwise | Masking::Gopa) if config.algorithm.kind.is_comparison() => {
            Masking::Unsaid
        }
        Said::Is(masking) => masking,
        Said::Auto if rounds && may_hide(config) && has_noise(reader, config)? => Masking::Pairwise,
        Said::Auto => Masking::Unsaid,
    };
    Ok(())
}

/// Whether there is somebody to hide among, and nobody who must see what is hidden.
fn may_hide(config: &Config) -> bool {
    config.nodes >= 3 && config.tolerate.is_none()
}

/// Whether contributions get noise that masks can count on: integers are the only kind.
fn has_noise(reader: &Reader<'_>, config: &Config) -> Result<bool, ConfigError> {
    let gaussian = reader.is_given("privacy.noise")
        && reader.word("privacy.noise", NoiseKind::Discrete, NOISES)? == NoiseKind::Gaussian;
    let privacy = &config.privacy;
    Ok(!gaussian && privacy.epsilon != Some(f64::INFINITY) && privacy.noise_multiplier != Some(0.0))
}

fn show_masking(config: &Config) -> Option<Value> {
    let said = config.privacy.masking != Masking::Unsaid;
    said.then(|| name_of(MASKINGS, &Said::Is(config.privacy.masking)))
}

/// Proofs are about masks: who asks for them has asked for these.
fn read_proofs(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let said = reader.word(key, Proofs::None, PROOFS)?;
    if said == Proofs::Range && !config.algorithm.kind.is_comparison() {
        config.privacy.proofs = said;
        if config.privacy.masking == Masking::Unsaid {
            config.privacy.masking = Masking::Pairwise;
        }
    }
    Ok(())
}

fn show_proofs(config: &Config) -> Option<Value> {
    let asked = config.privacy.proofs != Proofs::None;
    asked.then(|| name_of(PROOFS, &config.privacy.proofs))
}

fn read_pairwise(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.privacy.pairwise_noise = reader.number(key, PAIRWISE_NOISE, POSITIVE)?;
    Ok(())
}

fn show_pairwise(config: &Config) -> Option<Value> {
    let privacy = &config.privacy;
    let shown = privacy.masking == Masking::Gopa || privacy.pairwise_noise != PAIRWISE_NOISE;
    shown.then_some(Value::Float(privacy.pairwise_noise))
}

fn read_noise(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let default = match config.privacy.masking {
        Masking::Unsaid | Masking::None | Masking::Gopa => NoiseKind::Gaussian,
        Masking::Pairwise => NoiseKind::Discrete,
    };
    config.privacy.noise = reader.word(key, default, NOISES)?;
    Ok(())
}

fn show_noise(config: &Config) -> Option<Value> {
    let discrete = config.privacy.noise == NoiseKind::Discrete;
    discrete.then(|| name_of(NOISES, &config.privacy.noise))
}

fn read_colluders(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let default = default_colluders(config.nodes as u64);
    config.privacy.colluders = reader.count(key, default, 1..=MOST_NODES)? as usize;
    Ok(())
}

fn read_least(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.privacy.least = reader.count(key, LEAST, 1..=MOST_NODES)? as usize;
    Ok(())
}

fn read_inspect(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.privacy.inspect = reader.number_or(key, "auto", PROBABILITY)?;
    Ok(())
}

fn show_inspect(config: &Config) -> Option<Value> {
    config.privacy.inspect.map(Value::Float)
}

fn read_grid(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.privacy.grid = reader.word(key, GridChoice::Auto, GRIDS)?;
    Ok(())
}

fn show_grid(config: &Config) -> Option<Value> {
    let shown = on_grid(config) || config.privacy.grid != GridChoice::Auto;
    shown.then(|| name_of(GRIDS, &config.privacy.grid))
}

fn read_largest(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.privacy.largest = reader.count_or(key, "auto")?;
    Ok(())
}

fn show_largest(config: &Config) -> Option<Value> {
    let shown = on_grid(config) || config.privacy.largest.is_some();
    shown.then(|| config.privacy.largest.map_or_else(|| word("auto"), whole))
}

fn read_exchange(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.algorithm.exchange = reader.word(key, ExchangeKind::Auto, EXCHANGES)?;
    Ok(())
}

fn show_exchange(config: &Config) -> Option<Value> {
    let given = config.algorithm.exchange != ExchangeKind::Auto;
    given.then(|| name_of(EXCHANGES, &config.algorithm.exchange))
}

fn show_colluders(config: &Config) -> Option<Value> {
    let (colluders, default) = (config.privacy.colluders, default_colluders(config.nodes as u64));
    let named = is_masked(config) || config.privacy.masking == Masking::Gopa;
    (named || colluders as u64 != default).then(|| whole(colluders))
}

fn show_least(config: &Config) -> Option<Value> {
    (is_masked(config) || config.privacy.least as u64 != LEAST).then(|| whole(config.privacy.least))
}

fn is_masked(config: &Config) -> bool {
    config.privacy.masking == Masking::Pairwise
}

fn on_grid(config: &Config) -> bool {
    let kind = config.algorithm.kind;
    config.privacy.noise == NoiseKind::Discrete && kind.takes_integers()
}

fn name_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> Value {
    word(words.iter().find(|(_, meant)| meant == value).map_or("", |(name, _)| name))
}
