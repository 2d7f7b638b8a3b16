//! Keys without a section: who takes part, for how long, on which data and graph.

use learn::data::DataError;
use topology::{Hint, SpecError, TopologyError};

use super::{MOST_NODES, STORY};
use crate::config::error::ConfigError;
use crate::config::field::{In, Special, at};
use crate::config::form::Otherwise::{By, Is};
use crate::config::form::{Count, CountOr, Number, Parsed, whole, word};
use crate::config::keys::{Key, key};
use crate::config::read::{BELOW_ONE, POSITIVE, Reader, Rule};
use crate::config::{Config, graph};

pub(super) const KEYS: &[Key] = &[
    key("name", "name of the run and of its folder", &Special { read: read_name, show: |config| Some(word(&config.name)), takes: "text" }),
    key(
        "purpose",
        "what the run is for, in words; reports quote it",
        &Special {
            read: read_purpose,
            show: |config| (!config.purpose.is_empty()).then(|| word(&config.purpose)),
            takes: "text",
        },
    )
    .also(&["description", "goal"]),
    key(
        "nodes",
        "number of participants; a topology with a size of its own decides where it is left out",
        &Special { read: read_nodes, show: |config| Some(whole(config.nodes)), takes: "whole number from 1" },
    )
    .also(&["n", "clients", "peers"]),
    key(
        "rounds",
        "rounds; for a walk one round is as many hops as there are nodes",
        &In(at!(rounds), Count { otherwise: By(rounds), least: 1, most: u32::MAX as u64 }),
    )
    .also(&["epochs", "steps"])
    .because(STORY),
    key(
        "local_steps",
        "steps on a node's own data before it contributes (node level)",
        &In(at!(local_steps), Count { otherwise: Is(1), least: 1, most: 1_000_000 }),
    ),
    key("batch_size", "expected records per step, or \"all\"", &In(at!(batch_size), CountOr { all: "all" })).also(&["batch"]),
    key("learning_rate", "step size", &In(at!(learning_rate), Number { otherwise: 2.0, rule: POSITIVE }))
        .also(&["lr", "step_size", "eta"])
        .because(STORY),
    key(
        "average",
        "rounds: last part of the rounds whose models are averaged into the result (0.25: the last quarter); 0: the last model alone",
        &In(at!(average), Number { otherwise: 0.0, rule: PART }),
    )
    .later(),
    key(
        "seed",
        "root of all randomness of a simulation, of the partition and the first model",
        &In(at!(seed), Count { otherwise: Is(1), least: 0, most: i64::MAX as u64 }),
    ),
    key(
        "data",
        "data source, as for `murmur data`",
        &In(at!(data), Parsed { otherwise: "digits", hint: DataError::hint, takes: "text" }),
    )
    .also(&["dataset"])
    .own(),
    key(
        "test_fraction",
        "part of the data kept apart for testing where the source has no test set",
        &In(at!(test_fraction), Number { otherwise: 0.2, rule: BELOW_ONE }),
    ),
    key(
        "turned",
        "to compare: images of node i are turned by 90° (i mod this) times; 1: none",
        &In(at!(turned), Count { otherwise: Is(1), least: 1, most: 4 }),
    )
    .simulated(),
    key(
        "topology",
        "graph, as for `murmur topology`; without a size it gets `nodes`",
        &Special { read: read_topology, show: |config| Some(word(&config.topology)), takes: "text" },
    )
    .also(&["graph"])
    .because("takes any number of nodes from 2; about 2·log₂ n neighbours each, and mixing takes about log n steps (Ying et al. 2021)"),
    key(
        "weights",
        "gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, file:PATH",
        &In(at!(weights), Parsed { otherwise: "metropolis", hint: TopologyError::hint, takes: "text" }),
    ),
];

const PART: Rule = Rule { fits: |x| (0.0..=1.0).contains(&x), must: "must be from 0 to 1" };
/// Participants of the built-in story.
const NODES: u64 = 64;
const TOPOLOGY: &str = "exponential";

/// A name is a folder: no separators, nothing hidden.
fn read_name(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let name = reader.text(key, "run")?;
    let allowed = |letter: char| letter.is_alphanumeric() || "-_.+= ".contains(letter);
    if name.is_empty() || name.starts_with(['.', ' ']) || !name.chars().all(allowed) || name.len() > 200 {
        let why = "must be a name for a folder: letters, digits, `-`, `_`, `.`, not beginning with a dot";
        return Err(reader.bad(key, why.into(), None));
    }
    config.name = name;
    Ok(())
}

/// Longest purpose: a report has a line or two for it.
const LONGEST_PURPOSE: usize = 300;

fn read_purpose(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let purpose = reader.text(key, "")?.trim().to_owned();
    if purpose.chars().count() > LONGEST_PURPOSE || purpose.chars().any(char::is_control) {
        return Err(reader.bad(key, format!("must be one line of at most {LONGEST_PURPOSE} letters"), None));
    }
    config.purpose = purpose;
    Ok(())
}

/// One-shot averaging has one round.
fn rounds(config: &Config) -> u64 {
    if config.algorithm.kind.trains() { 160 } else { 1 }
}

fn topology_text(reader: &Reader<'_>) -> Result<String, ConfigError> {
    Ok(reader.text("topology", TOPOLOGY)?.trim().to_owned())
}

fn bad_topology(reader: &Reader<'_>) -> impl Fn(SpecError) -> ConfigError {
    |error| reader.bad("topology", error.to_string(), error.hint())
}

/// The number of nodes, which a topology may decide.
fn read_nodes(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let topology = topology_text(reader)?;
    let own = graph::own_nodes(&topology).map_err(bad_topology(reader))?;
    let nodes = reader.count(key, own.map_or(NODES, |own| own as u64), 1..=MOST_NODES)? as usize;
    if let Some(own) = own.filter(|own| *own != nodes) {
        return Err(ConfigError::Conflict {
            first: reader.pair(key, nodes),
            second: reader.pair("topology", &topology),
            why: format!("the graph has {own} nodes"),
            hint: format!("use `nodes = {own}`, leave `nodes` out, or name the graph without a size"),
            place: reader.place(key),
        });
    }
    if topology.starts_with("file:") && !reader.is_given(key) {
        let hint = "`murmur topology file:PATH` says how many it has";
        return Err(reader.bad(
            "topology",
            "a graph from a file needs `nodes` beside it".into(),
            Some(hint.into()),
        ));
    }
    config.nodes = nodes;
    Ok(())
}

/// The topology as written. The default stands in every configuration that was shown; where no graph is used it need not fit, written or not.
fn read_topology(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let topology = topology_text(reader)?;
    if config.algorithm.kind.uses_graph() || (reader.is_given(key) && topology != TOPOLOGY) {
        graph::sized(&topology, config.nodes).map_err(bad_topology(reader))?;
    }
    config.topology = topology;
    Ok(())
}
