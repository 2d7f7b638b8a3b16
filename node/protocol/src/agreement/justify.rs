//! Whether a proposal follows from what it rests on: found alike by everybody who has its standings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::flaw::{self, Flaw};
use super::machine::Agreement;
use super::message::Turns;
use super::outcome::outcome;
use super::proof::{Proof, Unjustified};
use super::sealed::Sealed;
use super::standings::Standings;
use super::statements::{Locked, Named, Propose, Standing};
use crate::PeerIx;

/// What an examination came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be voted for.
    Justified,
    /// These standings must be here first.
    Lacking(Vec<Named>),
    /// No honest member proposes this.
    Unjustified,
}

impl Agreement {
    /// Examines a proposal whose signature was checked and that is its proposer's, with these standings.
    pub(super) fn examine(&self, propose: &Sealed<Propose>, standings: &Standings) -> Verdict {
        let content = propose.content();
        let locked = content.locked();
        let turns = Turns { turns: content.turns.clone(), locked: locked.clone() };
        let follows = turns.view().checked_add(1) == Some(propose.place().view) && !content.turns.is_empty();
        // One against each: looking at proofs takes time.
        let one_each = content.proofs.windows(2).all(|pair| pair[0].against() < pair[1].against());
        if !follows || !one_each || !self.are_sound(&turns) || !self.names_all(content, &turns) {
            return Verdict::Unjustified;
        }
        let found = match standings.all(&content.standings) {
            Err(lacking) => return Verdict::Lacking(lacking),
            Ok(found) => found,
        };
        if locked.is_some() && !flaw::has(Flaw::IgnoresLocks) {
            // `are_sound` found a quorum of votes for this very value.
            return Verdict::Justified;
        }
        if !content.proofs.iter().all(|proof| self.is_proof(proof)) {
            return Verdict::Unjustified;
        }
        let proven = self.proven_by(&content.proofs, &found);
        let value = outcome(&self.decision, &found, &proven, self.tools());
        if value.as_ref() == Some(&*content.value) { Verdict::Justified } else { Verdict::Unjustified }
    }

    /// Who is proved to be hostile by proofs that were checked, and by those in the standings: found alike by
    /// who proposes and who votes.
    pub(super) fn proven_by(
        &self,
        proofs: &[Proof],
        standings: &BTreeMap<PeerIx, &Standing>,
    ) -> BTreeSet<PeerIx> {
        let (charter, keys) = self.tools();
        let stated = standings.values().flat_map(|standing| &standing.proofs);
        let stated = stated.filter(|twice| twice.is_sound(charter, keys)).map(|twice| twice.by);
        proofs.iter().map(Proof::against).chain(stated).collect()
    }

    /// Whether the standings are in order and have everybody that the turns bring.
    fn names_all(&self, content: &Propose, turns: &Turns) -> bool {
        let rises = content.standings.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_named = |member: &PeerIx| {
            content.standings.binary_search_by_key(member, |named| named.0).is_ok()
                || self.decision.has_banned(*member)
        };
        let brought = self.brought(&turns.turns);
        rises && (flaw::has(Flaw::NoHeardRule) || brought.keys().all(is_named))
    }

    fn is_proof(&self, proof: &Proof) -> bool {
        let (charter, keys) = self.tools();
        match proof {
            Proof::Twice(twice) => twice.is_sound(charter, keys),
            Proof::Unjustified(unjustified) => self.is_unjustified(unjustified),
        }
    }

    /// Whether a proposal of this epoch is signed by its proposer and does not follow from its standings,
    /// which are all there.
    fn is_unjustified(&self, Unjustified { propose, standings }: &Unjustified) -> bool {
        let (charter, keys) = self.tools();
        let mut known = Standings::default();
        let sound = standings.iter().all(|standing| {
            let named = (standing.by(), standing.digest());
            let wanted = propose.content().standings.contains(&named) && known.find(named).is_none();
            known.insert(standing.clone());
            wanted && standing.place() == self.place(0) && standing.is_signed(charter, keys)
        });
        sound && self.is_from_proposer(propose) && self.examine(propose, &known) == Verdict::Unjustified
    }

    pub(super) fn is_from_proposer(&self, propose: &Sealed<Propose>) -> bool {
        let view = propose.place().view;
        let (charter, keys) = self.tools();
        let ours = view > 0 && propose.place() == self.place(view);
        ours && propose.by() == self.proposer(view) && propose.is_signed(charter, keys)
    }

    /// A proof that can be passed on: one that contains no other of its kind.
    pub(super) fn note_unjustified(&mut self, propose: Arc<Sealed<Propose>>) {
        let nests = propose.content().proofs.iter().any(|proof| matches!(proof, Proof::Unjustified(_)));
        if !nests {
            let standings = self.standings.digests(&propose.content().standings);
            self.note(Proof::Unjustified(Unjustified { propose, standings }));
        }
    }
}

impl Propose {
    /// The lock with the value that is proposed.
    pub(super) fn locked(&self) -> Option<Arc<Locked>> {
        let lock = self.lock.clone()?;
        Some(Arc::new(Locked { lock, value: self.value.clone() }))
    }
}
