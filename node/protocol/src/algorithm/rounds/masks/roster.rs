//! Who adds up in an epoch, with the key of each.

use sha2::{Digest as _, Sha256};

use super::MaskKey;
use crate::PeerIx;
use crate::settings::RunId;

/// The members of an epoch in increasing order, each with the public key that this node has from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyedRoster {
    pub(super) run: RunId,
    pub(super) epoch: u32,
    pub(super) members: Vec<(PeerIx, MaskKey)>,
    /// Who of them share no masks, since they do not agree on them.
    pub(super) unmasked: Vec<(PeerIx, PeerIx)>,
}

impl KeyedRoster {
    /// Whether these two share masks.
    pub(super) fn is_masked(&self, one: PeerIx, other: PeerIx) -> bool {
        !self.unmasked.contains(&(one.min(other), one.max(other)))
    }

    /// Names run, epoch, members and all their keys, and who shares no masks: who has other ideas of any of them makes other masks.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"murmur mask roster 1");
        hash.update(self.run.0.to_le_bytes());
        hash.update(self.epoch.to_le_bytes());
        hash.update((self.members.len() as u64).to_le_bytes());
        for (member, key) in &self.members {
            hash.update(member.to_le_bytes());
            hash.update(key);
        }
        for (one, other) in &self.unmasked {
            hash.update(one.to_le_bytes());
            hash.update(other.to_le_bytes());
        }
        hash.finalize().into()
    }
}
