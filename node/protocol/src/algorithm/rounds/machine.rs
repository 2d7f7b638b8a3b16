//! Averaging rounds as a [`Machine`]: inputs, what comes back after a crash, and when to come back.

use std::sync::Arc;

use super::model::SharedModel;
use super::{Lie, Masks, Phase, Rounds};
use crate::agreement::{Certificate, Credentials, TroubleKind};
use crate::algorithm::Machine;
use crate::core::Core;
use crate::message::Message;
use crate::node::{Disk, Input, Snapshot};
use crate::settings::Settings;
use crate::{PeerIx, Time};

impl Machine for Rounds {
    fn restore(&mut self, settings: &Settings, snapshot: &Snapshot) {
        if let Some(model) = SharedModel::decoded(settings, snapshot.version, &snapshot.model) {
            self.model = model.after(snapshot.before.clone());
        }
        self.epoch = snapshot.epoch;
        self.members = snapshot.members.clone().into();
        // The round after the boundary may have begun before the crash: its number is spent.
        self.next_round = snapshot.round + 1;
        self.unused = snapshot.round + 1;
        self.round = snapshot.round;
        self.agreeing.memory.clone_from(&snapshot.agreement);
        self.reserving.restore(snapshot);
        self.came_back = true;
    }

    fn enroll(&mut self, credentials: Credentials) {
        if credentials.charter.terms().seats.is_empty() && self.epoch == 0 {
            self.members = Arc::new([]);
        }
        self.agreeing.credentials = Some(credentials);
    }

    fn found(&mut self, disk: Disk) {
        self.reserving.found(disk);
    }

    fn certificate(&self) -> Option<&Certificate> {
        self.agreeing.certificate().filter(|certificate| !certificate.is_empty())
    }

    fn handle(&mut self, core: &mut Core, input: Input) {
        match input {
            Input::Start if matches!(self.phase, Phase::Waiting) => self.on_start(core),
            // To start over would forget what the round under way has released.
            Input::Start => {}
            Input::Received { from, message } => self.on_message(core, from, message),
            Input::Computed(computed) => self.on_computed(core, computed),
            Input::Recorded(id) => self.on_recorded(core, id),
            Input::Tick => self.on_tick(core),
            Input::Leave => self.on_leave(core),
        }
    }

    /// A message of `from` was malformed. If it is the one that is waited for, waiting is in vain.
    fn on_refused(&mut self, core: &mut Core, from: PeerIx, message: Message) {
        let waited_for = match &self.phase {
            Phase::Exchanging(exchange) => exchange.waiting.is_some_and(|(peer, _)| peer == from),
            Phase::Hearing(_) => self.robust.owes(from),
            _ => false,
        };
        if waited_for && core.accused.contains(&from) {
            self.hear_refused(core, from, message);
            self.call_about(core, "a peer sends malformed messages", TroubleKind::Malformed, from);
        }
    }

    fn wake_at(&self) -> Option<Time> {
        let own = match &self.phase {
            Phase::Contributing => self.sits_out_at(),
            Phase::Waiting | Phase::Over => None,
            Phase::Meeting(patience) => Some(patience.again.min(patience.until)),
            Phase::Exchanging(exchange) => {
                exchange.waiting.map(|(_, patience)| patience.again.min(patience.until))
            }
            Phase::Hearing(patience) => Some(patience.again.min(patience.until)),
            Phase::Assembling | Phase::Recalling => Some(self.agreeing.ends),
            Phase::Fetching { patience, .. } => Some(patience.again.min(self.agreeing.ends)),
        };
        let agreement = self.agreeing.machine.as_ref().and_then(|machine| machine.wake_at());
        own.into_iter().chain(agreement).chain(self.reserving.wake_at(&self.phase)).min()
    }

    fn wear(&mut self, masks: Masks) {
        self.put_on(masks);
    }

    fn danger_lie(&mut self, lie: Lie, from: Time) {
        self.lies = Some((lie, from));
    }

    fn model(&self) -> &[f32] {
        self.model.params()
    }

    fn round(&self) -> u32 {
        self.model.version()
    }
}
