//! What to do with each kind of message.

use super::exchange::{Heard, Kept};
use super::{Phase, Rounds};
use crate::PeerIx;
use crate::core::{Core, REPEATED_AFTER};
use crate::event::FaultKind;
use crate::message::{Body, Message};

impl Rounds {
    pub(super) fn on_message(&mut self, core: &mut Core, from: PeerIx, message: Message) {
        let place = (message.round, message.step);
        self.heard_from(core, from);
        match message.body {
            Body::Sum { epoch, values, count, start, knocked } => {
                self.on_sum(core, from, place, Heard { epoch, values, count, start, knocked });
            }
            Body::Nudge => self.on_nudge(core, from, place),
            Body::NotYet => {}
            Body::Assembly(said) => self.on_assembly(core, from, *said),
            Body::Fetch { digest } => {
                if digest == self.model.digest() && core.tolerates(from, place.0) {
                    let (version, values) = (self.model.version(), self.model.encoded());
                    core.send(from, place, Body::Model { version, values });
                }
            }
            Body::Model { version, values } => self.on_model(core, from, version, &values),
            Body::Knock { epoch } => self.on_knock(core, from, epoch),
            Body::State { .. }
            | Body::Over { .. }
            | Body::Token { .. }
            | Body::TokenHere { .. }
            | Body::TokenSafe { .. } => {
                core.fault(from, FaultKind::WrongKind, place.0);
            }
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
        self.given_up.remove(&from);
    }

    fn on_sum(&mut self, core: &mut Core, from: PeerIx, (round, step): (u32, u32), heard: Heard) {
        if heard.epoch != self.epoch {
            return self.on_other_epoch(core, from, heard.epoch);
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
        let limit = 2 * (self.members.len().max(2).ilog2() as usize + 3);
        match self.early.keep((round, step, from), heard, limit) {
            Kept::Yes => self.advance(core),
            Kept::Again => {
                core.tolerates(from, round);
            }
            Kept::Contradicts => core.fault(from, FaultKind::Contradiction, round),
            Kept::TooMany => core.fault(from, FaultKind::Flood, round),
        }
    }

    /// Whether the plan has this message; for rounds whose plan is not at hand any member may have something to say.
    fn is_expected(&self, from: PeerIx, round: u32, step: u32) -> bool {
        let Ok(sender) = self.members.binary_search(&from) else { return false };
        match &self.phase {
            Phase::Exchanging(exchange) if round == self.round => {
                (step as usize) < exchange.plan.steps()
                    && exchange.plan.role(step as usize, exchange.position).hears() == Some(sender)
            }
            _ => true,
        }
    }

    /// A sum of an earlier round: repeated, or from somebody who lost the thread.
    fn on_late(&mut self, core: &mut Core, from: PeerIx, round: u32) {
        let is_tolerated = core.tolerates(from, round);
        if round.saturating_add(REPEATED_AFTER) > self.round {
            return;
        }
        if !self.is_stuck(core) {
            // No round goes on without every member, so the sender was in the rounds since.
            core.fault(from, FaultKind::Replay, round);
        } else if is_tolerated {
            self.call_assembly(core, "a member fell behind", Some(from));
        }
    }

    fn on_nudge(&mut self, core: &mut Core, from: PeerIx, (round, step): (u32, u32)) {
        if !core.tolerates(from, round) {
            return;
        }
        if let Some(body) = self.sent.to((round, step), from) {
            let body = body.clone();
            core.send(from, (round, step), body);
        } else if round < self.round.saturating_sub(1) && self.members.contains(&from) && self.is_stuck(core)
        {
            self.call_assembly(core, "a member fell behind", Some(from));
        } else if matches!(self.phase, Phase::Over) {
            let (version, values) = (self.model.version(), self.model.encoded());
            core.send(from, (round, step), Body::Model { version, values });
        } else if self.phase_is_running() {
            core.send(from, (round, step), Body::NotYet);
        }
    }

    /// Whether the node is in a round, which cannot end without every member.
    pub(super) fn waits_for_members(&self) -> bool {
        matches!(self.phase, Phase::Contributing | Phase::Exchanging(_))
    }

    /// Whether the round does not get on. A word about an old round that comes while it does was only slow: who is behind says it again, and
    /// keeps the others waiting meanwhile.
    fn is_stuck(&self, core: &Core) -> bool {
        self.waits_for_members() && core.now >= self.began.after(core.settings.timeouts.resend)
    }

    fn phase_is_running(&self) -> bool {
        !matches!(self.phase, Phase::Over | Phase::Outside { .. })
    }

    /// Somebody is in an earlier epoch, or in a later one.
    fn on_other_epoch(&mut self, core: &mut Core, from: PeerIx, epoch: u32) {
        if !core.tolerates(from, 0) {
            return;
        }
        if epoch < self.epoch {
            self.tell_decision(core, from);
        } else {
            core.send(from, (0, 0), Body::Knock { epoch: self.epoch });
        }
    }
}
