//! Messages that did not come, came too late, or show that this node is behind. Most nodes never need any of this.
//!
//! Invariant: what grows with the messages of others is bounded by what the plan let this node expect, so no peer can fill the memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::PeerIx;

/// What went otherwise than planned.
#[derive(Default)]
pub(crate) struct Absences {
    /// `(step, peer)` of this round: for the log.
    pub(crate) missing: Vec<(u32, PeerIx)>,
    /// `(round, step, peer)` since the last line of the log.
    pub(crate) late: Vec<(u32, u32, PeerIx)>,
    /// What was missing and has not come since.
    owed: BTreeSet<(u32, u32, PeerIx)>,
    /// Rounds from which this node was absent.
    skipped: Vec<std::ops::Range<u32>>,
    /// Peers that are not waited for at length.
    hasty: BTreeSet<PeerIx>,
    /// The newest `(round, step)` of peers that are too far ahead.
    ahead: BTreeMap<PeerIx, (u32, u32)>,
}

impl Absences {
    /// A message did not come in time.
    pub(crate) fn missed(&mut self, (round, step): (u32, u32), peer: PeerIx) {
        self.missing.push((step, peer));
        self.owed.insert((round, step, peer));
        self.hasty.insert(peer);
    }

    /// The node did not take part in these rounds.
    pub(crate) fn skip(&mut self, rounds: std::ops::Range<u32>) {
        self.ahead.clear();
        if !rounds.is_empty() {
            self.skipped.push(rounds);
        }
    }

    /// Whether a message of the past was waited for in vain; each counts once.
    pub(crate) fn was_owed(&mut self, key: (u32, u32, PeerIx)) -> bool {
        self.owed.remove(&key)
    }

    pub(crate) fn was_skipped(&self, round: u32) -> bool {
        self.skipped.iter().any(|rounds| rounds.contains(&round))
    }

    /// A peer is not waited for at length in this step: it was missing in the last, or has shown that it is beyond this one.
    pub(crate) fn hasten(&mut self, peer: PeerIx) {
        self.hasty.insert(peer);
    }

    /// A peer was heard.
    pub(crate) fn heard(&mut self, peer: PeerIx) {
        self.hasty.remove(&peer);
    }

    pub(crate) fn hasty(&self) -> impl Iterator<Item = PeerIx> + '_ {
        self.hasty.iter().copied()
    }

    /// A neighbour is too far ahead of this node, which is in round `mine`. Returns how many are ahead.
    pub(crate) fn witness(&mut self, mine: u32, peer: PeerIx, at: (u32, u32)) -> usize {
        self.ahead.retain(|_, newest| newest.0 > mine);
        let newest = self.ahead.entry(peer).or_insert(at);
        *newest = at.max(*newest);
        self.ahead.len()
    }

    /// The lower median of where those ahead are: a minority of liars cannot move it beyond an honest neighbour.
    pub(crate) fn median_ahead(&self) -> Option<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = self.ahead.values().copied().collect();
        all.sort_unstable();
        all.get(all.len().checked_sub(1)? / 2).copied()
    }
}
