//! An algorithm as a participant runs it.

use crate::agreement::{Certificate, Credentials};
use crate::core::Core;
use crate::masks::{Lie, Masks};
use crate::message::Message;
use crate::node::{Disk, Input, Snapshot};
use crate::settings::Settings;
use crate::{PeerIx, Time};

/// One participant's part in an algorithm. What all algorithms share is in the [`Core`].
///
/// Invariants: contributions go through [`Contribution`](crate::contribution::Contribution); what a peer sends can cost a fault, never a panic; the
/// same inputs give the same outputs.
pub(crate) trait Machine: Send {
    /// Takes one input; messages were accepted by the core before.
    fn handle(&mut self, core: &mut Core, input: Input);

    /// A message of `from` was malformed, and is not handled.
    fn on_refused(&mut self, _core: &mut Core, _from: PeerIx, _message: Message) {}

    /// Who this participant is to the others, where decisions are signed.
    fn enroll(&mut self, _credentials: Credentials) {}

    /// What the driver knows of the disk from which it comes back.
    fn found(&mut self, _disk: Disk) {}

    /// What proves the last decision.
    fn certificate(&self) -> Option<&Certificate> {
        None
    }

    /// Takes over what was saved before a crash.
    fn restore(&mut self, settings: &Settings, snapshot: &Snapshot);

    /// When to come back if nothing happens before.
    fn wake_at(&self) -> Option<Time>;

    /// The model that the node holds now.
    fn model(&self) -> &[f32];

    /// The round that the node is in, or has finished last.
    fn round(&self) -> u32;

    /// Takes masks, where the algorithm has a use for them.
    fn wear(&mut self, _masks: Masks) {}

    /// Makes it a member that lies about its own words from some time on, where the algorithm has masks that hide it.
    fn danger_lie(&mut self, _lie: Lie, _from: Time) {}

    /// The memory of a vector that is not needed any more.
    fn spare_memory(&mut self) -> Option<Vec<f32>> {
        None
    }
}
