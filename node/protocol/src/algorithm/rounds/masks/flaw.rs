//! What can be done wrong with masks, for audits that must see it: no driver of real nodes makes any of it.

use crate::PeerIx;

/// A way in which masks are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Every other round uses the streams of the round before it, whatever its number and its model are.
    KeyReused,
    /// Neither the number of a round nor its model is in the keys of its streams.
    RoundLeftOut,
    /// The first member has the wrong sign towards one other.
    WrongSign,
    /// No stream is added at all.
    InClear,
}

/// Masks for an audit: with a flaw, and without the streams that a coalition knows, so that its view is what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bared {
    /// What is broken.
    pub flaw: Option<Flaw>,
    /// Members whose secrets are known to who watches.
    pub known: Vec<PeerIx>,
}

impl Bared {
    /// Whether two members have a stream that nobody who watches knows.
    pub(super) fn hides(&self, one: PeerIx, other: PeerIx) -> bool {
        self.flaw != Some(Flaw::InClear) && !self.known.contains(&one) && !self.known.contains(&other)
    }

    /// The round and whether its model are in the keys of its streams.
    pub(super) fn binds(&self, round: u32) -> (u32, bool) {
        match self.flaw {
            Some(Flaw::KeyReused) => (round & !1, false),
            Some(Flaw::RoundLeftOut) => (0, false),
            Some(Flaw::WrongSign | Flaw::InClear) | None => (round, true),
        }
    }
}
