//! "I saw you in": in which rounds members took part together, told to whoever comes back and may have forgotten some of them.
//!
//! A round ends for nobody without a word of every member, so who finished one knows that all its members made their contribution to it, and honest members are one round
//! apart at most.

use std::collections::BTreeMap;

use super::codec::wire;
use super::machine::Agreement;
use crate::PeerIx;

/// How far somebody was seen: one more than the last round that the witness began beside it, and than the last that it finished beside it. Zeros for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seen {
    /// Rounds from here on were not begun.
    pub begun: u32,
    /// Rounds from here on were not finished.
    pub done: u32,
}

wire!(Seen { begun: u32, done: u32 });

/// What more than f members, or as many as there are, say of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Witnessed {
    /// An honest member finished the round before this one beside me.
    pub done: u32,
    /// I began no round from this one on, if those who said so are not behind themselves.
    pub begun: u32,
}

/// Who was seen how far, and what others say of this member. Bounded: one of each member.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Company {
    /// In this epoch, all that have a seat in it.
    now: Seen,
    before: BTreeMap<PeerIx, Seen>,
    said: BTreeMap<PeerIx, Seen>,
}

impl Seen {
    fn and(self, other: Self) -> Self {
        Self { begun: self.begun.max(other.begun), done: self.done.max(other.done) }
    }
}

impl Company {
    /// Somebody says how far it saw me.
    pub(super) fn hear(&mut self, from: PeerIx, seen: Seen) {
        self.said.insert(from, seen);
    }
}

impl Agreement {
    pub(super) fn on_took_part(&mut self, seen: Seen) {
        if self.decision.has_seat(self.me) {
            // What was over before this epoch began was beside others: who has a seat since then had no part in it, and has forgotten nothing.
            let first = self.decision.next_round;
            let of_this = |round: u32| if round > first { round } else { 0 };
            let seen = Seen { begun: of_this(seen.begun), done: of_this(seen.done) };
            self.company.now = self.company.now.and(seen);
        }
    }

    /// The epoch ends: what was seen in it is remembered of each of its members.
    pub(super) fn part_company(&mut self) {
        let now = std::mem::take(&mut self.company.now);
        if now != Seen::default() {
            for seat in &self.decision.seats {
                let before = self.company.before.entry(seat.member).or_default();
                *before = before.and(now);
            }
        }
    }

    pub(super) fn seen(&self, member: PeerIx) -> Seen {
        let now = if self.decision.has_seat(member) { self.company.now } else { Seen::default() };
        self.company.before.get(&member).copied().unwrap_or_default().and(now)
    }

    /// How far everybody was seen, for the disk.
    pub fn company(&self) -> Vec<(PeerIx, Seen)> {
        let all = self.charter.everybody().map(|member| (member, self.seen(member)));
        all.filter(|(_, seen)| *seen != Seen::default()).collect()
    }

    /// Takes back what was kept.
    pub fn restore_company(&mut self, kept: impl IntoIterator<Item = (PeerIx, Seen)>) {
        self.company.before.extend(kept);
    }

    /// What the others say of me, once more than f have; forgotten answers of who was not there count as none.
    ///
    /// # Guarantee
    /// `done`: no larger than what an honest member says. `begun`, where 2f + 1 have answered: at least what the least of the honest ones among them says, and one more, so
    /// that of who was one round ahead of them all is in it; where fewer have, the largest.
    pub fn witnessed(&self) -> Option<Witnessed> {
        let hostile = self.charter.terms().hostile as usize;
        let falling = |of: fn(&Seen) -> u32| {
            let mut all: Vec<u32> = self.company.said.values().map(of).collect();
            all.sort_unstable_by(|one, other| other.cmp(one));
            all
        };
        let (done, begun) = (falling(|seen| seen.done), falling(|seen| seen.begun));
        let at = if begun.len() > 2 * hostile { hostile } else { 0 };
        let begun = begun.get(at).map_or(0, |begun| begun.saturating_add(u32::from(*begun > 0)));
        done.get(hostile).map(|&done| Witnessed { done, begun })
    }
}
