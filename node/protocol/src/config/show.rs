//! From a configuration back to its keys: for `--dump-config`, run folders, the digest and comparisons.

use learn::model::ModelSpec;
use learn::optimiser::OptimiserSpec;
use learn::partition::{PartitionSpec, Scheme};
use serde::Serialize;
use toml::Value;

use super::{Config, duration};
use crate::settings::Scope;
use crate::work::Adjacency;

/// A key and its value.
pub(super) type Shown = (&'static str, Value);

/// All keys with a value, in the order of [`KEYS`](super::KEYS).
pub(super) fn entries(config: &Config) -> Vec<Shown> {
    let mut shown = general(config);
    shown.extend(partition(&config.partition));
    shown.extend(model(&config.model));
    shown.extend(optimiser(&config.optimiser));
    shown.extend(algorithm(config));
    shown.extend(privacy(config));
    shown.extend(timeouts(config));
    shown.extend(faults(config));
    shown
}

/// What all participants must share.
pub(super) fn shared(config: &Config) -> Vec<Shown> {
    let own = |key: &str| key == "data" || key.starts_with("faults.");
    entries(config).into_iter().filter(|(key, _)| !own(key)).collect()
}

/// TOML text: plain keys first, then one section after another.
pub(super) fn text(entries: &[Shown]) -> String {
    let mut text = String::new();
    let mut current = "";
    for (key, value) in entries {
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        if section != current {
            text.push_str(&format!("\n[{section}]\n"));
            current = section;
        }
        text.push_str(&format!("{name} = {value}\n"));
    }
    text
}

fn whole(value: impl TryInto<i64>) -> Value {
    Value::Integer(value.try_into().unwrap_or(i64::MAX))
}

fn word(value: impl ToString) -> Value {
    Value::String(value.to_string())
}

fn general(config: &Config) -> Vec<Shown> {
    vec![
        ("name", word(&config.name)),
        ("nodes", whole(config.nodes)),
        ("rounds", whole(config.rounds)),
        ("local_steps", whole(config.local_steps)),
        ("batch_size", config.batch_size.map_or_else(|| word("all"), whole)),
        ("learning_rate", Value::Float(config.learning_rate)),
        ("seed", whole(config.seed)),
        ("data", word(&config.data)),
        ("test_fraction", Value::Float(config.test_fraction)),
        ("topology", word(&config.topology)),
        ("weights", word(&config.weights)),
    ]
}

/// The keys of a partition.
pub(super) fn partition(spec: &PartitionSpec) -> Vec<Shown> {
    let mut shown = vec![("partition.kind", word(spec.scheme.name()))];
    match spec.scheme {
        Scheme::Iid | Scheme::Natural => {}
        Scheme::Shards { per_node } => shown.push(("partition.per_node", whole(per_node))),
        Scheme::Dirichlet { alpha } | Scheme::QuantitySkew { alpha } => {
            shown.push(("partition.alpha", Value::Float(alpha)));
        }
        Scheme::Pathological { classes_per_node } => {
            shown.push(("partition.classes_per_node", whole(classes_per_node)));
        }
    }
    shown.push(("partition.min_size", whole(spec.min_size)));
    shown
}

fn model(spec: &ModelSpec) -> Vec<Shown> {
    let kind = |name: &str| ("model.kind", word(name));
    match spec {
        ModelSpec::Mean {} => vec![kind("mean")],
        ModelSpec::Linear {} => vec![kind("linear")],
        ModelSpec::Ridge { penalty } => vec![kind("ridge"), ("model.penalty", Value::Float(*penalty))],
        ModelSpec::Logistic {} => vec![kind("logistic")],
        ModelSpec::Softmax {} => vec![kind("softmax")],
        ModelSpec::Mlp { hidden, activation } => vec![
            kind("mlp"),
            ("model.hidden", Value::Array(hidden.iter().map(|&width| whole(width)).collect())),
            ("model.activation", value_of(activation)),
        ],
        ModelSpec::Cnn {} => vec![kind("cnn")],
    }
}

fn optimiser(spec: &OptimiserSpec) -> Vec<Shown> {
    let kind = |name: &str| ("optimiser.kind", word(name));
    match spec {
        OptimiserSpec::Sgd { radius: None } => vec![kind("sgd")],
        OptimiserSpec::Sgd { radius: Some(radius) } => {
            vec![kind("sgd"), ("optimiser.radius", Value::Float(*radius))]
        }
        OptimiserSpec::Momentum { momentum } => {
            vec![kind("momentum"), ("optimiser.momentum", Value::Float(*momentum))]
        }
        OptimiserSpec::Adam {} => vec![kind("adam")],
    }
}

fn algorithm(config: &Config) -> Vec<Shown> {
    let algorithm = &config.algorithm;
    vec![
        ("algorithm.kind", word(algorithm.kind.name())),
        ("algorithm.mixing_steps", whole(algorithm.mixing_steps)),
        ("algorithm.accelerate", Value::Boolean(algorithm.accelerate)),
        ("algorithm.schedule", word(&algorithm.schedule)),
        ("algorithm.message_noise", Value::Float(algorithm.message_noise)),
        ("algorithm.kernel", word(algorithm.kernel)),
        ("algorithm.tokens", whole(algorithm.tokens)),
    ]
}

fn privacy(config: &Config) -> Vec<Shown> {
    let privacy = &config.privacy;
    let mut shown = Vec::new();
    shown.extend(privacy.epsilon.map(|epsilon| ("privacy.epsilon", Value::Float(epsilon))));
    shown.push(("privacy.delta", Value::Float(privacy.delta)));
    shown.extend(privacy.noise_multiplier.map(|z| ("privacy.noise_multiplier", Value::Float(z))));
    shown.push(("privacy.clip_norm", Value::Float(privacy.clip_norm)));
    shown.push(("privacy.adjacency", word(adjacency_name(privacy.adjacency))));
    shown.push(("privacy.target", word(scope_name(privacy.target))));
    shown.extend(privacy.row_norm.map(|norm| ("privacy.row_norm", Value::Float(norm))));
    shown
}

fn timeouts(config: &Config) -> Vec<Shown> {
    let timeouts = &config.timeouts;
    vec![
        ("timeouts.resend", word(duration::text(timeouts.resend))),
        ("timeouts.silence", word(duration::text(timeouts.silence))),
        ("timeouts.give_up", word(duration::text(timeouts.give_up))),
    ]
}

fn faults(config: &Config) -> Vec<Shown> {
    let faults = &config.faults;
    let mut shown = vec![
        ("faults.drop_prob", Value::Float(faults.drop_prob)),
        ("faults.duplicate_prob", Value::Float(faults.duplicate_prob)),
        ("faults.reorder_prob", Value::Float(faults.reorder_prob)),
        ("faults.online_prob", Value::Float(faults.online_prob)),
        ("faults.slot", word(duration::text(faults.slot))),
        ("faults.delay", word(duration::text(faults.delay))),
        ("faults.jitter", word(duration::text(faults.jitter))),
        ("faults.bandwidth", whole(faults.bandwidth)),
        ("faults.compute", word(duration::text(faults.compute))),
    ];
    let lists = [
        ("faults.crash", value_of(&faults.crash)),
        ("faults.slow", value_of(&faults.slow)),
        ("faults.partition", value_of(&faults.partition)),
        ("faults.hostile", value_of(&faults.hostile)),
    ];
    shown.extend(lists.into_iter().filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty())));
    shown
}

fn value_of(value: &impl Serialize) -> Value {
    Value::try_from(value).expect("lists of numbers and words can be written as TOML")
}

/// The word for an adjacency in a config.
pub(super) fn adjacency_name(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "record",
        Adjacency::Node => "node",
    }
}

/// The word for a scope in a config.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Worst => "worst",
        Scope::Mean => "mean",
        Scope::Local => "local",
    }
}

/// As the TOML of [`Config::to_toml`], in any format: sections are tables.
impl Serialize for Config {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = toml::Table::new();
        for (key, value) in entries(self) {
            match key.split_once('.') {
                None => drop(table.insert(key.into(), value)),
                Some((section, name)) => {
                    let inner = table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
                    if let Value::Table(inner) = inner {
                        inner.insert(name.into(), value);
                    }
                }
            }
        }
        table.serialize(serializer)
    }
}
