//! What becomes of a message: used now, kept for later, logged as late, or held against its sender.
//!
//! Invariant: a message is mixed at most once, in its own step, and only if the plan of that step lets this node hear its sender.

use super::inbox::Taken;
use super::{Gossip, Phase, Say, gossip_settings};
use crate::PeerIx;
use crate::core::{Core, REPEATED_AFTER};
use crate::event::FaultKind;
use crate::message::{Body, Message};
use crate::numbers::Numbers;
use crate::values::Values;

/// A message may be this many rounds ahead.
const ROUNDS_AHEAD: u64 = 2;

impl Gossip {
    pub(super) fn on_message(&mut self, core: &mut Core, from: PeerIx, message: Message) {
        let at = (message.round, message.step);
        match (message.body, message.numbers.and_then(Numbers::into_reals)) {
            (Body::Gossip(Say::State), Some(values)) => self.on_state(core, from, at, values),
            (Body::Gossip(Say::Key(told)), None) => self.on_key(core, from, &told),
            _ => core.fault(from, FaultKind::WrongKind, message.round),
        }
    }

    fn on_state(&mut self, core: &mut Core, from: PeerIx, at: (u32, u32), values: Values) {
        let steps = gossip_settings(&core.settings).plan.steps();
        if at.0 >= core.settings.rounds || at.1 >= steps {
            return core.fault(from, FaultKind::WrongRound, at.0);
        }
        if self.phase == Phase::Done || at < (self.round, self.step) {
            return self.on_late(core, from, at);
        }
        let too_far = self.is_too_far(at, steps);
        if too_far && !core.tolerates(from, at.0) {
            return;
        }
        let Some(place) = self.place_of(core, from, at) else {
            return core.fault(from, FaultKind::WrongSender, at.0);
        };
        if self.largest_squared.is_finite() && values.squared_norm() > self.largest_squared {
            return core.fault(from, FaultKind::TooLarge, at.0);
        }
        // Who sent what nobody honest sends is left out: its weight returns to this node, and it is not waited for.
        if core.accused.contains(&from) {
            return;
        }
        if (too_far || self.returning) && self.catches_up(core, from, at) {
            return self.on_state(core, from, at, values);
        }
        if too_far {
            return core.fault(from, FaultKind::WrongRound, at.0);
        }
        let taken = if self.is_current(at) {
            self.inbox.take(place, values)
        } else {
            self.inbox.keep((at.0, at.1, from), values)
        };
        match taken {
            Taken::New if self.is_current(at) => self.heard(from),
            Taken::New => self.hasten(from),
            Taken::Again => {
                core.tolerates(from, at.0);
            }
            Taken::Contradicts => core.fault(from, FaultKind::Contradiction, at.0),
        }
    }

    /// A message of the past: seen, not used. The log says so if it was waited for in vain.
    fn on_late(&mut self, core: &mut Core, from: PeerIx, (round, step): (u32, u32)) {
        self.heard(from);
        let tolerated = core.tolerates(from, round);
        if let Some(absences) = &mut self.absences
            && (absences.was_owed((round, step, from)) || (tolerated && absences.was_skipped(round)))
        {
            absences.late.push((round, step, from));
            if self.phase == Phase::Done {
                self.log_mixed(core);
            }
        } else if round.saturating_add(REPEATED_AFTER) <= self.round {
            // Not waited for in vain, so it was here in its time.
            core.fault(from, FaultKind::Replay, round);
        }
    }

    fn is_too_far(&self, at: (u32, u32), steps: u32) -> bool {
        let position = |(round, step): (u32, u32)| u64::from(round) * u64::from(steps) + u64::from(step);
        position(at) > position((self.round, self.step)) + ROUNDS_AHEAD * u64::from(steps)
    }

    /// The place of a message in the row of its step, if it belongs there. The plan at hand is not cloned: its counter is shared by all nodes.
    fn place_of(&self, core: &Core, from: PeerIx, at: (u32, u32)) -> Option<usize> {
        match &self.plan {
            Some(plan) if self.is_current(at) => plan.place(self.me, from),
            _ => gossip_settings(&core.settings).plan.step(at.0, at.1).place(self.me, from),
        }
    }

    fn heard(&mut self, peer: PeerIx) {
        if let Some(absences) = &mut self.absences {
            absences.heard(peer);
        }
    }

    /// A peer that is beyond this step has sent its message of this step: what is not here soon is lost.
    pub(super) fn hasten(&mut self, peer: PeerIx) {
        if self.phase == Phase::Mixing && self.awaits(peer) {
            self.absences.get_or_insert_default().hasten(peer);
        }
    }
}
