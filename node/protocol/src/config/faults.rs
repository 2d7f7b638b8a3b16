//! What goes wrong in a simulation, in words of a config. Times are microseconds here and `"20ms"` in a file.

use serde::{Deserialize, Serialize};

use crate::PeerIx;

/// Faults of links and nodes; all seeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    pub at: u64,
    /// When they come back with what they had saved; `None`: never.
    #[serde(default)]
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
    pub from: u64,
    /// Until when.
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
    #[serde(default)]
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
