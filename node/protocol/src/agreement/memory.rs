//! What must survive a crash: everything that was signed in this epoch, and the decision that began it.

use std::sync::Arc;

use super::codec::{CodecError, Wire, wire};
use super::decision::Certificate;
use super::message::{TurnMessage, Turns};
use super::sealed::Sealed;
use super::statements::{Locked, Standing, Voice};

/// A member's memory. To lose it and to sign again is what agreement cannot bear: who cannot be sure of it
/// stays [mute](super::Agreement::mute).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Memory {
    /// How the epoch began; empty before the first decision.
    pub certificate: Certificate,
    /// Where it said that it stands.
    pub standing: Option<Arc<Sealed<Standing>>>,
    /// What it has heard: who says so must be able to show it.
    pub heard: Vec<Arc<Sealed<Standing>>>,
    /// The last view in which it signed anything.
    pub view: u32,
    /// The turns that opened it.
    pub entered: Option<Arc<Turns>>,
    /// Its turn in that view.
    pub turn: Option<TurnMessage>,
    /// Its vote in that view.
    pub vote: Option<Voice>,
    /// Its commit in that view.
    pub commit: Option<Voice>,
    /// The newest lock that it knew when it signed last.
    pub locked: Option<Arc<Locked>>,
}

wire!(Memory {
    certificate: Certificate,
    standing: Option<Arc<Sealed<Standing>>>,
    heard: Vec<Arc<Sealed<Standing>>>,
    view: u32,
    entered: Option<Arc<Turns>>,
    turn: Option<TurnMessage>,
    vote: Option<Voice>,
    commit: Option<Voice>,
    locked: Option<Arc<Locked>>,
});

impl Memory {
    /// For the disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        Wire::to_bytes(self)
    }

    /// From the disk.
    ///
    /// # Errors
    /// Bytes that are no memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        <Self as Wire>::from_bytes(bytes)
    }
}
