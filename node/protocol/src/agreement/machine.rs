//! The machine: inputs in, outputs out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::answers::Answers;
use super::company::{Company, Seen};
use super::decision::{Certificate, Decided, Decision};
use super::keys::Keys;
use super::knocks::Knocks;
use super::message::{Message, TurnMessage, Turns};
use super::proof::Proof;
use super::reserve::{Reserve, Reserves};
use super::sealed::{Place, Sealed};
use super::standings::Standings;
use super::statements::{Locked, Propose, Standing, Turn, Voice};
use super::{Charter, Fingerprint, Memory};
use crate::{PeerIx, Time};

/// What a driver tells the agreement.
#[derive(Debug, Clone)]
pub enum Input {
    /// My round is over or broken, or I want to be let in: this is where I stand. The first standing of an
    /// epoch counts.
    Call(Box<Standing>),
    /// A message arrived, by an authenticated link.
    Received {
        /// From whom.
        from: PeerIx,
        /// What.
        message: Message,
    },
    /// Whose sum I wait for: its call is a reason to stop, a lone call of others is not.
    Awaiting(Option<PeerIx>),
    /// The version of the model from which the round that I am in started. Who calls with a later one has finished that round, and so can I.
    Holding(u32),
    /// How far I took part in rounds of this epoch.
    TookPart(Seen),
    /// I would stop before this round, to let in who knocked.
    Stop {
        /// The round.
        before: u32,
        /// Who knocked.
        member: PeerIx,
    },
    /// I want to make records up to this number.
    Reserve(u64),
    /// I came back, or begin: what do the others hold of mine?
    Recall,
    /// [`Agreement::wake_at`] has come.
    Tick,
}

/// What the agreement asks its driver to do. In order: what is to be kept is durable before anything after it
/// is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Keep this, durably.
    Persist(Box<Memory>),
    /// Send a message.
    Send {
        /// To whom.
        to: PeerIx,
        /// What.
        message: Message,
    },
    /// Send a message to all members of the first roster but me.
    SendAll(Message),
    /// Others have reason to stop: break the round and answer with [`Input::Call`].
    Call {
        /// Why.
        reason: &'static str,
    },
    /// An epoch begins.
    Decided(Arc<Decided>),
    /// Somebody sent what no honest member sends.
    Fault {
        /// Who sent it; for [`Fault::Proven`] who is proved to be hostile.
        member: PeerIx,
        /// What it was.
        fault: Fault,
    },
    /// There is no quorum: these are missing.
    Missing(Vec<PeerIx>),
    /// A member without a seat asks for one: answer with [`Input::Stop`] if it should have one.
    Knocked(PeerIx),
    /// Enough members would stop before this round: do, and answer with [`Input::Call`].
    Boundary(u32),
    /// Keep this reserve, durably.
    KeepReserve(Reserve),
    /// A quorum holds my reserve: records up to this number may be made.
    Reserved(u64),
}

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A statement without its author's signature, or one that is malformed.
    Forged,
    /// It signed what an honest member never signs.
    Proven,
}

/// One member's part in the agreement.
#[derive(Clone)]
pub struct Agreement {
    pub(super) charter: Arc<Charter>,
    pub(super) keys: Arc<dyn Keys>,
    pub(super) me: PeerIx,
    pub(super) now: Time,
    pub(super) decision: Arc<Decision>,
    pub(super) electorate: Fingerprint,
    pub(super) certificate: Certificate,
    pub(super) standings: Standings,
    pub(super) proofs: BTreeMap<PeerIx, Proof>,
    pub(super) assembly: Option<Box<Assembly>>,
    /// Signs nothing in this epoch: it may have signed what it does not remember.
    pub(super) mute: bool,
    pub(super) awaiting: Option<PeerIx>,
    pub(super) holding: Option<u32>,
    pub(super) knocks: Knocks,
    pub(super) answers: Answers,
    pub(super) reserves: Reserves,
    pub(super) company: Company,
    /// What came before my own standing and needs it: heard again then.
    pub(super) early: Option<(PeerIx, Message)>,
    pub(super) outputs: VecDeque<Output>,
}

