//! Between rounds and the [agreement](crate::agreement): when an assembly is called, what is stated there, and what is done with its outputs.

use std::sync::Arc;

use super::exchange::{Heard, Reach};
use super::say::Agreed;
use super::trace::sum_fingerprint;
use super::{Phase, Rounds, Say};
use crate::agreement::{
    self, Agreement, Ask, Certificate, Credentials, Fault, Fingerprint, Input, Output, Place, Seen,
    Signature, Standing, TroubleKind, sum_statement,
};
use crate::algorithm::traffic::Traffic;
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::numbers::Numbers;
use crate::{PeerIx, Recipients, Time};

/// A boundary so many rounds ahead is heard by all before they come to it.
const NOTICE: u32 = 2;

/// One member's part in the agreement, as far as it is needed: a run in which nothing happens makes none.
#[derive(Default)]
pub(super) struct Agreeing {
    pub(super) credentials: Option<Credentials>,
    pub(super) machine: Option<Box<Agreement>>,
    /// What was kept last.
    pub(super) memory: Option<Arc<agreement::Memory>>,
    /// The round before which to stop, to let somebody in.
    pub(super) boundary: Option<u32>,
    /// When to stop waiting for others, where that was set.
    pub(super) ends: Time,
    missing: Vec<PeerIx>,
    traffic: Traffic,
    pub(super) leaving: bool,
}

impl Agreeing {
    pub(super) fn certificate(&self) -> Option<&Certificate> {
        self.machine.as_ref().map(|machine| machine.certificate())
    }
}

impl Rounds {
    pub(super) fn credentials(&mut self, core: &Core) -> &Credentials {
        self.agreeing.credentials.get_or_insert_with(|| {
            let charter = super::rounds_settings(&core.settings).charter(&core.settings);
            Credentials::danger_from_seed(&core.settings, charter, core.me)
        })
    }

    /// The machine, made where there is none.
    pub(super) fn machine(&mut self, core: &Core) -> &mut Agreement {
        if self.agreeing.machine.is_none() {
            let Credentials { charter, keys, .. } = self.credentials(core).clone();
            let fresh = Agreement::new(charter, keys, core.me);
            let mut machine = match &self.agreeing.memory {
                Some(memory) => fresh.restored((**memory).clone()),
                None => fresh,
            };
            machine.restore_reserves(self.reserving.held());
            machine.restore_company(self.reserving.company.iter().copied());
            self.agreeing.machine = Some(Box::new(machine));
            self.tell_place(core);
        }
        self.agreeing.machine.as_mut().expect("it was just made")
    }

    /// My signature under a sum, in rounds whose sums are signed.
    pub(super) fn signature(
        &self,
        (round, step): (u32, u32),
        to: PeerIx,
        (count, numbers, reach): (u32, &Numbers, Reach),
    ) -> Option<Signature> {
        self.signs(round).then(|| self.sign_sum((round, step), to, sum_fingerprint(count, numbers, reach)))?
    }

    /// Whether sums of a round are signed.
    pub(super) fn signs(&self, round: u32) -> bool {
        self.agreeing.machine.as_ref().is_some_and(|machine| machine.decision().signs(round))
    }

    /// My signature under what has this digest.
    pub(super) fn sign_sum(
        &self,
        (round, step): (u32, u32),
        to: PeerIx,
        sum: Fingerprint,
    ) -> Option<Signature> {
        let (machine, credentials) =
            self.agreeing.machine.as_ref().zip(self.agreeing.credentials.as_ref())?;
        let statement = sum_statement(self.place_of(machine, round), step, to, sum);
        Some(credentials.keys.sign(&statement.bytes(&credentials.charter)))
    }

    /// Whether `from` signed what has this digest for `to`.
    pub(super) fn is_sum_signed(
        &self,
        (round, step): (u32, u32),
        (from, to): (PeerIx, PeerIx),
        (sum, signature): (Fingerprint, Option<Signature>),
    ) -> bool {
        let known = self.agreeing.machine.as_ref().zip(self.agreeing.credentials.as_ref());
        let Some(((machine, credentials), signature)) = known.zip(signature) else { return false };
        let statement = sum_statement(self.place_of(machine, round), step, to, sum);
        credentials.keys.verifies(from, &statement.bytes(&credentials.charter), &signature)
    }

