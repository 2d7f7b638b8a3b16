//! What goes into a simulation beside its setup, and what comes out beside its log.

use protocol::{PeerIx, Time};

use crate::shard::Shard;
use crate::slot::Slot;
use crate::world::World;

/// How to simulate; nothing here changes what happens.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads; 0: as many as there are cores.
    pub threads: usize,
    /// Whether to check the invariants of the swarm while running.
    pub check: bool,
    /// Version of the program, for the first line of the log.
    pub version: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 0, check: false, version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// The swarm at the end of a round.
pub struct Observation<'a> {
    /// The round that has ended, from 0; for a walk, one for every `n` hops.
    pub round: u32,
    /// When.
    pub time: Time,
    /// The models.
    pub models: Models<'a>,
    /// The node that released last: for a walk it holds the newest model.
    pub latest: Option<PeerIx>,
    /// Mean training loss of the contributions to this round, where they say it.
    pub train_loss: Option<f64>,
    /// Bytes that all nodes have sent so far.
    pub bytes: u64,
}

/// The models of all nodes at one time.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    shards: &'a [Shard],
    world: &'a World<'a>,
    now: u64,
}

impl<'a> Models<'a> {
    pub(crate) fn new(shards: &'a [Shard], world: &'a World<'a>, now: u64) -> Self {
        Self { shards, world, now }
    }

    /// Number of nodes, those that are away included.
    pub fn len(&self) -> usize {
        self.world.nodes
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.world.nodes == 0
    }

    /// The model of a node; `None` while it has crashed.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn get(&self, node: usize) -> Option<&'a [f32]> {
        self.slot(node).model()
    }

    /// Whether a node is there now: it has neither crashed, nor paused, nor is it off.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn is_online(&self, node: usize) -> bool {
        self.slot(node).is_up(self.now) && self.world.is_on(node as PeerIx, self.now)
    }

    fn slot(&self, node: usize) -> &'a Slot {
        self.shards[node >> self.world.shift].slot(node & (self.world.per_shard() - 1))
    }

    /// The models of all nodes that have one, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &'a [f32])> + '_ {
        (0..self.len()).filter_map(|node| self.get(node).map(|model| (node, model)))
    }
}

/// Why a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every node that is not lost for good has finished.
    AllDone,
    /// Nothing was left to happen.
    Quiet,
    /// For longer than any node waits, nothing was achieved.
    Stalled,
}

/// A simulation after its end.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Why it ended.
    pub ended: Ended,
    /// Nodes that reached the end of the run; others gave up, left, or are gone.
    pub reached: usize,
    /// Virtual time at the end.
    pub time: Time,
    /// The model of each node; empty where it has crashed.
    pub models: Vec<Vec<f32>>,
    /// Bytes that each node sent, lost ones included.
    pub bytes_per_node: Vec<u64>,
    /// Records in each node's ledger.
    pub records_per_node: Vec<u64>,
    /// Messages sent, lost ones included.
    pub messages: u64,
    /// Messages that did not arrive: lost, cut off by a partition, or addressed to a node that was away.
    pub dropped: u64,
    /// Rounds that were observed.
    pub rounds: u32,
}