/// The assembly under way, from my standing on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Assembly {
    pub(super) standing: Arc<Sealed<Standing>>,
    pub(super) view: u32,
    /// The turns that opened the view; none in view 0.
    pub(super) entered: Option<Arc<Turns>>,
    /// Turns that would open a later view, once the standings that they name are here; and who has them.
    pub(super) entering: Option<(PeerIx, Arc<Turns>)>,
    pub(super) turn: Option<TurnMessage>,
    pub(super) vote: Option<Voice>,
    pub(super) commit: Option<Voice>,
    pub(super) locked: Option<Arc<Locked>>,
    /// Turns of this view, in the order of members.
    pub(super) turns: BTreeMap<PeerIx, Arc<Sealed<Turn>>>,
    /// The newest turn of each member that is in a later view.
    pub(super) ahead: BTreeMap<PeerIx, Arc<Sealed<Turn>>>,
    /// A proposal that names standings which are not here yet.
    pub(super) parked: Option<Arc<Sealed<Propose>>>,
    pub(super) lead: Option<Lead>,
    /// When to turn, or in view 0 when to stop waiting for all.
    pub(super) until: Time,
    /// When to say it again, and how many `resend` from then.
    pub(super) again: Time,
    pub(super) pause: u64,
}

/// What the proposer of the view gathers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lead {
    pub(super) propose: Arc<Sealed<Propose>>,
    pub(super) value: Fingerprint,
    pub(super) votes: BTreeMap<PeerIx, Voice>,
    pub(super) locked: Option<Arc<Locked>>,
    pub(super) commits: BTreeMap<PeerIx, Voice>,
}

impl Agreement {
    /// Member `me` before the first decision.
    pub fn new(charter: Arc<Charter>, keys: Arc<dyn Keys>, me: PeerIx) -> Self {
        let decision = charter.genesis();
        let charter_rounds = charter.planned();
        Self {
            charter,
            keys,
            me,
            now: Time(0),
            electorate: decision.electorate.fingerprint(),
            decision,
            certificate: Certificate::default(),
            standings: Standings::default(),
            proofs: BTreeMap::new(),
            assembly: None,
            mute: false,
            awaiting: None,
            holding: None,
            knocks: Knocks::default(),
            answers: Answers::default(),
            reserves: Reserves::new(me, charter_rounds),
            company: Company::default(),
            early: None,
            outputs: VecDeque::new(),
        }
    }

    /// The same member after a restart, with what it [kept](Output::Persist). Ticks at once.
    #[must_use]
    pub fn restored(mut self, memory: Memory) -> Self {
        let Memory { certificate, standing, heard, view, entered, turn, vote, commit, locked } = memory;
        if let Some(last) = certificate.chain.last() {
            self.decision = last.decision.clone();
            self.electorate = self.decision.electorate.fingerprint();
        }
        self.certificate = certificate;
        let place = self.place(0);
        if let Some(standing) = standing.filter(|standing| standing.place() == place) {
            self.standings.insert(standing.clone());
            let me = self.me;
            for other in heard.into_iter().filter(|other| other.by() != me) {
                if let Some(first) = self.standings.first(other.by()).cloned() {
                    self.note(Proof::of_sealed(&*first, &*other));
                }
                self.standings.insert(other);
            }
            let turns = turn.iter().map(|message| (self.me, message.turn.clone())).collect();
            let fresh = Assembly::new(standing, self.now);
            self.assembly =
                Some(Box::new(Assembly { view, entered, turn, vote, commit, locked, turns, ..fresh }));
        }
        self
    }

    /// Says nothing signed in this epoch: for who cannot be sure of its memory. It follows what the others
    /// decide, and speaks again after that.
    #[must_use]
    pub fn mute(mut self) -> Self {
        self.fall_silent();
        self
    }

    /// As [`mute`](Self::mute), from now on.
    pub fn fall_silent(&mut self) {
        self.mute = true;
        self.assembly = None;
        self.standings.clear();
        self.ask_all_for_decision();
    }

    /// The decision that began the current epoch.
    pub fn decision(&self) -> &Arc<Decision> {
        &self.decision
    }

    /// Its proof, for anybody who has the charter.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The charter.
    pub fn charter(&self) -> &Arc<Charter> {
        &self.charter
    }

    /// Whether an assembly is under way here.
    pub fn is_assembling(&self) -> bool {
        self.assembly.is_some()
    }

    /// Whether the run has reached its end by decision.
    pub fn is_over(&self) -> bool {
        self.decision.epoch > 0 && self.decision.model.version >= self.charter.terms().rounds
    }

