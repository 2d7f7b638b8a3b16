//! One round in the open, as one member has it: kept for those who lack something, and stated where the round breaks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::exchange::Reach;
use super::super::trace::sum_fingerprint;
use crate::PeerIx;
use crate::agreement::{
    self, Fingerprint, OPEN, PASSED, RoundRecord, SETS, Signature, StepRecord, Trouble, TroubleKind,
    open_step, set_fingerprint,
};
use crate::numbers::{Numbers, Words};
use crate::values::Digest;

/// A contribution that is here.
#[derive(Debug, Clone)]
pub(in crate::algorithm::rounds) struct Part {
    pub(in crate::algorithm::rounds) count: u32,
    pub(in crate::algorithm::rounds) numbers: Numbers,
    pub(super) digest: Fingerprint,
    pub(super) signature: Option<Signature>,
    /// It came from others, not from its author.
    pub(super) passed: bool,
}

impl Part {
    pub(super) fn new(count: u32, numbers: Numbers, signature: Option<Signature>, passed: bool) -> Self {
        let digest = match numbers.words().and_then(Words::as_32) {
            Some(words) => shown_fingerprint(count, words),
            None => sum_fingerprint(count, &numbers, Reach::WHOLE),
        };
        Self { count, numbers, digest, signature, passed }
    }
}

/// Digest of what a member shows.
fn shown_fingerprint(count: u32, words: &[u32]) -> Fingerprint {
    let bytes: Vec<u8> = std::iter::once(&count).chain(words).flat_map(|word| word.to_le_bytes()).collect();
    Fingerprint::of("murmur shown 1", &bytes)
}

/// A round.
pub(in crate::algorithm::rounds) struct Open {
    pub(in crate::algorithm::rounds) round: u32,
    /// The model from which it started.
    pub(in crate::algorithm::rounds) start: Digest,
    pub(in crate::algorithm::rounds) members: Arc<[PeerIx]>,
    /// My position among them.
    position: usize,
    pub(in crate::algorithm::rounds) parts: BTreeMap<PeerIx, Part>,
    /// What others told of what they have.
    pub(super) sets: BTreeMap<PeerIx, (Fingerprint, Option<Signature>)>,
    /// What I told.
    pub(in crate::algorithm::rounds) set: Option<Fingerprint>,
    pub(in crate::algorithm::rounds) done: bool,
    trouble: Option<Trouble>,
    /// Whose contributions prove nothing: one member (twice), or two.
    pub(in crate::algorithm::rounds) unproved: Vec<(PeerIx, PeerIx)>,
}

impl Open {
    pub(super) fn new(
        (round, start): (u32, Digest),
        members: Arc<[PeerIx]>,
        position: usize,
        own: Part,
    ) -> Self {
        let parts = BTreeMap::from([(members[position], own)]);
        Self {
            round,
            start,
            members,
            position,
            parts,
            sets: BTreeMap::new(),
            set: None,
            done: false,
            trouble: None,
            unproved: Vec::new(),
        }
    }

    pub(super) fn me(&self) -> PeerIx {
        self.members[self.position]
    }

    pub(super) fn others(&self) -> impl Iterator<Item = PeerIx> + '_ {
        let me = self.me();
        self.members.iter().copied().filter(move |&member| member != me)
    }

    /// Whose contribution is not here.
    pub(super) fn missing(&self) -> impl Iterator<Item = PeerIx> + '_ {
        self.members.iter().copied().filter(|member| !self.parts.contains_key(member))
    }

    /// Whom I wait for: for a contribution, or once these are here, for a word about them.
    pub(super) fn awaited(&self) -> Option<PeerIx> {
        match self.set {
            None => self.missing().next(),
            Some(_) => self.others().find(|member| !self.sets.contains_key(member)),
        }
    }

    /// Digest of all contributions, once they are here.
    pub(super) fn digest(&self) -> Fingerprint {
        let digests: Vec<_> = self.parts.iter().map(|(&member, part)| (member, part.digest)).collect();
        set_fingerprint(digests)
    }

    /// The number of the step in which one of us tells the other its contribution, or from `SETS` on, what it has heard.
    pub(super) fn step(&self, from: u32, (sender, hearer): (PeerIx, PeerIx)) -> u32 {
        let position = |member| self.members.binary_search(&member).unwrap_or(0);
        from + open_step(self.members.len(), position(sender), position(hearer))
    }

    /// Why this member left the round.
    pub(super) fn leave(&mut self, kind: TroubleKind, with: PeerIx) {
        let from = if self.set.is_none() || kind != TroubleKind::Silent { OPEN } else { SETS };
        let step = self.step(from, (with, self.me()));
        if !self.done {
            self.trouble.get_or_insert(Trouble { kind, with, step });
        }
    }

    /// As it is stated.
    pub(super) fn record(&self) -> RoundRecord {
        let me = self.me();
        let mut steps: Vec<StepRecord> = Vec::new();
        let own = self.parts.get(&me).map(|part| part.digest);
        for other in self.others() {
            let (to, by) = (self.step(OPEN, (me, other)), self.step(OPEN, (other, me)));
            steps.push(StepRecord { step: to, partner: other, sent: own, heard: None });
            if let Some(part) = self.parts.get(&other) {
                let at = if part.passed { by - OPEN + PASSED } else { by };
                steps.push(heard(at, other, part.digest, part.signature));
            }
            if let Some(set) = self.set {
                let to = self.step(SETS, (me, other));
                steps.push(StepRecord { step: to, partner: other, sent: Some(set), heard: None });
            }
            if let Some(&(set, signature)) = self.sets.get(&other) {
                steps.push(heard(self.step(SETS, (other, me)), other, set, signature));
            }
        }
        steps.sort_unstable_by_key(|step| step.step);
        RoundRecord {
            round: self.round,
            steps,
            total: self.set.filter(|_| self.done),
            trouble: self.trouble,
            opened: None,
            shown: None,
            unproved: self.unproved.clone(),
        }
    }
}

fn heard(step: u32, partner: PeerIx, digest: Fingerprint, signature: Option<Signature>) -> StepRecord {
    StepRecord { step, partner, sent: None, heard: Some(agreement::Heard { digest, signature }) }
}
