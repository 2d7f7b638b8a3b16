//! What all nodes of a simulation share and none changes.

use protocol::config::Faults;
use protocol::{Node, PeerIx, Setup, Time};

use crate::availability::Slots;
use crate::error::SimError;
use crate::hooks::Hook;
use crate::hostile::{self, Liars};
use crate::links::Links;
use privacy::noise::NoiseSource;

/// The fixed surroundings of a run.
pub(crate) struct World<'a> {
    pub(crate) setup: &'a Setup,
    /// Who listens and helps.
    pub(crate) hook: &'a dyn Hook,
    pub(crate) seed: u64,
    pub(crate) nodes: usize,
    pub(crate) links: Links,
    pub(crate) slots: Option<Slots>,
    /// Width of a window in microseconds.
    pub(crate) window: u64,
    /// Shift from a node's number to its shard's: a shard has 2^shift nodes.
    pub(crate) shift: u32,
    /// Whether invariants are checked.
    pub(crate) check: bool,
    /// Tokens of a walk; 0 elsewhere.
    pub(crate) tokens: usize,
    /// Whom each entry of the hostile means.
    pub(crate) hostile: Vec<Vec<PeerIx>>,
    /// Members that lie inside their contributions.
    pub(crate) liars: Option<Liars>,
    message_noise: bool,
}

/// Shards at most: their squares are boxes of messages.
const SHARDS: usize = 64;

impl<'a> World<'a> {
    pub(crate) fn new(setup: &'a Setup, hook: &'a dyn Hook, check: bool) -> Result<Self, SimError> {
        let (nodes, seed) = (setup.settings.nodes, setup.config.seed);
        if setup.door.nodes() != nodes {
            return Err(SimError::Data { has: setup.door.nodes(), nodes });
        }
        let faults = &setup.config.faults;
        let links = Links::new(faults, nodes, seed)?;
        let algorithm = &setup.settings.algorithm;
        let hostile = hostile::members(faults, nodes, seed)?;
        let liars = Liars::of(setup, |at| hostile[at].clone());
        Ok(Self {
            hostile,
            liars,
            setup,
            hook,
            seed,
            nodes,
            window: links.lookahead(),
            links,
            slots: Slots::new(faults, seed),
            shift: shift_for(nodes),
            check,
            tokens: algorithm.tokens(),
            message_noise: algorithm.message_noise() > 0.0,
        })
    }

    pub(crate) fn faults(&self) -> &'a Faults {
        &self.setup.config.faults
    }

    /// Nodes of each shard but the last.
    pub(crate) fn per_shard(&self) -> usize {
        1 << self.shift
    }

    /// Number of the window in which a time lies.
    pub(crate) fn window_of(&self, time: u64) -> u64 {
        time / self.window
    }

    /// The source of message noise for a node's life, where the algorithm adds some.
    pub(crate) fn message_noise(&self, node: PeerIx, life: u32) -> Option<Box<dyn NoiseSource>> {
        self.message_noise.then(|| self.hook.message_noise(self.setup, node, life))
    }

    /// The node with the masks of its life, where rounds are masked.
    pub(crate) fn with_masks(&self, node: Node, me: PeerIx, life: u32) -> Node {
        if !self.setup.settings.algorithm.shares_secrets() {
            return node;
        }
        let node = node.with_masks(self.hook.masks(self.setup, me, life));
        let hostile = self.faults().hostile.iter().zip(&self.hostile);
        let mine = hostile.filter(|(_, nodes)| nodes.contains(&me));
        let lies = mine.filter_map(|(hostile, _)| Some((hostile.kind.lie()?, Time(hostile.from))));
        lies.fold(node, |node, (lie, from)| node.danger_lying(lie, from))
    }

    /// When a node is there to do what it wants to do at `time`.
    pub(crate) fn next_on(&self, node: PeerIx, time: u64) -> u64 {
        self.slots.as_ref().map_or(time, |slots| slots.next_on(node, time))
    }

    /// Whether a node is on.
    pub(crate) fn is_on(&self, node: PeerIx, time: u64) -> bool {
        self.slots.as_ref().is_none_or(|slots| slots.is_on(node, time))
    }
}

/// About 2√n nodes per shard, and not more than [`SHARDS`] shards. Results do not depend on it.
fn shift_for(nodes: usize) -> u32 {
    let per_shard = (2.0 * (nodes as f64).sqrt()).ceil() as usize;
    per_shard.max(nodes.div_ceil(SHARDS)).max(1).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_few_and_not_empty() {
        for nodes in [1_usize, 2, 3, 64, 1_000, 4_096, 100_000, 1_000_000] {
            let shards = nodes.div_ceil(1_usize << shift_for(nodes));
            assert!((1..=SHARDS).contains(&shards), "{nodes}: {shards}");
        }
        assert_eq!(64_usize.div_ceil(1 << shift_for(64)), 4);
    }
}
