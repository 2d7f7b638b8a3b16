//! What must fit together in a configuration, after every key was read.

use learn::model::ModelSpec;
use learn::partition::PartitionError;
use topology::{Hint, ScheduleSpec};

use super::error::ConfigError;
use super::read::Reader;
use super::{AlgorithmKind, Config, faults, keys};
use crate::work::Adjacency;

/// Everything.
pub(super) fn all(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    algorithm(reader, config)?;
    if !config.algorithm.kind.trains() {
        one_shot(reader, config)?;
    }
    config.partition.check().map_err(|error| partition(reader, &error))?;
    noise(reader)?;
    local_steps(reader, config)?;
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
    if config.privacy.adjacency == Adjacency::Record {
        let why = "a node's one value stands for all its records";
        return Err(conflict("privacy.adjacency", "record", why, "use `privacy.adjacency = \"node\"`"));
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

/// At record level every step is a release of its own.
fn local_steps(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let allowed =
        config.algorithm.kind == AlgorithmKind::Fedavg || config.privacy.adjacency == Adjacency::Node;
    if config.local_steps == 1 || allowed {
        return Ok(());
    }
    Err(ConfigError::Conflict {
        first: reader.pair("privacy.adjacency", "record"),
        second: reader.pair("local_steps", config.local_steps),
        why: "where records are protected every step is a contribution of its own".into(),
        hint: "use `privacy.adjacency = \"node\"`, or more `rounds` with `local_steps = 1`".into(),
        place: reader.place(if reader.is_given("local_steps") { "local_steps" } else { "privacy.adjacency" }),
    })
}
