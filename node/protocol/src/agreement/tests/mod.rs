//! A swarm in one process with a virtual clock, whose network may lose, repeat and reorder, and whose members
//! may lie.

mod cases;
mod hostile;
mod long;
mod model;
mod old_disks;
mod random;
mod renewals;
mod restarts;

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::decision::{Decided, Model};
use super::keys::{Keys, Signature};
use super::message::Message;
use super::statements::Standing;
use super::{Agreement, Charter, Fault, Fingerprint, Input, Memory, Output, Terms, hostile_by_default};
use crate::{PeerIx, Time};

/// A signature that is cheap to make and that nobody else makes here: model checking needs millions.
pub(super) struct PlainKeys(pub(super) PeerIx);

impl PlainKeys {
    fn mark(member: PeerIx, bytes: &[u8]) -> Signature {
        let hash: [u8; 32] =
            Sha256::new().chain_update(member.to_le_bytes()).chain_update(bytes).finalize().into();
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&hash);
        Signature(signature)
    }
}

impl Keys for PlainKeys {
    fn sign(&self, bytes: &[u8]) -> Signature {
        Self::mark(self.0, bytes)
    }

    /// Its second half says nothing: who has a key can sign one thing in many ways.
    fn verifies(&self, member: PeerIx, bytes: &[u8], signature: &Signature) -> bool {
        Self::mark(member, bytes).0[..32] == signature.0[..32]
    }
}

pub(super) const SILENCE: u64 = 1_000_000;
pub(super) const RESEND: u64 = 100_000;
pub(super) const ROUNDS: u32 = 100;

/// A model by its version and a number.
pub(super) fn a_model(version: u32, which: u8) -> Model {
    Model { version, digest: Fingerprint([which; 32]) }
}

pub(super) fn charter_with(members: usize, hostile: u32) -> Arc<Charter> {
    let roster = (0..members).map(|member| [member as u8 + 1; 32]).collect();
    let terms = Terms {
        name: "test".into(),
        config: Fingerprint([9; 32]),
        roster,
        hostile,
        rounds: ROUNDS,
        model: Fingerprint([0; 32]),
        seats: Vec::new(),
        continued: None,
    };
    Arc::new(Charter::new(terms, SILENCE, RESEND).unwrap())
}

pub(super) fn standing(model: Model, before: Option<Model>, next_round: u32) -> Standing {
    let (rounds, tokens, proofs) = (Vec::new(), Vec::new(), Vec::new());
    Standing { key: [0; 32], model, before, next_round, rounds, tokens, proofs, leaving: false, look: None }
}

/// A stream of numbers that a seed stands for (SplitMix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// What was sent and has not arrived.
pub(super) type Letter = (PeerIx, PeerIx, Message);

/// All members and what is on its way between them.
pub(super) struct Net {
    pub(super) charter: Arc<Charter>,
    /// `None` while a member is away.
    pub(super) nodes: Vec<Option<Agreement>>,
    pub(super) memories: Vec<Memory>,
    /// What each answers when it is asked where it stands.
    pub(super) reports: Vec<Standing>,
    pub(super) letters: Vec<Letter>,
    pub(super) now: Time,
    pub(super) decided: Vec<Vec<Arc<Decided>>>,
    pub(super) faults: Vec<Vec<(PeerIx, Fault)>>,
    pub(super) calls: Vec<u32>,
    pub(super) knocked: Vec<Vec<PeerIx>>,
    pub(super) boundaries: Vec<Vec<u32>>,
    pub(super) missing: Vec<Vec<PeerIx>>,
    /// Everything that honest members sent, as (sender, message).
    pub(super) history: Vec<(PeerIx, Message)>,
    /// Links that carry nothing.
    pub(super) cut: BTreeSet<(PeerIx, PeerIx)>,
}

impl Net {
    pub(super) fn new(members: usize) -> Self {
        Self::with(members, hostile_by_default(members))
    }

    pub(super) fn with(members: usize, hostile: u32) -> Self {
        let charter = charter_with(members, hostile);
        let node = |me: PeerIx| Some(Agreement::new(charter.clone(), Arc::new(PlainKeys(me)), me));
        Self {
            nodes: charter.everybody().map(node).collect(),
            memories: vec![Memory::default(); members],
            reports: (0..members).map(|_| standing(a_model(0, 0), None, 0)).collect(),
            letters: Vec::new(),
            now: Time(0),
            decided: vec![Vec::new(); members],
            faults: vec![Vec::new(); members],
            calls: vec![0; members],
            knocked: vec![Vec::new(); members],
            boundaries: vec![Vec::new(); members],
            missing: vec![Vec::new(); members],
            history: Vec::new(),
            cut: BTreeSet::new(),
            charter,
        }
    }

    pub(super) fn handle(&mut self, at: PeerIx, input: Input) {
        let now = self.now;
        if let Some(node) = &mut self.nodes[at as usize] {
            node.handle(now, input);
            self.drain(at);
        }
    }

