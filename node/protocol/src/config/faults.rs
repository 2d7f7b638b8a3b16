//! What goes wrong in a simulation, in words of a config. Times are microseconds here and `"20ms"` in a file.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::build::PROBABILITY;
use super::duration;
use super::error::ConfigError;
use super::read::Reader;
use crate::PeerIx;

/// Faults of links and nodes; all seeded.
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    /// Probability that a message is lost.
    pub drop_prob: f64,
    /// Probability that a message arrives twice.
    pub duplicate_prob: f64,
    /// Probability that a message is held back by another delay, so that later ones overtake it.
    pub reorder_prob: f64,
    /// Part of the time that a node is online, in slots of `slot`.
    pub online_prob: f64,
    /// Length of an online or offline slot.
    pub slot: u64,
    /// Latency of a link.
    pub delay: u64,
    /// Uniform jitter on top of the latency.
    pub jitter: u64,
    /// Bytes per second of a link; 0: unlimited.
    pub bandwidth: u64,
    /// Time that one contribution takes.
    pub compute: u64,
    /// Nodes that crash, and perhaps return.
    pub crash: Vec<Crash>,
    /// Nodes that are slow.
    pub slow: Vec<Slow>,
    /// Times in which the network is split.
    pub partition: Vec<Partition>,
    /// Peers that do not follow the protocol.
    pub hostile: Vec<Hostile>,
}

impl Default for Faults {
    /// A quiet LAN: one millisecond, nothing lost.
    fn default() -> Self {
        Self {
            drop_prob: 0.0,
            duplicate_prob: 0.0,
            reorder_prob: 0.0,
            online_prob: 1.0,
            slot: 1_000_000,
            delay: 1_000,
            jitter: 0,
            bandwidth: 0,
            compute: 1_000,
            crash: Vec::new(),
            slow: Vec::new(),
            partition: Vec::new(),
            hostile: Vec::new(),
        }
    }
}

/// Nodes that stop, losing what they had in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Which nodes.
    #[serde(default)]
    pub nodes: Vec<PeerIx>,
    /// Or a random part of all, between 0 and 1.
    #[serde(default)]
    pub fraction: f64,
    /// When.
    #[serde(with = "duration")]
    pub at: u64,
    /// When they come back with what they had saved; `None`: never.
    #[serde(default, with = "duration::optional", skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
    /// Keep the memory: a pause, not a crash.
    #[serde(default)]
    pub pause: bool,
}

/// Nodes whose contributions take longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// Which nodes.
    pub nodes: Vec<PeerIx>,
    /// How many times as long.
    pub factor: f64,
}

/// A time in which messages between two parts are lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// One part; everybody else is the other. Empty: the first `fraction` of all.
    #[serde(default)]
    pub nodes: Vec<PeerIx>,
    /// Size of the part, between 0 and 1, where no nodes are named.
    #[serde(default)]
    pub fraction: f64,
    /// From when.
    #[serde(with = "duration")]
    pub from: u64,
    /// Until when.
    #[serde(with = "duration")]
    pub until: u64,
}

/// Nodes that misbehave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hostile {
    /// Which nodes.
    pub nodes: Vec<PeerIx>,
    /// How.
    pub kind: HostileKind,
    /// From when.
    #[serde(default, with = "duration")]
    pub from: u64,
}

/// Ways to misbehave: what is done to each outgoing message, or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostileKind {
    /// Numbers become NaN.
    Nan,
    /// Numbers become huge.
    Huge,
    /// Vectors lose a number.
    WrongLength,
    /// Old messages are sent again.
    Replay,
    /// Messages of another run.
    OtherRun,
    /// Every message a thousand times.
    Flood,
}

