//! What follows from what all have opened.

use std::collections::{BTreeMap, BTreeSet};

use privacy::mechanisms::grid::Words;

use super::{Opening, Rows, Yardstick};
use crate::PeerIx;

/// What an inspection finds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    /// Whose contribution is longer than honest ones are: it put that in.
    pub named: BTreeSet<PeerIx>,
    /// Who state different streams: one of the two lies, and each can show what the other signed.
    pub disputed: BTreeSet<(PeerIx, PeerIx)>,
    /// Who opened nothing, or nothing that could be read: their seat is lost, no more.
    pub silent: BTreeSet<PeerIx>,
    /// What the members sent is not what the total is made of: all publish their words, and records say whose differ.
    pub changed: bool,
}

impl Finding {
    /// Whether there is nothing to find.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// Looks into a round: `total` is the sum of all masked words, `openings` what its members published.
///
/// # Guarantee
/// No honest member is named but for the probability that [`Yardstick::new`] says, no two honest ones are disputed, and who opened is not silent. If nothing is found,
/// what every member added has projections as short as honest ones.
///
/// # Assumes
/// Honest members of the round hold the same total, and have the same stream for each of their pairs; members are in increasing order.
pub fn look(
    rows: &Rows,
    members: &[PeerIx],
    (total, openings): (&Words, &BTreeMap<PeerIx, Opening>),
    yardstick: &Yardstick,
) -> Finding {
    let nothing = Words::zeros(total.size(), rows.directions());
    let fits = |words: &Words| words.len() == nothing.len() && words.size() == nothing.size();
    let is_read = |opening: &&Opening| fits(&opening.own) && opening.pairs.values().all(fits);
    let opened = |member: &PeerIx| openings.get(member).filter(is_read);
    let mut finding = Finding {
        silent: members.iter().copied().filter(|member| opened(member).is_none()).collect(),
        ..Finding::default()
    };
    if finding.silent.is_empty() {
        let mut sum = nothing.clone();
        members.iter().filter_map(opened).for_each(|opening| add(&mut sum, &opening.own));
        finding.changed = rows.project(total) != Some(sum);
    }
    for (at, &one) in members.iter().enumerate() {
        let Some(mine) = opened(&one) else { continue };
        let share = |opening: &Opening, with: PeerIx| {
            opening.pairs.get(&with).cloned().unwrap_or_else(|| nothing.clone())
        };
        let others = members[at + 1..].iter().filter_map(|other| Some((*other, opened(other)?)));
        let differs = others.filter(|(other, theirs)| share(mine, *other) != share(theirs, one));
        finding.disputed.extend(differs.map(|(other, _)| (one, other)));
        let mut own = mine.own.clone();
        for (&other, stream) in &mine.pairs {
            if one < other { subtract(&mut own, stream) } else { add(&mut own, stream) }
        }
        if yardstick.is_passed_by(&own) {
            finding.named.insert(one);
        }
    }
    finding
}

fn add(sum: &mut Words, words: &Words) {
    sum.add(words).expect("lengths and sizes were compared");
}

fn subtract(sum: &mut Words, words: &Words) {
    sum.subtract(words).expect("lengths and sizes were compared");
}
