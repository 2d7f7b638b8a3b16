//! What must fit together in a configuration, after every key was read.

use learn::model::ModelSpec;
use learn::partition::PartitionError;
use topology::{Hint, ScheduleSpec};

use super::error::ConfigError;
use super::read::Reader;
use super::{
    AlgorithmKind, Config, ExchangeKind, Masking, NoiseKind, Proofs, differing, faults, keys, robust,
};
use crate::work::Adjacency;

/// Everything.
pub(super) fn all(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    algorithm(reader, config)?;
    late(reader, config)?;
    if !config.algorithm.kind.trains() {
        one_shot(reader, config)?;
    }
    config.partition.check().map_err(|error| partition(reader, &error))?;
    noise(reader)?;
    robust::check(reader, config)?;
    super::proofs::check(reader, config)?;
    masks(reader, config)?;
    super::pairwise::check(reader, config)?;
    discrete_noise(reader, config)?;
    local_steps(reader, config)?;
    differing::check(reader, config)?;
    persons(reader, config)?;
    faults::check(&config.faults, config.nodes).map_err(|(key, why)| reader.bad(key, why, None))
}

fn algorithm(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let algorithm = &config.algorithm;
    if algorithm.accelerate && algorithm.schedule != ScheduleSpec::Fixed {
        return Err(ConfigError::Conflict {
            first: reader.pair("algorithm.schedule", &algorithm.schedule),
            second: "algorithm.accelerate = true".into(),
            why: "acceleration needs the same matrix in each step".into(),
            hint: "leave one of them out".into(),
            place: reader.place("algorithm.accelerate"),
        });
    }
    if algorithm.tokens > config.nodes {
        let why = format!("there are only {} nodes to start from", config.nodes);
        return Err(reader.bad("algorithm.tokens", why, None));
    }
    Ok(())
}

/// Only decisions let anybody in later.
fn late(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    if !config.late || config.algorithm.kind.has_totals() {
        return Ok(());
    }
    Err(ConfigError::Conflict {
        first: reader.pair("algorithm.kind", config.algorithm.kind.name()),
        second: reader.pair("members.late", "true"),
        why: "nobody decides who is let in".into(),
        hint: "use `algorithm.kind = \"rounds\"`, or leave `members.late` out".into(),
        place: reader.place("members.late"),
    })
}

/// One-shot averaging has one round, no model, and one value for all records of a node.
fn one_shot(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let conflict = |key: &'static str, shown: &str, why: &str, hint: &str| ConfigError::Conflict {
        first: "algorithm.kind = \"mean\"".into(),
        second: reader.pair(key, shown),
        why: why.into(),
        hint: hint.into(),
        place: reader.place(key),
    };
    if config.rounds > 1 {
        let hint = "use `algorithm.mixing_steps` for the number of steps, and leave `rounds` out";
        return Err(conflict("rounds", &config.rounds.to_string(), "one-shot averaging has one round", hint));
    }
    if config.model != (ModelSpec::Mean {}) {
        let hint = "leave `model` out, or use `algorithm.kind = \"rounds\"`";
        return Err(conflict("model.kind", "", "one-shot averaging trains no model", hint));
    }
    if config.privacy.adjacency.is_sampled() {
        let why = "a node's one value stands for all its records";
        let unit = config.privacy.adjacency.word();
        return Err(conflict("privacy.unit", unit, why, "use `privacy.unit = \"node\"`"));
    }
    Ok(())
}

fn partition(reader: &Reader<'_>, error: &PartitionError) -> ConfigError {
    let key = match error {
        PartitionError::BadParameter { name, .. } => keys::known(&format!("partition.{name}")),
        _ => None,
    };
    reader.bad(key.unwrap_or("partition.min_size"), error.to_string(), error.hint())
}

fn noise(reader: &Reader<'_>) -> Result<(), ConfigError> {
    if !(reader.is_given("privacy.epsilon") && reader.is_given("privacy.noise_multiplier")) {
        return Ok(());
    }
    Err(ConfigError::Conflict {
        first: reader.pair("privacy.epsilon", ""),
        second: reader.pair("privacy.noise_multiplier", ""),
        why: "each of them decides how much noise there is".into(),
        hint: "give one of them".into(),
        place: reader.place("privacy.noise_multiplier"),
    })
}

/// The curator of the comparison samples records.
fn persons(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    if config.privacy.adjacency != Adjacency::Person {
        return Ok(());
    }
    if matches!(config.model, ModelSpec::External { .. }) {
        return Err(ConfigError::Conflict {
            first: reader.pair("privacy.unit", "person"),
            second: reader.pair("model.kind", "external"),
            why: "a trainer says how many records it has, and not whose they are".into(),
            hint: "use `privacy.unit = \"record\"` or `\"node\"`".into(),
            place: reader.place("privacy.unit"),
        });
    }
    if config.algorithm.kind != AlgorithmKind::Central {
        return Ok(());
    }
    Err(ConfigError::Conflict {
        first: reader.pair("privacy.unit", "person"),
        second: reader.pair("algorithm.kind", "central"),
        why: "the curator of this comparison samples records, not persons".into(),
        hint: "compare with `algorithm.kind = \"local\"` or `\"alone\"`".into(),
        place: reader.place("privacy.unit"),
    })
}