/// The faults of a configuration for `nodes` nodes.
pub(super) fn read(reader: &Reader<'_>, nodes: usize) -> Result<Faults, ConfigError> {
    let default = Faults::default();
    let faults = Faults {
        drop_prob: reader.number("faults.drop_prob", default.drop_prob, PROBABILITY)?,
        duplicate_prob: reader.number("faults.duplicate_prob", default.duplicate_prob, PROBABILITY)?,
        reorder_prob: reader.number("faults.reorder_prob", default.reorder_prob, PROBABILITY)?,
        online_prob: reader.number("faults.online_prob", default.online_prob, PROBABILITY)?,
        slot: reader.duration("faults.slot", default.slot)?,
        delay: reader.duration("faults.delay", default.delay)?,
        jitter: reader.duration("faults.jitter", default.jitter)?,
        bandwidth: reader.count("faults.bandwidth", default.bandwidth, 0..=i64::MAX as u64)?,
        compute: reader.duration("faults.compute", default.compute)?,
        crash: list(reader, "faults.crash", &["nodes", "fraction", "at", "back", "pause"])?,
        slow: list(reader, "faults.slow", &["nodes", "factor"])?,
        partition: list(reader, "faults.partition", &["nodes", "fraction", "from", "until"])?,
        hostile: list(reader, "faults.hostile", &["nodes", "kind", "from"])?,
    };
    if faults.slot == 0 {
        return Err(reader.bad("faults.slot", "must be longer than nothing".into(), None));
    }
    check(&faults, nodes).map_err(|(key, why)| reader.bad(key, why, None))?;
    Ok(faults)
}

/// A list of tables with these keys.
fn list<T: DeserializeOwned>(
    reader: &Reader<'_>,
    key: &'static str,
    known: &[&str],
) -> Result<Vec<T>, ConfigError> {
    let Some(entry) = reader.entry(key) else { return Ok(Vec::new()) };
    let form = format!("for example `[[{key}]]` with lines for {}", known.join(", "));
    let Value::Array(items) = &entry.value else {
        return Err(reader.bad(key, "must be a list of tables".into(), Some(form)));
    };
    let unknown = |item: &Value| {
        let keys = item.as_table().into_iter().flat_map(|table| table.keys());
        keys.map(String::as_str).find(|name| !known.contains(name)).map(str::to_owned)
    };
    if let Some(unknown) = items.iter().find_map(unknown) {
        let near = topology::nearest(&unknown, known);
        return Err(ConfigError::UnknownKey {
            key: format!("{key}.{unknown}"),
            nearest: near.map(|near| format!("{key}.{near}")),
            known: known.join(", "),
            place: Box::new(entry.place.clone()),
        });
    }
    let item = |item: &Value| {
        let read: Result<T, _> = item.clone().try_into();
        read.map_err(|error| reader.bad(key, error.message().trim().into(), Some(form.clone())))
    };
    items.iter().map(item).collect()
}

/// Whether nodes exist, parts are parts and times are in order.
fn check(faults: &Faults, nodes: usize) -> Result<(), (&'static str, String)> {
    let named = |key: &'static str, list: &[PeerIx]| match list.iter().find(|node| **node as usize >= nodes) {
        Some(node) => Err((key, format!("there is no node {node} among {nodes}"))),
        None => Ok(()),
    };
    let part = |key: &'static str, fraction: f64, list: &[PeerIx]| match fraction {
        _ if !(0.0..=1.0).contains(&fraction) => Err((key, "`fraction` must be from 0 to 1".into())),
        _ if fraction > 0.0 && !list.is_empty() => {
            Err((key, "name `nodes` or a `fraction`, not both".into()))
        }
        _ if fraction == 0.0 && list.is_empty() => Err((key, "name `nodes` or a `fraction`".into())),
        _ => Ok(()),
    };
    for crash in &faults.crash {
        named("faults.crash", &crash.nodes)?;
        part("faults.crash", crash.fraction, &crash.nodes)?;
        if crash.back.is_some_and(|back| back <= crash.at) {
            return Err(("faults.crash", "`back` must be later than `at`".into()));
        }
    }
    for slow in &faults.slow {
        named("faults.slow", &slow.nodes)?;
        if !(slow.factor > 0.0 && slow.factor.is_finite()) {
            return Err(("faults.slow", "`factor` must be a positive number".into()));
        }
    }
    for split in &faults.partition {
        named("faults.partition", &split.nodes)?;
        part("faults.partition", split.fraction, &split.nodes)?;
        if split.until <= split.from {
            return Err(("faults.partition", "`until` must be later than `from`".into()));
        }
    }
    faults.hostile.iter().try_for_each(|hostile| named("faults.hostile", &hostile.nodes))
}
