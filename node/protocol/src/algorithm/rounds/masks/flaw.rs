//! What can be done wrong with masks, for audits that must see it: no driver of real nodes makes any of it.

use privacy::mechanisms::grid::Words;

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
    /// The streams with one member are opened, so that a round goes on without a member that is taken for dead; then its words come after all.
    Opened(PeerIx),
    /// Words travel as single-precision numbers, which hold 24 bits of them.
    AsReals,
    /// Steps of the grid are so small that a total has no room: words are 2²⁴ times as large as they should be.
    TooFine,
}

/// Every total of noise that is large beside its room goes around many times.
const TOO_FINE: i64 = 1 << 24;

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
        let opened = match self.flaw {
            Some(Flaw::InClear) => true,
            Some(Flaw::Opened(dead)) => one == dead || other == dead,
            _ => false,
        };
        !opened && !self.known.contains(&one) && !self.known.contains(&other)
    }

    /// Words on a grid that is too fine, before they are masked.
    pub(super) fn before_masks(&self, words: &Words) -> Words {
        match self.flaw {
            Some(Flaw::TooFine) => changed(words, |word| word.wrapping_mul(TOO_FINE)),
            _ => words.clone(),
        }
    }

    /// Words as they are sent.
    pub(super) fn sent(&self, words: &Words) -> Words {
        match self.flaw {
            Some(Flaw::AsReals) => changed(words, |word| word as f32 as i64),
            _ => words.clone(),
        }
    }

    /// The round and whether its model are in the keys of its streams.
    pub(super) fn binds(&self, round: u32) -> (u32, bool) {
        match self.flaw {
            Some(Flaw::KeyReused) => (round & !1, false),
            Some(Flaw::RoundLeftOut) => (0, false),
            _ => (round, true),
        }
    }
}

/// The same words, each changed.
fn changed(words: &Words, change: impl Fn(i64) -> i64) -> Words {
    let mut made = Words::zeros(words.size(), 0);
    made.extend(words.centred().map(change));
    made
}
