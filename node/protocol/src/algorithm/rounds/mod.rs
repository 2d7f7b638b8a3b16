//! DP-SGD in rounds that end in exact consensus (`rounds`).
//!
//! Each round every member contributes a noised gradient, recursive doubling over a fresh public order gives all members the same sum, and all
//! take the same step: the digests of their models agree. Messages carry the digest of the model that the round started from.
//!
//! Whatever goes wrong (a silent peer, a differing digest, a malformed sum) ends the round for those who notice, and an `assembly` agrees on who is
//! there and which model is the newest: a sweep without contributions. Partial sums of a broken round are dropped everywhere, and its
//! contributions are charged as if everybody had seen them. Nodes that come back knock and are taken in at a round boundary.
//!
//! Invariants: a contribution starts from a model that the whole roster holds; a round number is never used twice; at most one finished round is
//! unsettled, and it counts in full against the budget until the next one proves that all members agreed.

mod assembly;
mod exchange;
mod fold;
pub(crate) mod leverage;
mod members;
mod messages;
mod model;
mod plan;
mod say;
mod settings;

use std::collections::BTreeSet;
use std::sync::Arc;

use topology::schedule::Role;

use crate::algorithm::{Algorithm, Machine};
use crate::contribution::{Budget, Contribution};
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::message::Body;
use crate::node::{Input, Snapshot};
use crate::settings::Settings;
use crate::time::Patience;
use crate::values::Values;
use crate::work::Job;
use crate::{PeerIx, Time};

use assembly::Assembly;
use exchange::{Early, Exchange, Heard, Sent};
pub(crate) use fold::RoundsFold;
use leverage::Leverages;
use model::SharedModel;
pub use say::{AssemblyKind, AssemblyMessage, Ballot, Proposal, Say, Sum};
pub use settings::RoundsSettings;

/// A silent peer is given up after [`crate::Timeouts::silence`]; one that answers but never delivers, after this many times as long.
const PATIENCE_WITH_THE_LIVING: u64 = 6;

pub(crate) struct Rounds {
    model: SharedModel,
    epoch: u32,
    members: Arc<[PeerIx]>,
    round: u32,
    /// The first round that was not begun.
    next_round: u32,
    /// When the round that is under way began.
    began: Time,
    phase: Phase,
    contribution: Contribution,
    /// The round of a contribution that was recorded in the round that is under way.
    released: Option<u32>,
    settling: Option<Settling>,
    early: Early,
    sent: Sent,
    /// Who asks to be taken in.
    knocks: BTreeSet<PeerIx>,
    /// Who is known to be silent.
    given_up: BTreeSet<PeerIx>,
    assembly: Assembly,
    /// How the current epoch began, for those who missed it.
    decided: Option<Proposal>,
    came_back: bool,
}

enum Phase {
    /// Before the start.
    Waiting,
    /// The contribution is being computed or recorded.
    Contributing,
    Exchanging(Box<Exchange>),
    /// The roster is being agreed on.
    Assembling,
    /// In the roster, but without its model.
    Fetching {
        from: PeerIx,
        patience: Patience,
    },
    /// Not in step with the others: knocking.
    Outside {
        again: Time,
        call: Time,
        until: Time,
    },
    Over,
}

/// A finished round whose consensus is not proved yet.
struct Settling {
    members: Arc<[PeerIx]>,
    leverages: Leverages,
}