/// At record level every step is a release of its own.
fn local_steps(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let allowed =
        config.algorithm.kind == AlgorithmKind::Fedavg || config.privacy.adjacency == Adjacency::Node;
    if config.local_steps == 1 || allowed {
        return Ok(());
    }
    Err(ConfigError::Conflict {
        first: reader.pair("privacy.unit", config.privacy.adjacency.word()),
        second: reader.pair("local_steps", config.local_steps),
        why: "where records or persons are protected every step is a contribution of its own".into(),
        hint: "use `privacy.unit = \"node\"`, or more `rounds` with `local_steps = 1`".into(),
        place: reader.place(if reader.is_given("local_steps") { "local_steps" } else { "privacy.unit" }),
    })
}

/// Masks need a total that all take part in, three members, somebody to hide behind, and noise that hides.
fn masks(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let (privacy, nodes) = (&config.privacy, config.nodes);
    if privacy.masking != Masking::Pairwise {
        return if config.algorithm.exchange == ExchangeKind::Halving {
            Err(ConfigError::Conflict {
                first: reader.pair("privacy.masking", "none"),
                second: reader.pair("algorithm.exchange", "halving"),
                why: "whoever adds up a part would see others' contributions to it: without masks a first partner has half of the coordinates whole".into(),
                hint: "use `algorithm.exchange = \"doubling\"`, or `privacy.masking = \"pairwise\"`".into(),
                place: reader.place("algorithm.exchange"),
            })
        } else {
            Ok(())
        };
    }
    let conflict = |key: &'static str, shown: &dyn std::fmt::Display, why: &str, hint: &str| {
        let first = reader.pair("privacy.masking", "pairwise");
        let place = reader.place(if reader.is_given("privacy.masking") { "privacy.masking" } else { key });
        Err(ConfigError::Conflict {
            first,
            second: reader.pair(key, shown),
            why: why.into(),
            hint: hint.into(),
            place,
        })
    };
    if !config.algorithm.kind.has_totals() && config.privacy.proofs == Proofs::None {
        let why = "masks cancel only where all contributions are added up";
        let hint = "use `algorithm.kind = \"rounds\"`, or `privacy.masking = \"none\"`";
        return conflict("algorithm.kind", &config.algorithm.kind.name(), why, hint);
    }
    if nodes < 3 {
        let why = "of a total of two, each knows the other's part";
        return conflict("nodes", &nodes, why, "use at least 3 nodes, or `privacy.masking = \"none\"`");
    }
    if privacy.colluders >= nodes - 1 {
        let why = format!("of {nodes} members at least two must be left, or nobody hides a contribution");
        let hint = format!("use `privacy.colluders` of at most {}", nodes - 2);
        return conflict("privacy.colluders", &privacy.colluders, &why, &hint);
    }
    if nodes - privacy.colluders < privacy.least {
        let why =
            format!("{} members are left beside {} colluders", nodes - privacy.colluders, privacy.colluders);
        return conflict(
            "privacy.least",
            &privacy.least,
            &why,
            "use fewer `privacy.colluders`, or a smaller `privacy.least`",
        );
    }
    if privacy.noise == NoiseKind::Gaussian {
        let why = "sums modulo 2³² need noise on integers";
        return conflict("privacy.noise", &"gaussian", why, "leave `privacy.noise` out");
    }
    Ok(())
}

/// Integer noise is there where contributions are released on a grid, and where there is noise at all.
fn discrete_noise(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let privacy = &config.privacy;
    if privacy.noise == NoiseKind::Gaussian || config.algorithm.kind.is_comparison() {
        return Ok(());
    }
    let conflict = |key: &'static str, shown: &dyn std::fmt::Display, why: &str, hint: &str| {
        let first = reader.pair("privacy.noise", "discrete");
        let place = reader.place("privacy.noise");
        Err(ConfigError::Conflict {
            first,
            second: reader.pair(key, shown),
            why: why.into(),
            hint: hint.into(),
            place,
        })
    };
    if !config.algorithm.kind.takes_integers() {
        let hint = "use `privacy.noise = \"gaussian\"`, or `algorithm.kind = \"rounds\"`";
        return conflict(
            "algorithm.kind",
            &config.algorithm.kind.name(),
            "`rounds` and `mean` have it",
            hint,
        );
    }
    if privacy.epsilon == Some(f64::INFINITY) || privacy.noise_multiplier == Some(0.0) {
        let key =
            if privacy.noise_multiplier.is_some() { "privacy.noise_multiplier" } else { "privacy.epsilon" };
        let hint = "leave `privacy.masking` and `privacy.noise` out, or ask for noise";
        return conflict(key, &"no noise", "a grid without noise hides nothing", hint);
    }
    Ok(())
}
