//! Messages of the current step, beside the row of the mixing matrix, and those that came early.
//!
//! Invariant: at most one message per sender, round and step; numbers stay shared with the sender until they are mixed.

use std::collections::BTreeMap;

use super::mixing::StepPlan;
use crate::PeerIx;
use crate::values::Values;

/// What is here.
#[derive(Default)]
pub(crate) struct Inbox {
    /// One slot per column of the row; those of the node itself and of weights zero stay empty.
    here: Vec<Option<Values>>,
    /// How many messages of the step are still to come.
    awaited: usize,
    early: BTreeMap<(u32, u32, PeerIx), Values>,
}

/// What a message turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    New,
    Again,
    Contradicts,
}

impl Inbox {
    /// A new step: what came early takes its place. Returns from whom.
    pub(crate) fn open(&mut self, me: PeerIx, (round, step): (u32, u32), plan: &StepPlan) -> Vec<PeerIx> {
        self.here.clear();
        self.here.resize(plan.row(me).0.len(), None);
        self.awaited = 0;
        let mut came_early = Vec::new();
        for (place, peer) in plan.heard_by(me) {
            let early = if self.early.is_empty() { None } else { self.early.remove(&(round, step, peer)) };
            match &early {
                Some(_) => came_early.push(peer),
                None => self.awaited += 1,
            }
            self.here[place] = early;
        }
        came_early
    }

    /// A message of the current step.
    pub(crate) fn take(&mut self, place: usize, values: Values) -> Taken {
        match &self.here[place] {
            Some(first) if *first == values => Taken::Again,
            Some(_) => Taken::Contradicts,
            None => {
                self.here[place] = Some(values);
                self.awaited -= 1;
                Taken::New
            }
        }
    }

    /// A message of a later step.
    pub(crate) fn keep(&mut self, key: (u32, u32, PeerIx), values: Values) -> Taken {
        match self.early.get(&key) {
            Some(first) if *first == values => Taken::Again,
            Some(_) => Taken::Contradicts,
            None => {
                self.early.insert(key, values);
                Taken::New
            }
        }
    }

    pub(crate) fn awaited(&self) -> usize {
        self.awaited
    }

    pub(crate) fn at(&self, place: usize) -> Option<&Values> {
        self.here[place].as_ref()
    }

    /// Lets go of what was mixed, while it is near: its memory can be used again.
    pub(crate) fn forget(&mut self) {
        self.here.fill(None);
    }

    /// Who sent something of a later step already.
    pub(crate) fn senders_of_later_steps(&self) -> Vec<PeerIx> {
        self.early.keys().map(|&(_, _, peer)| peer).collect()
    }

    /// Forgets what belongs to the current step or to rounds before `round`. Returns whose messages of later rounds are dropped so.
    pub(crate) fn skip_to(&mut self, round: u32) -> Vec<(u32, u32, PeerIx)> {
        let kept = self.early.split_off(&(round, 0, 0));
        let dropped = std::mem::replace(&mut self.early, kept);
        self.here = Vec::new();
        self.awaited = 0;
        dropped.into_keys().collect()
    }

    /// Gives all memory back.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }
}