    /// Whether a sum has the signature that its round asks for.
    pub(super) fn is_signed(
        &self,
        me: PeerIx,
        (round, step): (u32, u32),
        from: PeerIx,
        (heard, reach): (&Heard, Reach),
    ) -> bool {
        let sum = || sum_fingerprint(heard.said.count, &heard.numbers, reach);
        !self.signs(round) || self.is_sum_signed((round, step), (from, me), (sum(), heard.said.signature))
    }

    fn place_of(&self, machine: &Agreement, round: u32) -> Place {
        let decision = machine.decision();
        Place { epoch: decision.epoch, electorate: decision.electorate.fingerprint(), view: round }
    }

    /// Where in a round this node is, so that calls that bear on it are heeded.
    fn tell_place(&mut self, core: &Core) {
        let awaited = match &self.phase {
            Phase::Exchanging(exchange) => exchange.waiting.map(|(peer, _)| peer),
            Phase::Hearing(_) => self.robust.awaited(),
            _ => None,
        };
        let (holding, now) = (self.model.version(), core.now);
        let seen = Seen { begun: self.round.saturating_add(1), done: self.unfinished };
        if let Some(machine) = &mut self.agreeing.machine
            && matches!(self.phase, Phase::Contributing | Phase::Exchanging(_) | Phase::Hearing(_))
        {
            machine.handle(now, Input::TookPart(seen));
            machine.handle(now, Input::Holding(holding));
            machine.handle(now, Input::Awaiting(awaited));
        }
    }

    /// A new round, or somebody is waited for: others' calls may concern this node now.
    pub(super) fn on_place(&mut self, core: &mut Core) {
        if self.agreeing.machine.is_some() {
            self.tell_place(core);
            self.drain(core);
        }
    }

    pub(super) fn on_agreement(&mut self, core: &mut Core, from: PeerIx, said: &Agreed) {
        if self.agreeing.traffic.is_flood(core, from)
            || !self.reserving.hears(&self.phase, &said.0, core.settings.rounds)
        {
            return;
        }
        let message = (*said.0).clone();
        self.agree(core, Input::Received { from, message });
    }

    pub(super) fn agree(&mut self, core: &mut Core, input: Input) {
        let now = core.now;
        self.machine(core).handle(now, input);
        self.drain(core);
        self.on_recalled(core);
    }

    pub(super) fn agreement_tick(&mut self, core: &mut Core) {
        let due = self.agreeing.machine.as_ref().and_then(|machine| machine.wake_at());
        if due.is_some_and(|due| core.now >= due) {
            self.agree(core, Input::Tick);
        }
    }

    /// Ends the round that is under way and says where this node stands. `about` is the peer that gave reason to.
    pub(super) fn call_assembly(&mut self, core: &mut Core, reason: &str, about: Option<PeerIx>) {
        self.judge(core);
        self.break_round(core, reason, about);
        self.state(core);
    }

    /// As [`call_assembly`](Self::call_assembly), for what a partner did or did not do in this step.
    pub(super) fn call_about(&mut self, core: &mut Core, reason: &str, kind: TroubleKind, with: PeerIx) {
        if let Phase::Exchanging(exchange) = &self.phase {
            self.trace.trouble(kind, with, exchange.step());
        } else if matches!(self.phase, Phase::Hearing(_)) {
            let apart = self.apart.clone();
            self.robust.leave(kind, with, &apart);
        }
        self.call_assembly(core, reason, Some(with));
    }

    fn state(&mut self, core: &mut Core) {
        if !matches!(self.phase, Phase::Over) {
            self.phase = Phase::Assembling;
            self.agreeing.ends = core.now.after(core.settings.timeouts.give_up);
        }
        let standing = self.standing(core);
        self.agree(core, Input::Call(Box::new(standing)));
    }

    /// Where I stand.
    fn standing(&self, core: &Core) -> Standing {
        let (model, before) = self.model.stated(&core.settings);
        Standing {
            key: self.own_key(),
            model,
            before,
            next_round: self.next_round.max(self.unused),
            rounds: self.robust.records().unwrap_or_else(|| self.trace.records()),
            tokens: Vec::new(),
            proofs: Vec::new(),
            leaving: self.agreeing.leaving,
            look: self.look(core),
        }
    }

