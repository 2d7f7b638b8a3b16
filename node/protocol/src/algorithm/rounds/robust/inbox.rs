//! What others said about the round under way and the next: bounded, one message of a sort from each sender.

use std::collections::BTreeMap;

use super::Said;
use crate::PeerIx;
use crate::agreement::{Fingerprint, Signature};
use crate::numbers::Numbers;

/// Round and sender.
type From = (u32, PeerIx);
/// A copy: how many it counts, and its numbers.
type Copied = (u32, Numbers);

#[derive(Default)]
pub(super) struct Inbox {
    parts: BTreeMap<From, (Said, Numbers)>,
    sets: BTreeMap<From, (Fingerprint, Option<Signature>)>,
    /// Of the round under way, by author and who passed it on.
    copies: BTreeMap<PeerIx, BTreeMap<PeerIx, Copied>>,
}

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    /// It was here before.
    Again,
    /// Another one was.
    Contradicts,
}

impl Inbox {
    pub(super) fn keep_part(&mut self, from: From, part: (Said, Numbers)) -> Kept {
        keep(&mut self.parts, from, part)
    }

    pub(super) fn keep_set(&mut self, from: From, set: (Fingerprint, Option<Signature>)) -> Kept {
        keep(&mut self.sets, from, set)
    }

    pub(super) fn keep_copy(&mut self, of: PeerIx, from: PeerIx, copy: Copied) -> Kept {
        keep(self.copies.entry(of).or_default(), from, copy)
    }

    pub(super) fn take_part(&mut self, from: From) -> Option<(Said, Numbers)> {
        self.parts.remove(&from)
    }

    pub(super) fn take_set(&mut self, from: From) -> Option<(Fingerprint, Option<Signature>)> {
        self.sets.remove(&from)
    }

    /// The contribution of `of` that so many members passed on alike.
    pub(super) fn copied(&self, of: PeerIx, enough: usize) -> Option<Copied> {
        let copies = self.copies.get(&of)?;
        let alike = |one: &&Copied| copies.values().filter(|other| other == one).count() >= enough;
        copies.values().find(alike).cloned()
    }

    /// A round begins: what is older is of no use.
    pub(super) fn forget_before(&mut self, round: u32) {
        self.parts.retain(|&(of, _), _| of >= round);
        self.sets.retain(|&(of, _), _| of >= round);
        self.copies.clear();
    }
}

fn keep<K: Ord, V: PartialEq>(kept: &mut BTreeMap<K, V>, place: K, value: V) -> Kept {
    match kept.get(&place) {
        Some(before) if *before == value => Kept::Again,
        Some(_) => Kept::Contradicts,
        None => {
            kept.insert(place, value);
            Kept::Yes
        }
    }
}
