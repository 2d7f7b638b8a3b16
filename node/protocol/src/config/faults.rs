//! What goes wrong in a simulation, in words of a config. Times are microseconds here and `"20ms"` in a file.

use serde::{Deserialize, Serialize};

use super::duration;
use crate::PeerIx;
use crate::masks::Lie;

/// A quiet LAN, in microseconds.
pub(super) const SLOT: u64 = 1_000_000;
pub(super) const DELAY: u64 = 1_000;
pub(super) const COMPUTE: u64 = 1_000;

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
            slot: SLOT,
            delay: DELAY,
            jitter: 0,
            bandwidth: 0,
            compute: COMPUTE,
            crash: Vec::new(),
            slow: Vec::new(),
            partition: Vec::new(),
            hostile: Vec::new(),
        }
    }
}

impl Faults {
    /// Whether anything but waiting can happen: messages are lost, nodes away or hostile.
    pub fn can_go_wrong(&self) -> bool {
        let lists = !(self.crash.is_empty() && self.partition.is_empty() && self.hostile.is_empty());
        lists || self.drop_prob > 0.0 || self.online_prob < 1.0
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
    /// Masked rounds: its words that should be zero are not.
    FalseZeros,
    /// Masked rounds: its numbers are huge.
    HugeWords,
    /// Masked rounds: its words that should be zero are not, and it says that a mask which it shares with another is to blame.
    FalseMask,
}

impl HostileKind {
    /// What it lies about under masks, where nothing is done to messages.
    pub fn lie(self) -> Option<Lie> {
        match self {
            Self::FalseZeros => Some(Lie::FalseZeros),
            Self::HugeWords => Some(Lie::HugeWords),
            Self::FalseMask => Some(Lie::FalseMask),
            Self::Nan | Self::Huge | Self::WrongLength | Self::Replay | Self::OtherRun | Self::Flood => None,
        }
    }
}

/// Whether nodes exist, parts are parts and times are in order.
pub(super) fn check(faults: &Faults, nodes: usize) -> Result<(), (&'static str, String)> {
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
