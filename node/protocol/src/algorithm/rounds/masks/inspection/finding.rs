//! What follows from all that have opened.

use std::collections::{BTreeMap, BTreeSet};

use super::{Opening, Yardstick};
use crate::PeerIx;

/// What an inspection finds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    /// Whose contribution is longer than honest ones are: it put that in.
    pub named: BTreeSet<PeerIx>,
    /// Who state different streams: one of the two lies, and each can show the key to which both are bound.
    pub disputed: BTreeSet<(PeerIx, PeerIx)>,
}

/// Looks into a round, with what its members opened.
///
/// # Guarantee
/// No honest member is named but for the probability that [`Yardstick::new`] says, and no two honest ones are disputed. If nothing is found, what every member who opened
/// has added has projections as short as honest ones.
///
/// # Assumes
/// Honest members have the same stream for each of their pairs, and open projections of what they sent. That those of a liar are what it sent follows from those of its partners.
pub fn look(openings: &BTreeMap<PeerIx, Opening>, yardstick: &Yardstick) -> Finding {
    let nothing = yardstick.nothing();
    let share = |opening: &Opening, with: PeerIx| {
        opening.pairs.get(&with).cloned().unwrap_or_else(|| nothing.clone())
    };
    let mut finding = Finding::default();
    for (&one, mine) in openings {
        let others = openings.range(one.saturating_add(1)..);
        let differs = others.filter(|(other, theirs)| share(mine, **other) != share(theirs, one));
        finding.disputed.extend(differs.map(|(&other, _)| (one, other)));
        let mut own = mine.own.clone();
        for (&other, stream) in &mine.pairs {
            let changed = if one < other { own.subtract(stream) } else { own.add(stream) };
            changed.expect("lengths and sizes were compared");
        }
        if yardstick.is_passed_by(&own) {
            finding.named.insert(one);
        }
    }
    finding
}
