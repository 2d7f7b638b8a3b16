//! Old disks: a member makes no record beyond what a quorum has heard it reserve, so a restored folder cannot
//! make it forget what it spent.
//!
//! Records beyond K wait until q members hold the [`Reserve`] of the next block; the first block is everybody's.
//! A member that comes back asks for its K: what it may have released since its last record is at most that. Only
//! its own key raises K.
//!
//! Who comes back counts for nothing itself: q − 1 others held its reserve, so among any n + f + 1 − q others is an honest
//! one that did ([`Recalled::Sure`]).

use std::collections::{BTreeMap, BTreeSet};

use super::codec::{CodecError, Wire, wire};
use super::company::Seen;
use super::keys::{Keys, Kind, Signature, Statement};
use super::machine::{Agreement, Fault, Output};
use super::message::Message;
use super::{Charter, Fingerprint};
use crate::{PeerIx, Time};

/// Its author makes at most so many records in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reserve {
    /// Who.
    pub by: PeerIx,
    /// K.
    pub records: u64,
    /// Its signature.
    pub signature: Signature,
}

wire!(Reserve { by: PeerIx, records: u64, signature: Signature });

/// What the sender knows of the receiver, who may have forgotten it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReserveHeld {
    /// Its largest reserve that the sender holds, if any.
    pub reserve: Option<Reserve>,
    /// How far the sender saw it.
    pub seen: Seen,
}

wire!(ReserveHeld { reserve: Option<Reserve>, seen: Seen });

impl Reserve {
    fn statement(records: u64) -> Statement {
        let content = Fingerprint::of("murmur reserve content 1", &records.to_bytes());
        Statement { kind: Kind::Reserve, epoch: 0, electorate: Fingerprint::default(), view: 0, content }
    }

    fn is_signed(&self, charter: &Charter, keys: &dyn Keys) -> bool {
        keys.verifies(self.by, &Self::statement(self.records).bytes(charter), &self.signature)
    }
}

/// How many records are reserved at once: a hundredth of the run, at most 64. A lie about them wastes less
/// than that.
pub fn block_of(rounds: u32) -> u64 {
    u64::from(rounds.div_ceil(100).clamp(1, 64))
}

/// Records beside those of a block, so that nobody waits: a reserve is on its way for a round, and on the disks of
/// its holders with their records of the next.
const ON_THE_WAY: u64 = 3;

/// What every member may record before a quorum holds a reserve of it: as much as it is charged with if it cannot
/// tell.
pub fn first_block(rounds: u32) -> u64 {
    block_of(rounds) + ON_THE_WAY
}

/// How much is known of the reserves of a member that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recalled {
    /// Too few have answered.
    Few,
    /// As many as decide, this member among them, which may have forgotten: nothing is hidden while its disk is not
    /// old.
    Quorum,
    /// Among those who answered is an honest one that held its largest reserve.
    Sure,
    /// All have answered.
    All,
}

/// Reserves as a snapshot keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptReserves {
    /// Of this member and of others.
    pub held: Vec<Reserve>,
    /// How far other members were seen.
    pub company: Vec<(PeerIx, Seen)>,
    /// The node adds no data before this round.
    pub idle: u32,
    /// Grows where a snapshot must be durable before what follows it is sent: that others' are held is about to be said.
    pub promised: u32,
}

impl KeptReserves {
    /// For the disk; what was promised is over when a process is.
    pub fn to_bytes(&self) -> Vec<u8> {
        [Wire::to_bytes(&self.held), Wire::to_bytes(&self.company), Wire::to_bytes(&self.idle)].concat()
    }

    /// From the disk.
    ///
    /// # Errors
    /// Bytes that are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let ((held, company), idle) =
            <((Vec<Reserve>, Vec<(PeerIx, Seen)>), u32) as Wire>::from_bytes(bytes)?;
        Ok(Self { held, company, idle, promised: 0 })
    }
}

/// The reserves that a member holds, of itself and of others. One of each: bounded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reserves {
    me: PeerIx,
    held: BTreeMap<PeerIx, Reserve>,
    /// Who holds mine.
    holders: BTreeSet<PeerIx>,
    reserved: u64,
    rounds: u32,
    /// Whether what others hold of mine is to be found out, and who has said it.
    recalling: bool,
    answered: BTreeSet<PeerIx>,
    again: Time,
}

impl Reserves {
    pub(super) fn new(me: PeerIx, rounds: u32) -> Self {
        Self {
            me,
            held: BTreeMap::new(),
            holders: BTreeSet::new(),
            reserved: first_block(rounds),
            rounds,
            recalling: false,
            answered: BTreeSet::new(),
            again: Time(0),
        }
    }

    /// Up to where a quorum holds mine.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Up to where I have asked for records, or am known to have.
    pub fn asked(&self) -> u64 {
        self.mine().map_or(0, |mine| mine.records).max(first_block(self.rounds))
    }

    /// What to ask for by whoever has made so many records, half a block before it is needed, if it has `room` for as many more.
    pub fn wanted(&self, records: u64, room: u64) -> Option<u64> {
        let block = block_of(self.rounds);
        let more = |count: u64| records.saturating_add(room.min(count));
        (self.asked() < more(block / 2 + ON_THE_WAY)).then(|| more(block + ON_THE_WAY))
    }

    /// All that are held, to be kept with the ledger.
    pub fn held(&self) -> impl Iterator<Item = &Reserve> {
        self.held.values()
    }

    fn mine(&self) -> Option<&Reserve> {
        self.held.get(&self.me)
    }
}

