//! One round of recursive doubling by messages: who is heard next, what was sent, what came early.
//!
//! Invariant: a node carries the sum of what reached it and adds in the order of the steps, so that all members end with the same bits.

use std::collections::BTreeMap;
use std::sync::Arc;

use topology::schedule::{Plan, Role};

use super::Sum;
use super::carried::Carried;
use crate::PeerIx;
use crate::numbers::Numbers;
use crate::time::Patience;

/// The exchange of one round, as far as it has come.
pub(super) struct Exchange {
    pub(super) plan: Arc<Plan>,
    /// My position in the roster.
    pub(super) position: usize,
    pub(super) step: u32,
    pub(super) sum: Carried,
    pub(super) count: u32,
    /// Whom I wait for, and how long.
    pub(super) waiting: Option<(PeerIx, Patience)>,
}

impl Exchange {
    /// What I do in the current step; `None` after the last.
    pub(super) fn role(&self) -> Option<Role> {
        ((self.step as usize) < self.plan.steps()).then(|| self.plan.role(self.step as usize, self.position))
    }

    /// Takes in what the partner of this step sent.
    pub(super) fn take(&mut self, role: Role, heard: &Heard) {
        if let Role::Adopt(_) = role {
            self.sum.adopt(&heard.numbers);
            self.count = heard.said.count;
        } else {
            self.sum.add(&heard.numbers);
            self.count += heard.said.count;
        }
    }

    /// The most inputs that a message of this step may stand for.
    pub(super) fn largest_count(&self, partner: usize) -> u32 {
        self.plan.inputs_held(self.step as usize, partner) as u32
    }
}

/// A sum on its way, with what is said about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub(super) said: Box<Sum>,
    pub(super) numbers: Numbers,
}

/// Sums that came before they were needed; bounded.
#[derive(Default)]
pub(super) struct Early(BTreeMap<(u32, u32, PeerIx), Heard>);

/// What keeping a message came to.
pub(super) enum Kept {
    Yes,
    /// The same message again.
    Again,
    /// Another message for the same place.
    Contradicts,
    /// No room.
    TooMany,
}

impl Early {
    /// Keeps a message unless there are `limit` already.
    pub(super) fn keep(&mut self, place: (u32, u32, PeerIx), heard: Heard, limit: usize) -> Kept {
        match self.0.get(&place) {
            Some(before) if *before == heard => Kept::Again,
            Some(_) => Kept::Contradicts,
            None if self.0.len() >= limit => Kept::TooMany,
            None => {
                self.0.insert(place, heard);
                Kept::Yes
            }
        }
    }

    pub(super) fn take(&mut self, place: (u32, u32, PeerIx)) -> Option<Heard> {
        self.0.remove(&place)
    }

    /// Forgets rounds before `round` and other epochs.
    pub(super) fn forget_before(&mut self, round: u32, epoch: u32) {
        self.0.retain(|&(of, _, _), heard| of >= round && heard.said.epoch == epoch);
    }
}

/// Messages of this round and the one before, to be sent again on request.
#[derive(Default)]
pub(super) struct Sent(BTreeMap<(u32, u32), (PeerIx, Heard)>);

impl Sent {
    pub(super) fn keep(&mut self, place: (u32, u32), to: PeerIx, sum: Heard) {
        self.0.insert(place, (to, sum));
    }

    /// What was sent to `to` in that round and step.
    pub(super) fn to(&self, place: (u32, u32), to: PeerIx) -> Option<&Heard> {
        self.0.get(&place).filter(|(receiver, _)| *receiver == to).map(|(_, sum)| sum)
    }

    pub(super) fn forget_before(&mut self, round: u32) {
        self.0 = self.0.split_off(&(round, 0));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