    /// Takes one input. Drain [`poll_output`](Self::poll_output) afterwards.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.now = now;
        match input {
            Input::Call(standing) => self.on_call(*standing),
            Input::Received { from, message } => self.on_message(from, message),
            Input::Awaiting(partner) => self.on_awaiting(partner),
            Input::Holding(version) => self.on_holding(version),
            Input::TookPart(seen) => self.on_took_part(seen),
            Input::Stop { before, member } => self.on_stop(before, member),
            Input::Reserve(records) => self.on_reserve(records),
            Input::Recall => self.on_recall(),
            Input::Tick => self.on_tick(),
        }
    }

    /// The next thing to do, or none.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call with [`Input::Tick`] if nothing happens before; spurious calls do no harm.
    pub fn wake_at(&self) -> Option<Time> {
        let assembly = self.assembly.as_ref().map(|assembly| match assembly.turn {
            Some(_) => assembly.again,
            None => assembly.again.min(assembly.until),
        });
        let mute = self.mute.then(|| self.answers.next_question());
        assembly.into_iter().chain(mute).chain(self.reserves_wake_at()).min()
    }

    fn on_tick(&mut self) {
        if self.mute && self.now >= self.answers.next_question() {
            self.ask_all_for_decision();
        }
        self.repeat_reserve();
        let Some(assembly) = &self.assembly else { return };
        if self.now >= assembly.until && assembly.turn.is_none() {
            self.on_silence();
        }
        if self.assembly.as_ref().is_some_and(|assembly| self.now >= assembly.again) {
            self.repeat();
        }
    }

    /// Where a statement of this epoch belongs.
    pub(super) fn place(&self, view: u32) -> Place {
        Place { epoch: self.decision.epoch.saturating_add(1), electorate: self.electorate, view }
    }

    pub(super) fn tools(&self) -> (&Charter, &dyn Keys) {
        (&self.charter, &*self.keys)
    }

    pub(super) fn proposer(&self, view: u32) -> PeerIx {
        self.charter.proposer(&self.decision.electorate, self.place(0).epoch, view)
    }

    pub(super) fn has_vote(&self, member: PeerIx) -> bool {
        self.decision.electorate.has(member)
    }

    pub(super) fn send(&mut self, to: PeerIx, message: Message) {
        if to != self.me {
            self.outputs.push_back(Output::Send { to, message });
        }
    }

    pub(super) fn send_all(&mut self, message: Message) {
        self.outputs.push_back(Output::SendAll(message));
    }

    pub(super) fn fault(&mut self, member: PeerIx, fault: Fault) {
        self.outputs.push_back(Output::Fault { member, fault });
    }

    /// What was signed is kept before it is sent.
    pub(super) fn persist(&mut self) {
        let mut memory = Memory { certificate: self.certificate.clone(), ..Memory::default() };
        if let Some(assembly) = &self.assembly {
            memory.standing = Some(assembly.standing.clone());
            memory.heard = self.standings.iter().cloned().collect();
            memory.view = assembly.view;
            memory.entered = assembly.entered.clone();
            memory.turn = assembly.turn.clone();
            memory.vote = assembly.vote;
            memory.commit = assembly.commit;
            memory.locked = assembly.locked.clone();
        }
        self.outputs.push_back(Output::Persist(Box::new(memory)));
    }

    /// Keeps a proof that was checked, unless there is one.
    pub(super) fn note(&mut self, proof: Proof) {
        let member = proof.against();
        if self.decision.has_banned(member) || self.proofs.contains_key(&member) {
            return;
        }
        self.proofs.insert(member, proof);
        self.fault(member, Fault::Proven);
    }
}

impl Assembly {
    pub(super) fn new(standing: Arc<Sealed<Standing>>, now: Time) -> Self {
        Self {
            standing,
            view: 0,
            entered: None,
            entering: None,
            turn: None,
            vote: None,
            commit: None,
            locked: None,
            turns: BTreeMap::new(),
            ahead: BTreeMap::new(),
            parked: None,
            lead: None,
            until: now,
            again: now,
            pause: 1,
        }
    }

    /// The newest lock's view; 0 without one.
    pub(super) fn lock_view(&self) -> u32 {
        self.locked.as_ref().map_or(0, |locked| locked.lock.place.view)
    }
}