impl Rounds {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            model: SharedModel::first(settings),
            epoch: 0,
            members: (0..settings.nodes as PeerIx).collect(),
            round: 0,
            next_round: 0,
            began: Time(0),
            phase: Phase::Waiting,
            contribution: Contribution::None,
            released: None,
            settling: None,
            early: Early::default(),
            sent: Sent::default(),
            knocks: BTreeSet::new(),
            given_up: BTreeSet::new(),
            assembly: Assembly::new(1, Time(0)),
            decided: None,
            came_back: false,
        }
    }

    fn on_start(&mut self, core: &mut Core) {
        if self.came_back {
            self.step_outside(core);
        } else {
            self.start_round(core);
        }
    }

    /// The next round, or the end.
    fn start_round(&mut self, core: &mut Core) {
        let rounds = core.settings.rounds;
        if self.model.version() >= rounds {
            return self.end(core, "all rounds are done");
        }
        // Broken rounds are made up for, but not without end.
        if self.next_round >= rounds.saturating_mul(4).saturating_add(64) {
            return self.end(core, "too many rounds were broken");
        }
        self.round = self.next_round;
        self.next_round += 1;
        self.began = core.now;
        self.early.forget_before(self.round, self.epoch);
        self.sent.forget_before(self.round.saturating_sub(1));
        core.forgive();
        self.save(core);
        self.phase = Phase::Contributing;
        self.begin_contribution(core);
    }

    fn begin_contribution(&mut self, core: &mut Core) {
        if self.contribution.is_recording() {
            return; // That of a broken round; its record must be answered first.
        }
        let pending = u32::from(self.settling.is_some());
        let params = Values::derived(self.model.params().to_vec());
        let job = Job { among: Some(self.members.clone()), ..Job::new(self.round, params) };
        if !self.contribution.begin(core, job, pending) {
            let nothing = vec![0.0; self.model.params().len()];
            self.exchange(core, nothing, 0);
        }
    }

    fn on_recorded(&mut self, core: &mut Core, id: u64) {
        let Some((round, values)) = self.contribution.on_recorded(core, id, (0, 0)) else { return };
        let contributing = matches!(self.phase, Phase::Contributing);
        if contributing && round == self.round {
            self.released = Some(round);
            self.exchange(core, values.into_values(), 1);
        } else {
            // Its round was broken meanwhile. It was not sent, but it is on record.
            core.budget.charge_in_full();
            if contributing {
                self.begin_contribution(core);
            }
        }
    }

    fn exchange(&mut self, core: &mut Core, sum: Vec<f32>, count: u32) {
        let Ok(position) = self.members.binary_search(&core.me) else {
            return self.step_outside(core);
        };
        let plan = rounds_settings(&core.settings).plan(&core.settings.key, self.round, &self.members);
        let knocked = !self.knocks.is_empty();
        self.phase = Phase::Exchanging(Box::new(Exchange {
            plan,
            position,
            step: 0,
            sum,
            count,
            knocked,
            waiting: None,
        }));
        self.advance(core);
    }

    /// Goes on as far as what was heard allows.
    fn advance(&mut self, core: &mut Core) {
        loop {
            let Phase::Exchanging(exchange) = &self.phase else { return };
            let Some(role) = exchange.role() else { return self.finish_round(core) };
            if exchange.waiting.is_none() {
                self.speak(core, role);
            }
            if !self.listen(core, role) {
                return;
            }
        }
    }

    /// Sends what the role of this step asks for.
    fn speak(&mut self, core: &mut Core, role: Role) {
        let Phase::Exchanging(exchange) = &self.phase else { return };
        let (Role::SendTo(partner) | Role::Exchange(partner) | Role::GiveTo(partner)) = role else { return };
        let to = self.members[partner];
        let (epoch, start) = (self.epoch, self.model.digest());
        let said = Box::new(Sum { epoch, count: exchange.count, start, knocked: exchange.knocked });
        let values = Values::derived(exchange.sum.clone());
        let place = (self.round, exchange.step);
        self.sent.keep(place, to, Heard { said: said.clone(), values: values.clone() });
        core.send(to, place, Say::Sum(said), values);
    }

    /// Takes in what the role of this step waits for; `false` if it is not there yet or the round broke.
    fn listen(&mut self, core: &mut Core, role: Role) -> bool {
        let Phase::Exchanging(exchange) = &mut self.phase else { return false };
        let Some(partner) = role.hears() else {
            exchange.step += 1;
            return true;
        };
        let from = self.members[partner];
        let Some(heard) = self.early.take((self.round, exchange.step, from)) else {
            exchange.waiting.get_or_insert_with(|| (from, patience(core)));
            return false;
        };
        if let Some(reason) = self.objection(core, &heard, partner) {
            self.call_assembly(core, reason, Some(from));
            return false;
        }
        let Phase::Exchanging(exchange) = &mut self.phase else { return false };
        exchange.take(role, &heard);
        exchange.waiting = None;
        exchange.step += 1;
        true
    }

    /// Why a sum cannot be used, if so.
    fn objection(&mut self, core: &mut Core, heard: &Heard, partner: usize) -> Option<&'static str> {
        let Phase::Exchanging(exchange) = &self.phase else { return None };
        let from = self.members[partner];
        let count = heard.said.count;
        if heard.said.start != self.model.digest() {
            return Some("digests differ");
        }
        let largest = f64::from(count) * core.settings.largest_norm;
        // Incoming numbers are finite, and their squares add up in double precision: no NaN here.
        let too_large = heard.values.squared_norm() > largest * largest;
        if count > exchange.largest_count(partner) || (count > 0 && too_large) {
            core.fault(from, FaultKind::TooLarge, self.round);
            return Some("a sum is larger than honest contributions can be");
        }
        None
    }

    /// All sums are in: everybody takes the same step.
    fn finish_round(&mut self, core: &mut Core) {
        let Phase::Exchanging(exchange) = std::mem::replace(&mut self.phase, Phase::Waiting) else { return };
        let start = self.model.digest();
        let silent = self.members.len().saturating_sub(exchange.count as usize);
        self.model.advance(&core.settings, exchange.sum, exchange.count);
        let (round, epoch, count, end) = (self.round, self.epoch, exchange.count, self.model.digest());
        core.log(RunEvent::RoundDone { round, epoch, start, end, count });
        // That everybody was in this round from the same model proves the round before.
        self.settle(core, true);
        if self.released.take().is_some() {
            let leverages = Leverages::new(exchange.plan, silent);
            self.settling = Some(Settling { members: self.members.clone(), leverages });
        }
        if exchange.knocked && self.model.version() < core.settings.rounds {
            self.assemble_after_round(core);
        } else {
            self.start_round(core);
        }
    }

    /// Charges the last finished round for what was really seen, or in full if it did not end in consensus.
    fn settle(&mut self, core: &mut Core, agreed: bool) {
        let Some(settling) = self.settling.take() else { return };
        let settings = core.settings.clone();
        let position = settling.members.binary_search(&core.me).ok();
        let source = position.filter(|_| agreed && Budget::looks_at_peers(&settings));
        let Some(source) = source else { return core.budget.charge_in_full() };
        let leverages = settling.leverages.towards_all(source, &settling.members, settings.nodes);
        core.budget.charge(&settings, &leverages);
    }

    /// Gives up the round that is under way, if one is.
    fn break_round(&mut self, core: &mut Core, reason: &str, missing: Option<PeerIx>) {
        if !matches!(self.phase, Phase::Contributing | Phase::Exchanging(_)) {
            return;
        }
        let (round, epoch, start) = (self.round, self.epoch, self.model.digest());
        core.log(RunEvent::RoundBroken { round, epoch, start, missing, reason: reason.into() });
        if self.released.take().is_some() {
            core.budget.charge_in_full();
        }
        if !self.contribution.is_recording() {
            self.contribution = Contribution::None;
        }
    }

    fn on_tick(&mut self, core: &mut Core) {
        match &mut self.phase {
            Phase::Waiting | Phase::Contributing | Phase::Over => {}
            Phase::Exchanging(exchange) => {
                let Some((peer, patience)) = &mut exchange.waiting else { return };
                let peer = *peer;
                if core.now >= patience.until {
                    self.given_up.insert(peer);
                    return self.call_assembly(core, "a peer is silent", Some(peer));
                }
                if core.now >= patience.again {
                    patience.again = core.now.after(core.settings.timeouts.resend);
                    core.tell(peer, (self.round, exchange.step), Body::Nudge);
                }
            }
            Phase::Assembling => self.assembly_tick(core),
            Phase::Fetching { .. } => self.fetch_tick(core),
            Phase::Outside { .. } => self.outside_tick(core),
        }
    }

    fn end(&mut self, core: &mut Core, reason: &str) {
        self.phase = Phase::Over;
        self.save(core);
        core.finish(self.model.version(), self.model.params(), reason);
    }

    /// A round boundary, or a vote: what must survive a crash.
    fn save(&self, core: &mut Core) {
        // A record that was asked for is among `records` below, so whoever comes back does not charge it again: it is charged here.
        let recording = self.contribution.is_recording();
        let pending =
            u32::from(self.settling.is_some()) + u32::from(self.released.is_some()) + u32::from(recording);
        core.save(|core| Snapshot {
            epoch: self.epoch,
            members: self.members.to_vec(),
            round: self.round.max(self.next_round.saturating_sub(1)),
            version: self.model.version(),
            model: self.model.encoded(),
            records: core.next_record,
            spent: core.budget.saved(pending),
            acceptor: Some(self.assembly.acceptor.clone()),
        });
    }
}

