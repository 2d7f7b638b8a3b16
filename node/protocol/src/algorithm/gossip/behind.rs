//! A node that is behind the others catches up: it jumps to their round with the state that it has.
//!
//! Invariant: a contribution that may have been recorded is charged before it is given up, and everything that was seen without being mixed is in
//! the log.

use super::{Gossip, Phase, gossip_settings};
use crate::PeerIx;
use crate::contribution::Contribution;
use crate::core::Core;

impl Gossip {
    /// A neighbour speaks of a step that this node is not near, or the node came back and does not know where the others are.
    /// `true` if it jumped.
    pub(super) fn catches_up(&mut self, core: &mut Core, from: PeerIx, at: (u32, u32)) -> bool {
        if self.phase == Phase::Waiting {
            return false;
        }
        if at.0 <= self.round {
            // The others are where this node is.
            self.returning = false;
            return false;
        }
        let absences = self.absences.get_or_insert_default();
        let ahead = absences.witness(self.round, from, at);
        let plan = gossip_settings(&core.settings).plan.step(at.0, at.1);
        let target = if self.returning {
            Some(at)
        } else if 2 * ahead > plan.heard_by(self.me).count() {
            absences.median_ahead()
        } else {
            None
        };
        let Some((round, step)) = target else { return false };
        self.jump(core, if step == 0 { round } else { round + 1 });
        true
    }

    fn jump(&mut self, core: &mut Core, round: u32) {
        if self.contribution.is_recording() {
            core.budget.charge_in_full();
        }
        self.contribution = Contribution::None;
        let mut skipped = self.round;
        if self.phase == Phase::Mixing {
            self.leave_round(core);
            skipped += 1;
        }
        let dropped = self.inbox.skip_to(round);
        let absences = self.absences.get_or_insert_default();
        for key in dropped {
            absences.was_owed(key);
            absences.late.push(key);
        }
        absences.skip(skipped..round);
        self.plan = None;
        self.returning = false;
        self.round = round;
        self.begin_round(core);
    }

    /// Lists everything of the rest of the round as not mixed.
    fn leave_round(&mut self, core: &mut Core) {
        let all = gossip_settings(&core.settings).plan.clone();
        for step in self.step..all.steps() {
            let plan = all.step(self.round, step);
            for (place, peer) in plan.heard_by(self.me) {
                let seen = step == self.step && self.inbox.at(place).is_some();
                let absences = self.absences.get_or_insert_default();
                absences.missed((self.round, step), peer);
                absences.heard(peer);
                if seen {
                    absences.was_owed((self.round, step, peer));
                    absences.late.push((self.round, step, peer));
                }
            }
        }
        self.log_mixed(core);
    }
}
