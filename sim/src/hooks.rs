//! What a caller may look at and replace in a simulation, for audits and tests. Nothing of it exists outside the simulator.

use std::sync::Arc;

use learn::train::TrainError;
use privacy::noise::{NoiseSource, SeededNoise};
use protocol::masks::Masks;
use protocol::work::{Computed, Desk, Job, carry_out};
use protocol::{Message, PeerIx, Settings, Setup, Snapshot, Time};

use crate::noise::{contribution_noise, masks_are_cheap, message_noise, seeded_masks};

/// A message at the moment when its receiver sees it, whatever the receiver makes of it.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// When.
    pub time: Time,
    /// Who sent it.
    pub from: PeerIx,
    /// Who received it.
    pub to: PeerIx,
    /// What was said, with its numbers.
    pub message: &'a Message,
}

/// A contribution that is due.
#[derive(Debug, Clone, Copy)]
pub struct Due<'a> {
    /// The run.
    pub setup: &'a Setup,
    /// Whose contribution.
    pub node: PeerIx,
    /// How many this node has made before.
    pub count: u32,
    /// What is asked for.
    pub job: &'a Job,
}

impl Due<'_> {
    /// The noise of this contribution.
    pub(crate) fn noise(&self) -> SeededNoise {
        contribution_noise(self.setup.config.seed, self.node, self.count)
    }
}

/// Ears and hands in a simulation: every method does what happens without it, unless it is written anew.
///
/// With more than one thread, calls for different nodes come in any order; those for one node come in the order of virtual time. A hook that
/// answers by its arguments alone keeps the simulation deterministic.
pub trait Hook: Sync {
    /// A message was received by a node that is there.
    fn delivered(&self, delivery: &Delivery<'_>) {
        let _ = delivery;
    }

    /// Makes a contribution, at the node's desk.
    ///
    /// # Errors
    /// What [`Work::contribute`](protocol::work::Work::contribute) refuses.
    fn contribution(&self, due: &Due<'_>, desk: &mut Desk<'_>) -> Result<Computed, TrainError> {
        carry_out(due.setup.door.as_ref(), desk, due.job, &mut due.noise())
    }

    /// What a node goes by: the same at all nodes, but for limits of its own.
    fn settings(&self, setup: &Setup, node: PeerIx) -> Arc<Settings> {
        let _ = node;
        setup.settings.clone()
    }

    /// A node keeps this, with so many records in its ledger.
    fn saved(&self, node: PeerIx, snapshot: &Snapshot, records: u64) {
        let _ = (node, snapshot, records);
    }

    /// What a node that comes back finds on its disk: what it kept last, and how many records its ledger has. A disk may be an older copy.
    fn found(&self, node: PeerIx, kept: Option<Snapshot>, records: u64) -> (Option<Snapshot>, u64) {
        let _ = node;
        (kept, records)
    }

    /// The source of message noise for a node's life, where the algorithm adds some.
    fn message_noise(&self, setup: &Setup, node: PeerIx, life: u32) -> Box<dyn NoiseSource> {
        Box::new(message_noise(setup.config.seed, node, life))
    }

    /// The masks of a node's life, where rounds are masked: real ones, but for runs so large that they would cost more than everything else. They
    /// cancel, so that nothing but the messages on their way is different.
    fn masks(&self, setup: &Setup, node: PeerIx, life: u32) -> Masks {
        if masks_are_cheap(setup) {
            seeded_masks(setup.config.seed, node, life)
        } else {
            Masks::DangerPretended
        }
    }
}

/// Nobody listens, nothing is replaced.
pub(crate) struct Unhooked;

impl Hook for Unhooked {}
