//! Calling an assembly, and hearing where the others stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::looking::{Inspection, Look};
use super::machine::{Agreement, Assembly, Fault, Output};
use super::message::{Ask, HeardList, Message};
use super::proof::Proof;
use super::records::RoundRecord;
use super::sealed::Sealed;
use super::statements::{Named, Standing};
use crate::PeerIx;

/// A standing has no more tokens than this.
const MOST_TOKENS: usize = 1024;
/// What is said again is said less often while nothing happens: up to so many times `resend`.
const LONGEST_PAUSE: u64 = 16;

impl Agreement {
    /// The first standing of an epoch is kept, signed and said; later ones are not heard.
    pub(super) fn on_call(&mut self, mut standing: Standing) {
        if self.assembly.is_some() || self.mute || self.decision.has_banned(self.me) {
            return;
        }
        let twice = self.proofs.values().filter_map(|proof| match proof {
            Proof::Twice(twice) => Some(twice.clone()),
            Proof::Unjustified(_) => None,
        });
        standing.proofs.extend(twice);
        let sealed = Arc::new(Sealed::new(self.me, self.place(0), standing, self.tools()));
        self.standings.insert(sealed.clone());
        let mut assembly = Assembly::new(sealed.clone(), self.now);
        assembly.until = self.now.after(self.charter.silence);
        assembly.again = self.now.after(self.charter.resend);
        self.assembly = Some(Box::new(assembly));
        self.awaiting = None;
        self.persist();
        self.send_all(Message::Standing(sealed));
        if let Some((from, message)) = self.early.take() {
            self.on_message(from, message);
        }
        self.progress();
    }

    pub(super) fn on_awaiting(&mut self, partner: Option<PeerIx>) {
        self.awaiting = partner;
        self.heed_calls();
    }

    pub(super) fn on_holding(&mut self, version: u32) {
        self.holding = Some(version);
        self.heed_calls();
    }

    pub(super) fn on_standing(&mut self, from: PeerIx, standing: Arc<Sealed<Standing>>) {
        let named = (standing.by(), standing.digest());
        let wanted = self.wanted();
        if self.standings.has_digest(named.0, named.1) {
            // Said again: what left it no seat may be over.
            return self.heed_knock(named.0);
        }
        if self.decision.has_banned(named.0) || !self.standings.has_room(named, &wanted) {
            return;
        }
        let (charter, keys) = self.tools();
        let ours = standing.place() == self.place(0) && (named.0 as usize) < charter.members();
        let sound = is_sound(standing.content(), charter.members(), self.decision.inspection.as_ref());
        if !ours || !sound || !standing.is_signed(charter, keys) {
            return self.fault(from, Fault::Forged);
        }
        for twice in &standing.content().proofs {
            let (charter, keys) = self.tools();
            if !self.proofs.contains_key(&twice.by) && twice.is_sound(charter, keys) {
                self.note(Proof::Twice(twice.clone()));
            }
        }
        if let Some(first) = self.standings.first(named.0).cloned() {
            self.note(Proof::of_sealed(&*first, &*standing));
        }
        self.standings.insert(standing);
        if let Some(assembly) = &mut self.assembly {
            assembly.pause = 1;
            return self.progress();
        }
        self.heed_calls();
        self.heed_knock(named.0);
    }

    /// The standings that the parked proposal names.
    fn wanted(&self) -> Vec<Named> {
        let parked = self.assembly.as_ref().and_then(|assembly| assembly.parked.as_ref());
        parked.map(|propose| propose.content().standings.clone()).unwrap_or_default()
    }

    /// Stops if whom I wait for has called, or so many that one of them is honest. A lone call of anybody
    /// else breaks nothing, nor do calls of those who have finished the round that I am in: its sums are there.
    fn heed_calls(&mut self) {
        if self.assembly.is_some() || self.mute || self.is_over() {
            return;
        }
        let callers: BTreeSet<PeerIx> =
            self.standings.members().filter(|&member| self.is_heeded(member)).collect();
        let reason = if self.awaiting.is_some_and(|partner| callers.contains(&partner)) {
            "a partner called an assembly"
        } else if callers.len() >= self.decision.electorate.one_honest() {
            "an assembly was called"
        } else {
            return;
        };
        self.outputs.push_back(Output::Call { reason });
    }

    fn is_heeded(&self, member: PeerIx) -> bool {
        let stated = self.standings.first(member).map(|standing| standing.content().model.version);
        let finished = stated.zip(self.holding).is_some_and(|(stated, holding)| stated > holding);
        // Who wants to look into the round that I am in has finished it too.
        let look = self.standings.first(member).and_then(|standing| standing.content().look.as_ref());
        let forced = |look: &Look| look.wants.is_some_and(|wants| wants.coin.is_none());
        let looks = look.is_some_and(forced) && stated == self.holding;
        self.decision.has_seat(member) && !finished && !looks
    }

