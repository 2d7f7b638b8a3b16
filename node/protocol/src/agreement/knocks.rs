//! Members without a seat that ask for one, and where the others stop to let them in.
//!
//! A standing of somebody without a seat is a knock. It breaks no round: members that would let it in name a
//! boundary, and at the one that f+1 name, an honest one among them, all stop. Who loses its seat again and
//! again is heard less and less often.

use std::collections::BTreeMap;

use super::decision::Decision;
use super::machine::{Agreement, Output};
use super::message::{Boundary, Message};
use crate::{PeerIx, Time};

/// The wait doubles so many times at most.
const MOST_DOUBLINGS: u32 = 6;

/// Who may knock, and where to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Knocks {
    /// How often a member lost its seat, and when it is heard again.
    lost: BTreeMap<PeerIx, (u32, Time)>,
    boundaries: BTreeMap<PeerIx, u32>,
    found: bool,
}

impl Knocks {
    pub(super) fn on_decision(&mut self, before: &Decision, now: &Decision, (at, silence): (Time, u64)) {
        self.boundaries.clear();
        self.found = false;
        for seat in before.seats.iter().filter(|seat| !now.has_seat(seat.member)) {
            let (times, until) = self.lost.entry(seat.member).or_insert((0, at));
            *until = at.after(silence << (*times).min(MOST_DOUBLINGS));
            *times = times.saturating_add(1);
        }
    }

    fn is_heard(&self, member: PeerIx, now: Time) -> bool {
        self.lost.get(&member).is_none_or(|(times, until)| *times <= 1 || now >= *until)
    }
}

impl Agreement {
    /// Somebody without a seat said where it stands.
    pub(super) fn heed_knock(&mut self, member: PeerIx) {
        let seated = self.decision.has_seat(self.me) && !self.decision.has_seat(member);
        let free = self.assembly.is_none() && !self.knocks.boundaries.contains_key(&self.me);
        if seated && free && !self.is_over() && self.knocks.is_heard(member, self.now) {
            self.outputs.push_back(Output::Knocked(member));
        }
    }

    /// Whether a member could have a seat from `round` on, for all that is decided: pairs that are apart until later leave it none.
    pub fn could_seat(&self, member: PeerIx, round: u32) -> bool {
        let of_it = self.decision.apart_in(round).filter(|&(one, other)| one == member || other == member);
        of_it.count() <= (self.decision.electorate.hostile as usize).max(self.decision.seats.len() / 2).max(1)
    }

    pub(super) fn on_stop(&mut self, before: u32) {
        if self.assembly.is_none() && self.decision.has_seat(self.me) {
            let boundary = Boundary { epoch: self.place(0).epoch, round: before };
            self.send_all(Message::Boundary(boundary));
            self.on_boundary(self.me, boundary);
        }
    }

    /// The first that each seat names counts. Of f+1 one is honest, so the boundary is not before what an
    /// honest member named.
    pub(super) fn on_boundary(&mut self, from: PeerIx, boundary: Boundary) {
        if !self.decision.has_seat(from) || self.knocks.found || self.assembly.is_some() {
            return;
        }
        self.knocks.boundaries.entry(from).or_insert(boundary.round);
        let mut named: Vec<u32> = self.knocks.boundaries.values().copied().collect();
        named.sort_unstable();
        if let Some(&round) = named.get(self.decision.electorate.hostile as usize) {
            self.knocks.found = true;
            self.outputs.push_back(Output::Boundary(round));
        }
    }
}
