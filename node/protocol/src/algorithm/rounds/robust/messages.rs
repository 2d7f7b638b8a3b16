//! What to do with each message in the open.

use super::inbox::Kept;
use super::open::Open;
use super::{Said, What};
use crate::PeerIx;
use crate::algorithm::rounds::{Phase, Rounds, Say, rounds_settings};
use crate::core::Core;
use crate::event::FaultKind;
use crate::message::Body;
use crate::numbers::Numbers;

impl Rounds {
    pub(in crate::algorithm::rounds) fn on_said(
        &mut self,
        core: &mut Core,
        from: PeerIx,
        round: u32,
        (said, numbers): (Said, Option<Numbers>),
    ) {
        if !rounds_settings(&core.settings).is_open() {
            return core.fault(from, FaultKind::WrongKind, round);
        }
        if said.epoch != self.epoch {
            return self.on_other_epoch(core, from, said.epoch);
        }
        if self.members.binary_search(&from).is_err() {
            return core.fault(from, FaultKind::WrongSender, round);
        }
        if let What::Want { of } = said.what {
            return self.on_want(core, from, (round, of));
        }
        if round < self.round || matches!(self.phase, Phase::Over) {
            return self.on_late(core, from, round);
        }
        if round > self.round.max(self.next_round).saturating_add(1) {
            return core.fault(from, FaultKind::WrongRound, round);
        }
        let proved = rounds_settings(&core.settings).proved.is_some();
        let numbers = numbers.filter(|numbers| match numbers {
            Numbers::Reals(_) => !proved,
            Numbers::Words(words) => proved && words.as_32().is_some(),
        });
        match self.keep(from, round, (said, numbers)) {
            Some(Kept::Yes) => self.hear(core),
            Some(Kept::Again) => {
                core.tolerates(from, round);
            }
            Some(Kept::Contradicts) => core.fault(from, FaultKind::Contradiction, round),
            None => core.fault(from, FaultKind::WrongKind, round),
        }
    }

    /// `None` for what nobody says.
    fn keep(&mut self, from: PeerIx, round: u32, (said, numbers): (Said, Option<Numbers>)) -> Option<Kept> {
        let is_here = |open: &Open, of: &PeerIx| open.round == round && open.parts.contains_key(of);
        let open = self.robust.rounds.back().filter(|open| open.round == round);
        Some(match said.what {
            What::Mine { count } => {
                if let Some(part) = open.and_then(|open| open.parts.get(&from)).filter(|part| !part.passed) {
                    let same = numbers.is_some_and(|numbers| numbers == part.numbers) && count == part.count;
                    return Some(if same { Kept::Again } else { Kept::Contradicts });
                }
                if open.is_some_and(|open| is_here(open, &from)) {
                    return Some(Kept::Again);
                }
                self.robust.inbox.keep_part((round, from), (said, numbers?))
            }
            What::Heard { set } => match open.and_then(|open| open.sets.get(&from)) {
                Some((before, _)) if *before == set => Kept::Again,
                Some(_) => Kept::Contradicts,
                None => self.robust.inbox.keep_set((round, from), (set, said.signature)),
            },
            What::Passed { of, count } => {
                // Only what was asked for: of this round, by a member, and not here.
                let wanted = open.is_some_and(|open| !is_here(open, &of) && open.members.contains(&of));
                if !wanted {
                    return Some(Kept::Again);
                }
                self.robust.inbox.keep_copy(of, from, (count, numbers?))
            }
            What::Want { .. } => return None,
        })
    }

    /// Somebody lacks a contribution, or what its author has heard.
    fn on_want(&self, core: &mut Core, from: PeerIx, (round, of): (u32, PeerIx)) {
        if !core.tolerates(from, round) {
            return;
        }
        let open = self.robust.rounds.iter().find(|open| open.round == round);
        match open.and_then(|open| Some((open, open.parts.get(&of)?))) {
            Some(_) if of == core.me => {
                self.tell_part(core, round, Some(from));
                self.tell_set(core, round, Some(from));
            }
            Some((open, part)) if !part.passed => {
                let (what, start) = (What::Passed { of, count: part.count }, open.start);
                let said = Said { epoch: self.epoch, start, what, signature: None };
                core.send(from, (round, 0), Say::Robust(Box::new(said)), part.numbers.clone());
            }
            _ if matches!(self.phase, Phase::Over) => self.tell_decision(core, from),
            _ => core.tell(from, (round, 0), Body::NotYet),
        }
    }
}
