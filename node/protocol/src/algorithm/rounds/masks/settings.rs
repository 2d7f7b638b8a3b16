//! What all participants of masked rounds agree on, and what follows for the price of a round.

use privacy::network::masked;

use super::graph::{MaskGraph, holds_against};
use crate::PeerIx;

/// Settings of masked rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaskSettings {
    /// c: members that may pool what they know.
    pub colluders: usize,
    /// Fewest honest members whose noise hides a contribution; with fewer, no data are added.
    pub least: usize,
}

/// How well a masked round hides a contribution: known before it begins, and the same however it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hidden {
    /// |R|: members, all of which add noise.
    pub among: u32,
    /// What one member, or somebody who sees all traffic, learns: 1/(|R| − 1).
    pub one: f64,
    /// What any c together learn: 1/(|R| − c).
    pub coalition: f64,
    /// Whether as many as `least` are left beside them.
    pub is_enough: bool,
    /// What a look into the round would add, towards whoever watches; 0 where there is none.
    pub look: f64,
}

impl Hidden {
    /// The same where a look costs so much by itself, or is a part of what every round costs.
    #[must_use]
    pub(in crate::algorithm::rounds) fn with_look(self, look: f64, part: f64) -> Self {
        Self { look, one: joined(self.one, part), coalition: joined(self.coalition, part), ..self }
    }
}

/// What a round costs together with what looks into it show, as a part of a full charge: nobody learns more than everything. Rounded up.
pub(in crate::algorithm::rounds) fn joined(leverage: f64, part: f64) -> f64 {
    if part > 0.0 { (leverage + part).next_up().min(1.0) } else { leverage }
}

impl MaskSettings {
    /// In a round of so many members.
    pub fn hidden(&self, among: usize) -> Hidden {
        let is_enough = among >= 3 && among.saturating_sub(self.colluders) >= self.least.max(1);
        Hidden {
            among: u32::try_from(among).unwrap_or(u32::MAX),
            one: leverage(among, 1),
            coalition: leverage(among, self.colluders),
            is_enough,
            look: 0.0,
        }
    }
}

impl MaskSettings {
    /// Who shares no masks: pairs of whom one lies, and who contradicted each other about what they share. Nobody, where that could leave somebody alone.
    ///
    /// # Guarantee
    /// Whichever `colluders` members watch, the others stay connected by masks that these do not know, so that Theorem 1 holds with |R| − c: if each of m members lacks
    /// at most a others, then among h of them each has h − 1 − a, and a part that is cut off, of at most h/2, would give it fewer, for h > 2a.
    ///
    /// # Assumes
    /// That streams are shared with everybody: where they are shared with neighbours only, nobody is left out.
    pub(in crate::algorithm::rounds) fn unmasked(
        &self,
        (members, graph): (&[PeerIx], MaskGraph),
        apart: &[(PeerIx, PeerIx, u32)],
    ) -> Vec<(PeerIx, PeerIx)> {
        if graph != MaskGraph::Complete {
            return Vec::new();
        }
        let is_member = |member: &PeerIx| members.binary_search(member).is_ok();
        let for_good = apart.iter().filter(|(.., until)| *until == u32::MAX);
        let pairs: Vec<(PeerIx, PeerIx)> = for_good
            .map(|&(one, other, _)| (one.min(other), one.max(other)))
            .filter(|(one, other)| is_member(one) && is_member(other))
            .collect();
        let lacks = |member: &PeerIx| pairs.iter().filter(|(a, b)| a == member || b == member).count();
        let most = members.iter().map(lacks).max().unwrap_or(0);
        if members.len().saturating_sub(self.colluders) > 2 * most { pairs } else { Vec::new() }
    }
}

/// As [`leverage`], where every member shares streams with so many neighbours on a circle (0: with all). Of watchers who might split the others, all.
pub(super) fn leverage_on(neighbours: u32, among: usize, watchers: usize) -> f64 {
    if holds_against(neighbours, among, watchers) { leverage(among, watchers) } else { 1.0 }
}

/// What so many watchers together learn of a contribution to a masked round of `among` members, as a part of the whole: 1/(|R| − c). Rounded up; all
/// of it where nobody is left.
///
/// # Guarantee
/// The joint view of the watchers, and of all traffic, is a function of one Gaussian release with 1/leverage times the variance that the contribution
/// has by itself (Theorem 1 of [`privacy::network::masked`]). For integer noise of parameter s that is by itself counted as variance s² − 9, the total of
/// h has h·s² − 9 ≥ h·(s² − 9): no correction is left.
///
/// # Assumes
/// Every member outside adds noise at least as large and masks as it should; the watchers cannot break X25519, HKDF-SHA256 and ChaCha20.
pub(crate) fn leverage(among: usize, watchers: usize) -> f64 {
    match masked::honest(among as u64, watchers as u64) {
        Ok(honest) => (1.0 / honest as f64).next_up().min(1.0),
        Err(_) => 1.0,
    }
}
