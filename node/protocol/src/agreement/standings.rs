//! The standings that were heard for the epoch that is to begin: of each member the first, and a second where
//! there is one, which proves that it lies.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Fingerprint;
use super::sealed::Sealed;
use super::statements::{Named, Standing};
use crate::PeerIx;

/// Bounded: two of each member, and those that a proposal names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Standings(BTreeMap<PeerIx, Vec<Arc<Sealed<Standing>>>>);

impl Standings {
    pub(super) fn has(&self, member: PeerIx) -> bool {
        self.0.contains_key(&member)
    }

    pub(super) fn find(&self, (member, digest): Named) -> Option<&Arc<Sealed<Standing>>> {
        self.0.get(&member)?.iter().find(|standing| standing.digest() == digest)
    }

    /// The one that was heard first.
    pub(super) fn first(&self, member: PeerIx) -> Option<&Arc<Sealed<Standing>>> {
        self.0.get(&member)?.first()
    }

    /// Whether there is room for another of this member. `wanted` are those that a proposal names, which are
    /// kept in any case.
    pub(super) fn has_room(&self, named: Named, wanted: &[Named]) -> bool {
        self.0.get(&named.0).is_none_or(|all| all.len() < 2) || wanted.contains(&named)
    }

    pub(super) fn insert(&mut self, standing: Arc<Sealed<Standing>>) {
        self.0.entry(standing.by()).or_default().push(standing);
    }

    pub(super) fn named(&self) -> Vec<Named> {
        let name =
            |(&member, all): (&PeerIx, &Vec<Arc<Sealed<Standing>>>)| Some((member, all.first()?.digest()));
        self.0.iter().filter_map(name).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Sealed<Standing>>> {
        self.0.values().flatten()
    }

    pub(super) fn members(&self) -> impl Iterator<Item = PeerIx> {
        self.0.keys().copied()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Those that are named, or what is lacking.
    pub(super) fn all(&self, named: &[Named]) -> Result<BTreeMap<PeerIx, &Standing>, Vec<Named>> {
        let lacking: Vec<Named> = named.iter().copied().filter(|&name| self.find(name).is_none()).collect();
        if !lacking.is_empty() {
            return Err(lacking);
        }
        let found = named.iter().filter_map(|&name| Some((name.0, self.find(name)?.content())));
        Ok(found.collect())
    }

    pub(super) fn digests(&self, named: &[Named]) -> Vec<Arc<Sealed<Standing>>> {
        named.iter().filter_map(|&name| self.find(name).cloned()).collect()
    }

    pub(super) fn has_digest(&self, member: PeerIx, digest: Fingerprint) -> bool {
        self.find((member, digest)).is_some()
    }
}
