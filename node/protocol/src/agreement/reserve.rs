//! Old disks: a member makes no record beyond what a quorum has heard it reserve, so a restored folder cannot
//! make it forget what it spent.
//!
//! Records beyond K wait until q members hold the [`Reserve`] of the next block. A member that comes back
//! asks for its K: what it may have released since its last record is at most that. Only its own key raises
//! K.

use std::collections::{BTreeMap, BTreeSet};

use super::codec::{Wire, wire};
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

/// The largest reserve of the receiver that the sender holds, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReserveHeld {
    /// It.
    pub reserve: Option<Reserve>,
}

wire!(ReserveHeld { reserve: Option<Reserve> });

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

/// The reserves that a member holds, of itself and of others. One of each: bounded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reserves {
    me: PeerIx,
    held: BTreeMap<PeerIx, Reserve>,
    /// Who holds mine.
    holders: BTreeSet<PeerIx>,
    reserved: u64,
    again: Time,
}

impl Reserves {
    pub(super) fn new(me: PeerIx) -> Self {
        Self { me, held: BTreeMap::new(), holders: BTreeSet::new(), reserved: 0, again: Time(0) }
    }

    /// Up to where a quorum holds mine.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// All that are held, to be kept with the ledger.
    pub fn held(&self) -> impl Iterator<Item = &Reserve> {
        self.held.values()
    }

    fn mine(&self) -> Option<&Reserve> {
        self.held.get(&self.me)
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        self.mine().is_some_and(|mine| mine.records > self.reserved).then_some(self.again)
    }
}

impl Agreement {
    /// Up to where my records are reserved, and what I hold of others.
    pub fn reserves(&self) -> &Reserves {
        &self.reserves
    }

    /// Takes back reserves that were kept.
    pub fn restore_reserves(&mut self, held: impl IntoIterator<Item = Reserve>) {
        for reserve in held {
            self.keep(reserve);
        }
    }

    pub(super) fn on_reserve(&mut self, records: u64) {
        let statement = Reserve::statement(records);
        let reserve =
            Reserve { by: self.me, records, signature: self.keys.sign(&statement.bytes(&self.charter)) };
        if self.keep(reserve) {
            self.reserves.holders = BTreeSet::from([self.me]);
            self.say_reserve(reserve);
        }
    }

    fn say_reserve(&mut self, reserve: Reserve) {
        self.reserves.again = self.now.after(self.charter.resend);
        self.send_all(Message::Reserve(reserve));
        self.count_holders();
    }

    pub(super) fn repeat_reserve(&mut self) {
        if self.reserves.wake_at().is_some_and(|again| self.now >= again)
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
        let (charter, keys) = self.tools();
        if reserve.by != from || !reserve.is_signed(charter, keys) {
            return self.fault(from, Fault::Forged);
        }
        self.keep(*reserve);
        if self.answers.may_answer(from, self.now, self.charter.resend) {
            let reserve = self.reserves.held.get(&from).copied();
            self.send(from, Message::ReserveHeld(ReserveHeld { reserve }));
        }
    }

    pub(super) fn on_reserve_held(&mut self, from: PeerIx, held: &ReserveHeld) {
        let Some(reserve) = held.reserve.filter(|reserve| reserve.by == self.me) else { return };
        let (charter, keys) = self.tools();
        if !reserve.is_signed(charter, keys) {
            return self.fault(from, Fault::Forged);
        }
        // Larger than what I know: my disk is old. Mine from now on, and to be told to everybody again.
        if self.keep(reserve) {
            self.reserves.holders = BTreeSet::from([self.me]);
        }
        if self.reserves.mine().is_some_and(|mine| mine.records == reserve.records) {
            self.reserves.holders.insert(from);
            self.count_holders();
        }
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
