//! Contributions with proofs: who proves nothing is found by everybody who hears all of it, so it counts once more than may be hostile say so.
//!
//! # Guarantee
//! At least one of those who say so is honest, and went by what all members have heard. An honest member proves what it adds, and is never named by itself; of a pair
//! that committed to two masks one lies, since honest members have their keys from one decision.

use std::collections::{BTreeMap, BTreeSet};

use super::{Blame, Pair, Standings, pair, rounds};
use crate::PeerIx;
use crate::agreement::Decision;

/// Where nobody is taken to be hostile, still nobody is believed alone.
const LEAST_WITNESSES: usize = 2;

pub(super) fn unproved(seats: &Standings<'_>, before: &Decision, blame: &mut Blame) {
    let enough = (before.electorate.hostile as usize + 1).max(LEAST_WITNESSES);
    let mut said: BTreeMap<(u32, Pair), BTreeSet<PeerIx>> = BTreeMap::new();
    for (&witness, standing) in seats {
        for record in rounds(standing, before) {
            for &(one, other) in &record.unproved {
                said.entry((record.round, pair(one, other))).or_default().insert(witness);
            }
        }
    }
    for ((_, (one, other)), witnesses) in said {
        if witnesses.len() < enough || !before.has_seat(one) || !before.has_seat(other) {
            continue;
        }
        if one == other {
            blame.liars.insert(one);
        } else {
            blame.contradictions.insert((one, other));
        }
    }
}
