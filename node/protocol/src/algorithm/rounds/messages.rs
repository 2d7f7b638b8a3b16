//! What to do with each kind of message.

use super::exchange::{Heard, Kept};
use super::masks::Wearing;
use super::{Phase, Rounds, Say};
use crate::PeerIx;
use crate::core::{Core, REPEATED_AFTER};
use crate::event::FaultKind;
use crate::message::{Body, Message};
use crate::numbers::Numbers;

impl Rounds {
    pub(super) fn on_message(&mut self, core: &mut Core, from: PeerIx, message: Message) {
        let place = (message.round, message.step);
        self.heard_from(core, from);
        match (message.body, message.numbers) {
            (Body::Nudge, _) => self.on_nudge(core, from, place),
            (Body::NotYet, _) => {}
            (Body::Rounds(Say::Sum(said)), Some(numbers)) if self.is_of_our_kind(core, &numbers) => {
                self.on_sum(core, from, place, Heard { said, numbers });
            }
            (Body::Rounds(Say::Model { .. }), Some(Numbers::Reals(values))) => {
                self.on_model(core, from, &values);
            }
            (Body::Rounds(Say::Robust(said)), numbers) => self.on_said(core, from, place.0, (*said, numbers)),
            (Body::Rounds(Say::Key(told)), _) => self.on_key(core, from, &told),
            (Body::Rounds(Say::Agreement(said)), _) => self.on_agreement(core, from, &said),
            (Body::Rounds(Say::Fetch { digest }), _) => self.on_fetch(core, from, *digest),
            _ => core.fault(from, FaultKind::WrongKind, place.0),
        }
    }

    /// A peer that speaks is not silent, though it may keep us waiting only so long.
    fn heard_from(&mut self, core: &Core, from: PeerIx) {
        if let Phase::Exchanging(exchange) = &mut self.phase
            && let Some((peer, patience)) = &mut exchange.waiting
            && *peer == from
        {
            patience.until = core.now.after(core.settings.timeouts.silence).min(patience.latest);
        }
        if let Phase::Hearing(patience) = &mut self.phase
            && self.robust.awaited() == Some(from)
        {
            patience.until = core.now.after(core.settings.timeouts.silence).min(patience.latest);
        }
    }

    fn on_sum(&mut self, core: &mut Core, from: PeerIx, (round, step): (u32, u32), heard: Heard) {
        if heard.said.epoch != self.epoch {
            return self.on_other_epoch(core, from, heard.said.epoch);
        }
        if round < self.round || matches!(self.phase, Phase::Over) {
            self.on_late(core, from, round);
            return;
        }
        // Who is still fetching the model has not begun the round that others are in.
        if round > self.round.max(self.next_round).saturating_add(1) || step as usize > 64 {
            return core.fault(from, FaultKind::WrongRound, round);
        }
        if !self.is_expected(from, round, step) {
            return core.fault(from, FaultKind::WrongSender, round);
        }
        let parameters = core.settings.initial.len();
        let whole = core.settings.mechanism.words().map_or(parameters, |on| Wearing::length(parameters, on));
        let room = (!self.is_awaited(from, (round, step))).then_some(whole);
        match self.early.keep((round, step, from), heard, room) {
            Kept::Yes => self.advance(core),
            Kept::Again | Kept::TooMany => {
                core.tolerates(from, round);
            }
            Kept::Contradicts => core.fault(from, FaultKind::Contradiction, round),
        }
    }

    /// Whether this is what the node waits for now.
    fn is_awaited(&self, from: PeerIx, (round, step): (u32, u32)) -> bool {
        let Phase::Exchanging(exchange) = &self.phase else { return false };
        let peer = exchange.waiting.map(|(peer, _)| peer);
        round == self.round && peer == Some(from) && exchange.step() == step
    }

    /// Whether the plan has this message; for rounds whose plan is not at hand any member may have something to say.
    fn is_expected(&self, from: PeerIx, round: u32, step: u32) -> bool {
        let Ok(sender) = self.members.binary_search(&from) else { return false };
        match &self.phase {
            Phase::Exchanging(exchange) if round == self.round => exchange.speaker(step) == Some(sender),
            _ => true,
        }
    }

    /// A sum of an earlier round: repeated, or from somebody who lost the thread.
    pub(super) fn on_late(&mut self, core: &mut Core, from: PeerIx, round: u32) {
        core.tolerates(from, round);
        let repeats = round.saturating_add(REPEATED_AFTER) <= self.round && !self.asked.has(from, round);
        if repeats && !self.is_stuck(core) {
            // No round goes on without every member, so the sender was in the rounds since.
            core.fault(from, FaultKind::Replay, round);
        }
    }

    fn on_nudge(&mut self, core: &mut Core, from: PeerIx, (round, step): (u32, u32)) {
        if !core.tolerates(from, round) {
            return;
        }
        if let Some(Heard { said, numbers }) = self.sent.to((round, step), from) {
            core.send(from, (round, step), Say::Sum(said.clone()), numbers.clone());
        } else if matches!(self.phase, Phase::Over) {
            self.tell_decision(core, from);
        } else {
            core.tell(from, (round, step), Body::NotYet);
        }
    }

    /// Whether the node is in a round, which cannot end without every member.
    pub(super) fn waits_for_members(&self) -> bool {
        matches!(
            self.phase,
            Phase::Meeting(_) | Phase::Contributing | Phase::Exchanging(_) | Phase::Hearing(_)
        )
    }

    /// Whether the round does not get on. A word about an old round that comes while it does was only slow: who is behind says it again, and
    /// keeps the others waiting meanwhile.
    fn is_stuck(&self, core: &Core) -> bool {
        self.waits_for_members() && core.now >= self.began.after(core.settings.timeouts.resend)
    }

    /// Somebody is in an earlier epoch, or in a later one.
    pub(super) fn on_other_epoch(&mut self, core: &mut Core, from: PeerIx, epoch: u32) {
        if !core.tolerates(from, 0) {
            return;
        }
        if epoch < self.epoch {
            self.tell_decision(core, from);
        } else {
            self.ask_decision(core, from);
        }
    }
}