    fn drain(&mut self, core: &mut Core) {
        while let Some(output) = self.agreeing.machine.as_mut().and_then(|machine| machine.poll_output()) {
            match output {
                Output::Persist(memory) => {
                    self.agreeing.memory = Some(Arc::from(memory));
                    self.save(core);
                }
                Output::Send { to, message: answer @ agreement::Message::ReserveHeld(_) } => {
                    self.hold_back(core, to.into(), answer);
                }
                Output::Send { to, message } => core.tell(to, (0, 0), agreed(message)),
                Output::SendAll(message) => {
                    let (me, nodes) = (core.me, core.settings.nodes as PeerIx);
                    let others: Recipients = (0..nodes).filter(|&peer| peer != me).collect();
                    if matches!(message, agreement::Message::Reserve(_)) {
                        self.hold_back(core, others, message);
                    } else {
                        core.tell(others, (0, 0), agreed(message));
                    }
                }
                Output::Call { reason } => self.on_called(core, reason),
                Output::Decided(decided) => self.begin_epoch(core, &decided.decision),
                Output::Fault { member, fault } => {
                    let fault = match fault {
                        Fault::Forged => FaultKind::BadSignature,
                        Fault::Proven => FaultKind::Proven,
                    };
                    core.fault(member, fault, 0);
                }
                Output::Missing(missing) => self.on_missing(core, missing),
                Output::Knocked(member) => {
                    let before = self.next_round.saturating_add(NOTICE);
                    if self.machine(core).could_seat(member, before) {
                        self.agree(core, Input::Stop { before, member });
                    }
                }
                Output::Boundary(round) => self.agreeing.boundary = Some(round),
                Output::KeepReserve(reserve) => self.keep_reserve(core, reserve),
                Output::Reserved(_) => self.contribute_now(core),
            }
        }
    }

    fn on_called(&mut self, core: &mut Core, reason: &str) {
        if self.looking.is_recording() {
            return; // It says where it stands as soon as the record is durable.
        }
        let awaited = match &self.phase {
            Phase::Exchanging(exchange) => exchange.waiting.map(|(peer, _)| peer),
            _ => None,
        };
        match awaited {
            Some(peer) => self.call_about(core, reason, TroubleKind::Silent, peer),
            None => self.call_assembly(core, reason, None),
        }
    }

    pub(super) fn on_missing(&mut self, core: &mut Core, missing: Vec<PeerIx>) {
        if self.agreeing.missing != missing {
            self.agreeing.missing.clone_from(&missing);
            core.log(RunEvent::Waiting { missing });
        }
    }

    /// Leaves for good: said in the next standing, and done with the next decision.
    pub(super) fn on_leave(&mut self, core: &mut Core) {
        self.agreeing.leaving = true;
        if self.waits_for_members() {
            self.call_assembly(core, "this node leaves", None);
        }
    }

    /// An assembly has come to a decision, or the run goes on.
    pub(super) fn forget_assembly(&mut self) {
        self.agreeing.boundary = None;
        self.agreeing.missing.clear();
    }

    pub(super) fn give_up(&mut self, core: &mut Core) {
        let reason = if self.members.binary_search(&core.me).is_err() {
            "nobody took this node in".to_owned()
        } else {
            let missing: Vec<String> = self.agreeing.missing.iter().map(PeerIx::to_string).collect();
            let who = if missing.is_empty() { "too many".to_owned() } else { missing.join(", ") };
            format!("no quorum of the members could be reached: {who} missing")
        };
        self.end(core, &reason, false);
    }

    /// How the current epoch began, for somebody who missed it.
    pub(super) fn tell_decision(&self, core: &mut Core, to: PeerIx) {
        if let Some(certificate) = self.agreeing.certificate().filter(|certificate| !certificate.is_empty()) {
            core.tell(to, (0, 0), agreed(agreement::Message::Decided(certificate.clone())));
        }
    }

    /// Asks somebody who knows of a later epoch, or all.
    pub(super) fn ask_decision(&self, core: &mut Core, from: impl Into<Recipients>) {
        core.tell(from, (0, 0), agreed(agreement::Message::Ask(Ask::Decided(self.epoch))));
    }
}

pub(super) fn agreed(message: agreement::Message) -> Say {
    Say::Agreement(Agreed(Arc::new(message)))
}