impl Agreement {
    /// Up to where my records are reserved, and what I hold of others.
    pub fn reserves(&self) -> &Reserves {
        &self.reserves
    }

    /// Takes back reserves that were kept.
    pub fn restore_reserves(&mut self, held: impl IntoIterator<Item = Reserve>) {
        self.reserves.held.extend(held.into_iter().map(|reserve| (reserve.by, reserve)));
    }

    /// How many of those who decide have said what they hold of mine, since I [asked](super::Input::Recall).
    pub fn recalled(&self) -> Recalled {
        let electorate = &self.decision.electorate;
        let (votes, quorum) = (electorate.votes.len(), electorate.quorum());
        let others = electorate.votes.iter().filter(|&&member| member != self.me);
        let answered = others.clone().filter(|member| self.reserves.answered.contains(member)).count();
        if answered == others.count() {
            Recalled::All
        } else if answered + quorum > votes + electorate.hostile as usize {
            Recalled::Sure
        } else if answered + 1 >= quorum {
            Recalled::Quorum
        } else {
            Recalled::Few
        }
    }

    /// Who has a vote and has not said what it holds of mine.
    pub fn not_recalled(&self) -> Vec<PeerIx> {
        let silent = |member: &PeerIx| *member != self.me && !self.reserves.answered.contains(member);
        self.decision.electorate.votes.iter().copied().filter(silent).collect()
    }

    pub(super) fn reserves_wake_at(&self) -> Option<Time> {
        let asks = self.reserves.mine().is_some_and(|mine| mine.records > self.reserves.reserved);
        let recalls = self.reserves.recalling && self.recalled() < Recalled::Sure;
        (asks || recalls).then_some(self.reserves.again)
    }

    fn own_reserve(&self, records: u64) -> Reserve {
        let statement = Reserve::statement(records);
        Reserve { by: self.me, records, signature: self.keys.sign(&statement.bytes(&self.charter)) }
    }

    pub(super) fn on_reserve(&mut self, records: u64) {
        let reserve = self.own_reserve(records);
        if self.keep(reserve) {
            self.reserves.holders = BTreeSet::from([self.me]);
            self.say_reserve(reserve);
        }
    }

    pub(super) fn on_recall(&mut self) {
        let reserve = match self.reserves.mine() {
            Some(&mine) => mine,
            None => self.own_reserve(self.reserves.asked()),
        };
        self.keep(reserve);
        self.reserves.holders = BTreeSet::from([self.me]);
        self.reserves.recalling = true;
        self.reserves.answered.clear();
        self.say_reserve(reserve);
    }

    /// Others decide from now on: what they do not hold is reserved no more.
    pub(super) fn recount_reserve(&mut self) {
        let votes = &self.decision.electorate;
        let holders = self.reserves.holders.iter().filter(|&&member| votes.has(member)).count();
        if holders < votes.quorum() {
            self.reserves.reserved = first_block(self.reserves.rounds);
        }
        self.count_holders();
    }

    fn say_reserve(&mut self, reserve: Reserve) {
        self.reserves.again = self.now.after(self.charter.resend);
        self.send_all(Message::Reserve(reserve));
        self.count_holders();
    }

    pub(super) fn repeat_reserve(&mut self) {
        if self.reserves_wake_at().is_some_and(|again| self.now >= again)
            && let Some(&mine) = self.reserves.mine()
        {
            self.say_reserve(mine);
        }
    }

    /// Keeps a larger reserve than before; the driver must have it on disk before the answer leaves.
    fn keep(&mut self, reserve: Reserve) -> bool {
        let larger = self.reserves.held.get(&reserve.by).is_none_or(|held| held.records < reserve.records);
        if larger {
            self.reserves.held.insert(reserve.by, reserve);
            self.outputs.push_back(Output::KeepReserve(reserve));
        }
        larger
    }

    pub(super) fn on_reserve_of(&mut self, from: PeerIx, reserve: &Reserve) {
        // Its link proves whose it is; the signature is for its author, who looks at it where it is more than it knows.
        if reserve.by != from {
            return self.fault(from, Fault::Forged);
        }
        self.keep(*reserve);
        if self.answers.may_answer(from, self.now, self.charter.resend) {
            let reserve = self.reserves.held.get(&from).copied();
            self.send(from, Message::ReserveHeld(ReserveHeld { reserve, seen: self.seen(from) }));
        }
    }

    pub(super) fn on_reserve_held(&mut self, from: PeerIx, held: &ReserveHeld) {
        let Some(reserve) = held.reserve.filter(|reserve| reserve.by == self.me) else { return };
        let (charter, keys) = self.tools();
        if self.reserves.mine() != Some(&reserve) && !reserve.is_signed(charter, keys) {
            return self.fault(from, Fault::Forged);
        }
        if reserve.records < self.reserves.asked() {
            return; // It answers what I said before.
        }
        self.reserves.answered.insert(from);
        self.company.hear(from, held.seen);
        // Larger than what I know: my disk is old. Mine from now on, and to be told to everybody again.
        if self.keep(reserve) {
            self.reserves.holders = BTreeSet::from([self.me]);
        }
        self.reserves.holders.insert(from);
        self.count_holders();
    }

    fn count_holders(&mut self) {
        let Some(mine) = self.reserves.mine().copied() else { return };
        let votes = &self.decision.electorate;
        let holders = self.reserves.holders.iter().filter(|&&member| votes.has(member)).count();
        if holders >= votes.quorum() && mine.records > self.reserves.reserved {
            self.reserves.reserved = mine.records;
            self.outputs.push_back(Output::Reserved(mine.records));
        }
    }
}
