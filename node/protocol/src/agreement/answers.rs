//! What comes in, whom it concerns, and who is told what it lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::decision::{Certificate, Decided};
use super::machine::{Agreement, Fault, Output};
use super::message::{Ask, HeardList, Message, Turns};
use crate::{PeerIx, Time};

/// So many questions and answers per member and `resend`: more than an assembly needs, and far fewer than
/// would hurt.
const MOST_AT_ONCE: u32 = 32;

/// How many questions and answers each member has had lately.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Answers {
    given: BTreeMap<PeerIx, (Time, u32)>,
    asked: BTreeMap<PeerIx, (Time, u32)>,
    next: Time,
}

impl Answers {
    pub(super) fn may_answer(&mut self, member: PeerIx, now: Time, resend: u64) -> bool {
        is_allowed(&mut self.given, member, now, resend)
    }

    pub(super) fn may_ask(&mut self, member: PeerIx, now: Time, resend: u64) -> bool {
        is_allowed(&mut self.asked, member, now, resend)
    }

    /// When to ask all for decisions again.
    pub(super) fn next_question(&self) -> Time {
        self.next
    }
}

fn is_allowed(counts: &mut BTreeMap<PeerIx, (Time, u32)>, member: PeerIx, now: Time, resend: u64) -> bool {
    let (until, count) = counts.entry(member).or_insert((now.after(resend), 0));
    if now >= *until {
        (*until, *count) = (now.after(resend), 0);
    }
    *count += 1;
    *count <= MOST_AT_ONCE
}

impl Agreement {
    pub(super) fn on_message(&mut self, from: PeerIx, message: Message) {
        if from as usize >= self.charter.members() {
            return;
        }
        let next = self.place(0).epoch;
        match message.epoch() {
            // It has missed what was decided.
            Some(epoch) if epoch < next => return self.tell_decision(from),
            // A hint that there is more to know, whatever the number is.
            Some(epoch) if epoch > next => return self.ask(from, Ask::Decided(self.decision.epoch)),
            _ => {}
        }
        match message {
            Message::Standing(standing) => self.on_standing(from, standing),
            Message::Heard(list) => self.on_heard(from, &list),
            Message::Turn(turn) => self.on_turn(from, turn),
            Message::Turns(turns) => self.on_turns(from, turns),
            Message::Propose(propose) => self.on_propose(from, propose),
            Message::Vote(vote) => self.on_vote(from, vote),
            Message::Locked(locked) => self.on_locked(from, locked),
            Message::Commit(commit) => self.on_commit(from, commit),
            Message::Decided(certificate) => self.on_decided(from, &certificate),
            Message::Ask(ask) => self.on_ask(from, ask),
            Message::Boundary(boundary) => self.on_boundary(from, boundary),
            Message::Reserve(reserve) => self.on_reserve_of(from, &reserve),
            Message::ReserveHeld(held) => self.on_reserve_held(from, &held),
        }
    }

    pub(super) fn ask(&mut self, member: PeerIx, question: Ask) {
        if member != self.me && self.answers.may_ask(member, self.now, self.charter.resend) {
            self.send(member, Message::Ask(question));
        }
    }

    pub(super) fn ask_all_for_decision(&mut self) {
        self.answers.next = self.now.after(self.charter.silence);
        self.send_all(Message::Ask(Ask::Decided(self.decision.epoch)));
    }

    fn tell_decision(&mut self, to: PeerIx) {
        if self.decision.epoch > 0 && self.answers.may_answer(to, self.now, self.charter.resend) {
            self.send(to, Message::Decided(self.certificate.clone()));
        }
    }

    fn on_ask(&mut self, from: PeerIx, ask: Ask) {
        if let Ask::Decided(epoch) = ask {
            if epoch < self.decision.epoch {
                self.tell_decision(from);
            }
            return;
        }
        if !self.answers.may_answer(from, self.now, self.charter.resend) {
            return;
        }
        match ask {
            Ask::Standings(HeardList { heard, .. }) => {
                let known: Vec<_> = heard
                    .into_iter()
                    .take(self.charter.members())
                    .filter_map(|named| self.standings.find(named).cloned())
                    .collect();
                known.into_iter().for_each(|standing| self.send(from, Message::Standing(standing)));
            }
            Ask::Turns((_, view)) => self.show_turns(from, view.saturating_sub(1)),
            Ask::Decided(_) => {}
        }
    }

    /// Shows how I came to a view beyond this one.
    pub(super) fn show_turns(&mut self, to: PeerIx, view: u32) {
        let Some(assembly) = self.assembly.as_ref().filter(|assembly| assembly.view > view) else { return };
        let (entered, locked) = (assembly.entered.clone(), assembly.locked.clone());
        if let Some(entered) = entered
            && self.answers.may_answer(to, self.now, self.charter.resend)
        {
            self.send(to, Message::Turns(Turns { turns: entered.turns.clone(), locked }));
        }
    }

    /// Others are in an assembly that I have not joined: if a quorum is, I stop too, and hear this again
    /// after my own standing.
    pub(super) fn call_for(&mut self, from: PeerIx, message: Message) {
        let turns = match &message {
            Message::Turns(turns) => Some(turns.clone()),
            Message::Propose(propose) => {
                let (turns, locked) = (propose.content().turns.clone(), propose.content().locked());
                Some(Turns { turns, locked })
            }
            _ => None,
        };
        let opened = turns.is_some_and(|turns| self.are_sound(&turns));
        if opened && !self.mute && !self.is_over() && self.early.is_none() {
            self.early = Some((from, message));
            self.outputs.push_back(Output::Call { reason: "an assembly is under way" });
        }
    }

    pub(super) fn on_decided(&mut self, from: PeerIx, certificate: &Certificate) {
        let Some(last) = certificate.chain.last() else { return };
        if last.decision.epoch <= self.decision.epoch {
            return;
        }
        // The next one proves itself by the votes that I know; later ones from the beginning.
        let next = last.decision.epoch == self.place(0).epoch;
        if next && last.is_sound(&self.decision.electorate, self.tools()) {
            return self.begin(last.clone());
        }
        if certificate.verify(self.tools()).is_err() {
            return self.fault(from, Fault::Forged);
        }
        self.certificate = certificate.clone();
        self.begin_epoch(last.clone());
    }

    /// A new epoch, whose decision was checked.
    pub(super) fn begin(&mut self, decided: Arc<Decided>) {
        let genesis = self.charter.genesis();
        self.certificate.push(decided.clone(), &genesis.electorate);
        self.begin_epoch(decided);
    }

    fn begin_epoch(&mut self, decided: Arc<Decided>) {
        self.part_company();
        self.knocks.on_decision(&self.decision, &decided.decision, (self.now, self.charter.silence));
        self.decision = decided.decision.clone();
        self.electorate = self.decision.electorate.fingerprint();
        self.standings.clear();
        // What proves nothing in another epoch, or is done with, goes.
        let decision = self.decision.clone();
        self.proofs
            .retain(|member, proof| !decision.has_banned(*member) && matches!(proof, super::Proof::Twice(_)));
        self.assembly = None;
        self.mute = false;
        self.awaiting = None;
        self.holding = None;
        self.early = None;
        self.recount_reserve();
        self.persist();
        self.outputs.push_back(Output::Decided(decided));
    }
}
