//! Members without a seat that ask for one, and where the others stop to let them in.
//!
//! A standing of somebody without a seat is a knock. It breaks no round: members that would let it in name a
//! boundary, and at the one that f+1 name, an honest one among them, all stop. Who loses its seat again and
//! again, or knocks in vain, is heard less and less often, until it has kept its seat for long.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Decision;
use super::machine::{Agreement, Output};
use super::message::{Boundary, Message};
use super::outcome::is_shut_out;
use crate::{PeerIx, Time};

/// The wait doubles so many times at most.
const MOST_DOUBLINGS: u32 = 6;
/// So many times as long as it had to wait a member keeps its seat until that is forgotten: who breaks a round each time that this is over costs the
/// others a few hundredths of their time.
const FORGIVEN: u64 = 32;

/// Who may knock, and where to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Knocks {
    /// How often a member lost its seat or knocked in vain, and when it is heard again.
    lost: BTreeMap<PeerIx, (u32, Time)>,
    /// For whom I would have stopped in this epoch.
    heeded: BTreeSet<PeerIx>,
    boundaries: BTreeMap<PeerIx, u32>,
    found: bool,
}

impl Knocks {
    pub(super) fn on_decision(&mut self, before: &Decision, now: &Decision, (at, silence): (Time, u64)) {
        self.boundaries.clear();
        self.found = false;
        let heeded = std::mem::take(&mut self.heeded);
        let sat = before.seats.iter().map(|seat| seat.member);
        for member in sat.chain(heeded).filter(|&member| !now.has_seat(member)) {
            let (times, until) = self.lost.entry(member).or_insert((0, at));
            let span = |times: u32| silence << times.min(MOST_DOUBLINGS);
            if at >= until.after(FORGIVEN * span(*times)) {
                *times = 0;
            }
            *until = at.after(span(*times));
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

    /// Whether a member could have a seat from `round` on beside those who have one, for all that is decided: pairs that are apart leave it none.
    pub fn could_seat(&self, member: PeerIx, round: u32) -> bool {
        let decision = &self.decision;
        let is_present = |other: PeerIx| other == member || decision.has_seat(other);
        let hostile = decision.electorate.hostile.saturating_sub(self.proofs.len() as u32);
        let present = (decision.seats.len() + 1, &is_present as &dyn Fn(PeerIx) -> bool);
        !self.proofs.contains_key(&member) && !is_shut_out(member, present, &decision.apart, (hostile, round))
    }

    pub(super) fn on_stop(&mut self, before: u32, member: PeerIx) {
        self.knocks.heeded.insert(member);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::decision::{Apart, Cause, Seat};
    use super::super::outcome::outcome;
    use super::super::tests::{Dice, PlainKeys, a_model, charter_with, standing};
    use super::*;

    const SILENCE: u64 = 1_000_000;

    fn seated(members: &[PeerIx]) -> Decision {
        let seats = members.iter().map(|&member| Seat { member, key: [0; 32] }).collect();
        Decision { seats, ..(*charter_with(4, 1).genesis()).clone() }
    }

    /// After how many times `silence` it is heard.
    fn wait(knocks: &Knocks, now: Time) -> u64 {
        (0..).find(|&times| knocks.is_heard(3, now.after(times * SILENCE))).expect("it is heard some time")
    }

    #[test]
    fn who_knocks_in_vain_is_heard_half_as_often_each_time() {
        let (mut knocks, mut now, out) = (Knocks::default(), Time(0), seated(&[0, 1, 2]));
        let mut waits = Vec::new();
        for _ in 0..9 {
            knocks.heeded.insert(3);
            knocks.on_decision(&out, &out, (now, SILENCE));
            waits.push(wait(&knocks, now));
            now = now.after(waits.last().expect("one") * SILENCE);
        }
        assert_eq!(waits, [0, 2, 4, 8, 16, 32, 64, 64, 64]);
        knocks.on_decision(&out, &out, (now, SILENCE));
        assert_eq!(wait(&knocks, now), 0, "whom nobody would have stopped for has not knocked");
    }

    #[test]
    fn who_keeps_its_seat_for_long_is_forgiven() {
        let (mut knocks, all, out) = (Knocks::default(), seated(&[0, 1, 2, 3]), seated(&[0, 1, 2]));
        let mut lose = |at: u64| {
            knocks.on_decision(&all, &out, (Time(at * SILENCE), SILENCE));
            wait(&knocks, Time(at * SILENCE))
        };
        assert_eq!([lose(0), lose(10), lose(20)], [0, 2, 4]);
        // It had to wait until 24, for 4; the next would be 8.
        assert_eq!(lose(24 + 32 * 8 - 1), 8);
        let until = 24 + 32 * 8 - 1 + 8;
        assert_eq!(lose(until + 32 * 16), 0);
    }

    /// Seven members, some of whom have no seat, with pairs that are apart by lies or by silence; `f` that proofs may have lowered.
    fn torn(dice: &mut Dice) -> Decision {
        let members: Vec<PeerIx> = (0..7).filter(|&member| member < 3 || dice.one_in(2)).collect();
        let mut apart = Vec::new();
        for (one, other) in (0..7).flat_map(|one| (one + 1..7).map(move |other| (one, other))) {
            let cause = if dice.one_in(2) { Cause::Contradiction } else { Cause::Silence };
            if dice.one_in(4) {
                apart.push(Apart { one, other, cause, until: dice.below(20) as u32, span: 64 });
            }
        }
        let seats = members.iter().map(|&member| Seat { member, key: [0; 32] }).collect();
        let genesis = charter_with(7, 2).genesis();
        let mut electorate = genesis.electorate.clone();
        electorate.hostile = dice.below(3) as u32;
        Decision {
            epoch: 1,
            seats,
            apart,
            electorate,
            model: a_model(5, 5),
            next_round: 10,
            ..(*genesis).clone()
        }
    }

    /// Else all would stop for nothing, again and again.
    #[test]
    fn whom_all_would_stop_for_gets_its_seat() {
        let (mut dice, charter, mut stopped) = (Dice(3), charter_with(7, 2), 0);
        for case in 0..2_000 {
            let before = torn(&mut dice);
            let Some(member) = (0..7).find(|&member| !before.has_seat(member)) else { continue };
            let mut node = Agreement::new(charter.clone(), Arc::new(PlainKeys(0)), 0);
            node.decision = Arc::new(before.clone());
            if !node.could_seat(member, before.next_round) {
                continue;
            }
            stopped += 1;
            let says = standing(a_model(5, 5), None, before.next_round);
            let all = before.seats.iter().map(|seat| seat.member).chain([member]);
            let standings: BTreeMap<PeerIx, _> = all.map(|member| (member, &says)).collect();
            let next = outcome(&before, &standings, &BTreeSet::new(), (&charter, &PlainKeys(0)));
            assert!(next.is_some_and(|next| next.has_seat(member)), "case {case}: {member} of {before:?}");
        }
        assert!(stopped > 200, "{stopped} of 2,000");
    }
}