    pub(super) fn on_heard(&mut self, from: PeerIx, list: &HeardList) {
        let lacking: Vec<Named> = list
            .heard
            .iter()
            .copied()
            .take(self.charter.members())
            .filter(|&(member, _)| (member as usize) < self.charter.members() && !self.standings.has(member))
            .collect();
        if !lacking.is_empty() && self.answers.may_ask(from, self.now, self.charter.resend) {
            let epoch = self.place(0).epoch;
            self.send(from, Message::Ask(Ask::Standings(HeardList { epoch, heard: lacking })));
        }
        let knows_me = list.heard.iter().any(|&(member, _)| member == self.me);
        let mine = self.assembly.as_ref().filter(|_| !knows_me).map(|assembly| assembly.standing.clone());
        if let Some(mine) = mine
            && self.answers.may_answer(from, self.now, self.charter.resend)
        {
            self.send(from, Message::Standing(mine));
        }
    }

    /// Whether everybody that could be here was heard: all with a vote or a seat.
    fn all_are_heard(&self) -> bool {
        let seats = self.decision.seats.iter().map(|seat| seat.member);
        let mut expected = self.decision.electorate.votes.iter().copied().chain(seats);
        expected.all(|member| self.standings.has(member) || self.decision.has_banned(member))
    }

    /// Those with a vote that were not heard.
    fn missing(&self) -> Vec<PeerIx> {
        let votes = self.decision.electorate.votes.iter().copied();
        votes.filter(|&member| !self.standings.has(member)).collect()
    }

    fn quorum_is_heard(&self) -> bool {
        let votes = self.decision.electorate.votes.len();
        votes - self.missing().len() >= super::flaw::quorum(&self.decision.electorate)
    }

    /// View 0 ends when all are heard.
    pub(super) fn first_turn(&mut self) {
        let gathering = self.assembly.as_ref().is_some_and(|a| a.view == 0 && a.turn.is_none());
        if gathering && self.all_are_heard() {
            self.turn();
        }
    }

    /// The time of this view is up.
    pub(super) fn on_silence(&mut self) {
        let Some(assembly) = &mut self.assembly else { return };
        assembly.until = self.now.after(self.charter.silence);
        if assembly.view > 0 {
            return self.turn();
        }
        if self.quorum_is_heard() {
            self.turn();
        } else {
            let missing = self.missing();
            self.outputs.push_back(Output::Missing(missing));
        }
    }

    /// Says again what may not have been heard.
    pub(super) fn repeat(&mut self) {
        let Some(assembly) = &mut self.assembly else { return };
        assembly.again = self.now.after(assembly.pause.saturating_mul(self.charter.resend));
        assembly.pause = (2 * assembly.pause).min(LONGEST_PAUSE);
        let (mine, turn, vote, commit) =
            (assembly.standing.clone(), assembly.turn.clone(), assembly.vote, assembly.commit);
        let proposer = self.proposer(self.assembly.as_ref().map_or(0, |assembly| assembly.view));
        let unheard: Vec<PeerIx> = self.charter.everybody().filter(|&m| !self.standings.has(m)).collect();
        for member in unheard {
            self.send(member, Message::Standing(mine.clone()));
        }
        let list = HeardList { epoch: self.place(0).epoch, heard: self.standings.named() };
        self.send_all(Message::Heard(list));
        if let Some(turn) = turn {
            self.send_all(Message::Turn(turn));
        }
        if let Some(vote) = vote {
            self.send(proposer, Message::Vote(vote));
        }
        if let Some(commit) = commit {
            self.send(proposer, Message::Commit(commit));
        }
        self.repeat_lead();
        self.progress();
    }

    /// Goes on as far as what was heard allows.
    pub(super) fn progress(&mut self) {
        self.first_turn();
        self.gather_turns();
        self.try_to_enter();
        self.try_parked();
        self.try_to_lead();
    }
}

/// No longer than what an honest one of so many members can say: what is proved, proposed and kept holds the standings of all, and must fit into a frame.
fn is_sound(standing: &Standing, members: usize, looked_into: Option<&Inspection>) -> bool {
    let one_each = standing.proofs.windows(2).all(|pair| pair[0].by < pair[1].by);
    let short = standing.tokens.len() <= MOST_TOKENS && standing.proofs.len() <= members;
    let look = standing.look.as_ref().is_none_or(|look| look.is_sound(members, looked_into));
    let record = |record: &RoundRecord| record.is_sound() && record.is_short(members);
    one_each && short && look && standing.rounds.len() <= 2 && standing.rounds.iter().all(record)
}
