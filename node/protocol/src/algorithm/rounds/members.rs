//! Who is in: what a decision changes, fetching the model that it names, and asking for a seat.

use super::model::SharedModel;
use super::{Phase, Rounds, Say, patience};
use crate::PeerIx;
use crate::agreement::{Decision, Fingerprint, Model};
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::values::Values;

impl Rounds {
    /// A new epoch, by decision.
    pub(super) fn begin_epoch(&mut self, core: &mut Core, decision: &Decision) {
        self.break_round(core, "a new roster was decided", None);
        let held = self.model.stated(&core.settings).0;
        self.settle(core, decision.model == held);
        self.learn_look(core, decision);
        self.epoch = decision.epoch;
        self.members = decision.seats.iter().map(|seat| seat.member).collect();
        self.learn_keys(core.me, &decision.seats);
        self.apart = decision.apart.iter().map(|pair| (pair.one, pair.other, pair.until)).collect();
        self.next_round = decision.next_round;
        let found = self.model.find(&core.settings, decision.model);
        core.log(RunEvent::Roster {
            epoch: decision.epoch,
            round: decision.next_round,
            members: self.members.to_vec(),
            model: found.map_or_else(|| decision.model.digest.short(), |model| model.digest()),
            apart: self.apart.to_vec(),
        });
        self.log_streams(core);
        self.early.forget_before(decision.next_round, decision.epoch);
        self.sent.clear();
        self.trace.clear();
        self.robust.forget();
        self.forget_assembly();
        if matches!(self.phase, Phase::Over) {
            return self.save(core);
        }
        self.take_model(core, decision.model);
    }

    /// Goes on with the model that was decided on, if it is here; else asks for it.
    pub(super) fn take_model(&mut self, core: &mut Core, wanted: Model) {
        if let Some(model) = self.model.find(&core.settings, wanted) {
            let before = self.model.before().cloned().filter(|_| model.version() == self.model.version());
            self.model = model.after(before);
            return self.go_on(core);
        }
        let first = self.members.iter().copied().find(|&member| member != core.me);
        let Some(from) = first else { return self.call_assembly(core, "the model is gone", None) };
        self.agreeing.ends = core.now.after(core.settings.timeouts.give_up);
        self.phase = Phase::Fetching { from, patience: patience(core) };
        self.fetch_from(core, from);
    }

    /// The model of the decision is here: the next round, the end, or another try for a seat.
    fn go_on(&mut self, core: &mut Core) {
        let over = self.agreeing.machine.as_ref().is_some_and(|machine| machine.is_over());
        if over {
            return self.end(core, "all rounds are done", true);
        }
        if self.looking.is_under_way() {
            return self.look_on(core);
        }
        if self.members.binary_search(&core.me).is_ok() {
            if self.has_another_key(core) {
                return self.call_assembly(core, "this process has another key than was decided", None);
            }
            return self.start_round(core);
        }
        if self.agreeing.leaving {
            return self.end(core, "this node left", false);
        }
        core.log(RunEvent::Outside { epoch: self.epoch });
        self.save(core);
        self.call_assembly(core, "this node has no seat", None);
    }

    pub(super) fn on_model(&mut self, core: &mut Core, from: PeerIx, values: &Values) {
        if !matches!(self.phase, Phase::Fetching { .. }) {
            core.tolerates(from, 0);
            return;
        }
        let wanted = self.machine(core).decision().model;
        let Some(model) = SharedModel::checked(&core.settings, wanted, values) else {
            return core.fault(from, FaultKind::WrongDigest, 0);
        };
        self.model = model;
        self.go_on(core);
    }

    pub(super) fn on_fetch(&mut self, core: &mut Core, from: PeerIx, wanted: Fingerprint) {
        if !core.tolerates(from, 0) {
            return;
        }
        let (now, before) = self.model.stated(&core.settings);
        let version = self.model.version();
        if now.digest == wanted {
            core.send(from, (0, 0), Say::Model { version }, self.model.encoded());
        } else if let Some(values) =
            self.model.before().filter(|_| before.is_some_and(|b| b.digest == wanted))
        {
            let (values, version) = (values.clone(), version.saturating_sub(1));
            core.send(from, (0, 0), Say::Model { version }, values);
        }
    }

    pub(super) fn fetch_tick(&mut self, core: &mut Core) {
        let ends = self.agreeing.ends;
        let Phase::Fetching { from, patience } = &mut self.phase else { return };
        if core.now >= ends {
            return self.end(core, "the model that was decided on could not be had", false);
        }
        let over = self.agreeing.machine.as_ref().is_some_and(|machine| machine.is_over());
        if core.now >= patience.latest && !over {
            let from = *from;
            return self.call_assembly(core, "the model could not be had", Some(from));
        }
        if core.now < patience.again {
            return;
        }
        patience.again = core.now.after(core.settings.timeouts.resend);
        // Whoever has joined the round holds the model too: ask one after the other.
        let next = self.members.iter().position(|member| *member == *from).map_or(0, |at| at + 1);
        let ask = self.members[next % self.members.len()];
        *from = if ask == core.me { self.members[(next + 1) % self.members.len()] } else { ask };
        let from = *from;
        self.fetch_from(core, from);
    }

    /// Asks for the model of the decision.
    fn fetch_from(&mut self, core: &mut Core, from: PeerIx) {
        let digest = Box::new(self.machine(core).decision().model.digest);
        if from != core.me {
            core.tell(from, (0, 0), Say::Fetch { digest });
        }
    }
}