    /// The driver: what is to be kept is kept before anything after it leaves.
    fn drain(&mut self, at: PeerIx) {
        let ix = at as usize;
        while let Some(output) = self.nodes[ix].as_mut().and_then(Agreement::poll_output) {
            match output {
                Output::Persist(memory) => {
                    let bytes = memory.to_bytes();
                    self.memories[ix] = Memory::from_bytes(&bytes).expect("a memory that was written");
                    assert_eq!(self.memories[ix], *memory);
                }
                Output::Send { to, message } => self.post(at, to, message),
                Output::SendAll(message) => {
                    for to in self.charter.everybody().filter(|&to| to != at) {
                        self.post(at, to, message.clone());
                    }
                }
                Output::Call { .. } => {
                    self.calls[ix] += 1;
                    self.call(at);
                }
                Output::Decided(decided) => self.decided[ix].push(decided),
                Output::Fault { member, fault } => self.faults[ix].push((member, fault)),
                Output::Missing(missing) => self.missing[ix] = missing,
                Output::Knocked(member) => self.knocked[ix].push(member),
                Output::Boundary(round) => self.boundaries[ix].push(round),
                Output::KeepReserve(_) | Output::Reserved(_) => {}
            }
        }
    }

    fn post(&mut self, from: PeerIx, to: PeerIx, message: Message) {
        // By bytes, as on a wire.
        let message = Message::from_bytes(&message.to_bytes()).expect("a message that was written");
        self.history.push((from, message.clone()));
        if !self.cut.contains(&(from, to)) {
            self.letters.push((from, to, message));
        }
    }

    pub(super) fn call(&mut self, at: PeerIx) {
        let report = self.reports[at as usize].clone();
        self.handle(at, Input::Call(Box::new(report)));
    }

    pub(super) fn call_all(&mut self) {
        self.charter.everybody().for_each(|at| self.call(at));
    }

    pub(super) fn deliver(&mut self, (from, to, message): Letter) {
        self.handle(to, Input::Received { from, message });
    }

    /// Delivers in order until nothing is on its way.
    pub(super) fn flow(&mut self) {
        for _ in 0..200_000 {
            if self.letters.is_empty() {
                return;
            }
            let letter = self.letters.remove(0);
            self.deliver(letter);
        }
        panic!("messages without end");
    }

    /// Lets time pass to the next timer.
    pub(super) fn tick(&mut self) {
        let wakes = self.nodes.iter().flatten().filter_map(Agreement::wake_at);
        let Some(next) = wakes.min() else { return };
        self.now = self.now.max(next);
        for at in self.charter.everybody() {
            let due = self.nodes[at as usize].as_ref().and_then(Agreement::wake_at);
            if due.is_some_and(|due| due <= self.now) {
                self.handle(at, Input::Tick);
            }
        }
    }

    /// Messages flow and time passes until all of these have decided so many epochs.
    pub(super) fn settle(&mut self, members: &[PeerIx], epoch: u32) -> bool {
        for _ in 0..400 {
            self.flow();
            if members.iter().all(|&at| self.epoch(at) >= epoch) {
                return true;
            }
            self.tick();
        }
        false
    }

    pub(super) fn epoch(&self, at: PeerIx) -> u32 {
        self.nodes[at as usize].as_ref().map_or(0, |node| node.decision().epoch)
    }

    pub(super) fn kill(&mut self, at: PeerIx) {
        self.nodes[at as usize] = None;
        self.letters.retain(|(_, to, _)| *to != at);
    }

    /// Comes back with what it had kept.
    pub(super) fn restart(&mut self, at: PeerIx) {
        let fresh = Agreement::new(self.charter.clone(), Arc::new(PlainKeys(at)), at);
        self.nodes[at as usize] = Some(fresh.restored(self.memories[at as usize].clone()));
        self.handle(at, Input::Tick);
    }

    /// What a member decided last.
    pub(super) fn last(&self, at: PeerIx) -> &super::Decision {
        &self.decided[at as usize].last().expect("it decided").decision
    }

    pub(super) fn seats(&self, at: PeerIx) -> Vec<PeerIx> {
        self.last(at).seats.iter().map(|seat| seat.member).collect()
    }

    /// All are in rounds and hold this model and the one before.
    pub(super) fn advance_to(&mut self, version: u32) {
        for report in &mut self.reports {
            let before = report.model;
            *report = standing(a_model(version, version as u8), Some(before), version);
        }
    }
}

/// A swarm that has begun: everybody has a seat in epoch 1.
pub(super) fn begun(members: usize, hostile: u32) -> Net {
    let mut net = Net::with(members, hostile);
    net.call_all();
    let all: Vec<PeerIx> = net.charter.everybody().collect();
    assert!(net.settle(&all, 1));
    net
}