impl Machine for Rounds {
    fn restore(&mut self, settings: &Settings, snapshot: &Snapshot) {
        if let Some(model) = SharedModel::decoded(settings, snapshot.version, &snapshot.model) {
            self.model = model;
        }
        self.epoch = snapshot.epoch;
        self.members = snapshot.members.clone().into();
        // The round after the boundary may have begun before the crash: its number is spent.
        self.next_round = snapshot.round + 1;
        self.round = snapshot.round;
        self.assembly = Assembly::new(snapshot.epoch + 1, Time(0));
        if let Some(acceptor) = snapshot.acceptor.clone().filter(|acceptor| acceptor.epoch > snapshot.epoch) {
            self.assembly.acceptor = acceptor;
        }
        self.came_back = true;
    }

    fn handle(&mut self, core: &mut Core, input: Input) {
        match input {
            Input::Start if matches!(self.phase, Phase::Waiting) => self.on_start(core),
            // To start over would forget what the round under way has released.
            Input::Start => {}
            Input::Received { from, message } => self.on_message(core, from, message),
            Input::Computed(computed) => self.contribution.on_computed(core, computed),
            Input::Recorded(id) => self.on_recorded(core, id),
            Input::Tick => self.on_tick(core),
        }
    }

    /// A message of `from` was malformed. If it is the one that is waited for, waiting is in vain.
    fn on_refused(&mut self, core: &mut Core, from: PeerIx) {
        let waited_for = match &self.phase {
            Phase::Exchanging(exchange) => exchange.waiting.is_some_and(|(peer, _)| peer == from),
            _ => false,
        };
        if waited_for && core.accused.contains(&from) {
            self.call_assembly(core, "a peer sends malformed messages", Some(from));
        }
    }

    fn wake_at(&self) -> Option<Time> {
        match &self.phase {
            Phase::Waiting | Phase::Contributing | Phase::Over => None,
            Phase::Exchanging(exchange) => {
                exchange.waiting.map(|(_, patience)| patience.again.min(patience.until))
            }
            Phase::Assembling => Some(self.assembly.again),
            Phase::Fetching { patience, .. } => Some(patience.again.min(patience.until)),
            Phase::Outside { again, call, until } => Some(*again.min(call).min(until)),
        }
    }

    fn model(&self) -> &[f32] {
        self.model.params()
    }

    fn round(&self) -> u32 {
        self.model.version()
    }
}

fn rounds_settings(settings: &Settings) -> &RoundsSettings {
    let Algorithm::Rounds(rounds) = &settings.algorithm else {
        unreachable!("the machine is chosen by the algorithm")
    };
    rounds
}

/// How long to wait for a message from now on.
fn patience(core: &Core) -> Patience {
    let timeouts = &core.settings.timeouts;
    Patience {
        again: core.now.after(timeouts.resend),
        until: core.now.after(timeouts.silence),
        latest: core.now.after(timeouts.silence.saturating_mul(PATIENCE_WITH_THE_LIVING)),
    }
}

#[cfg(test)]
mod tests;
