//! Rounds in the open, where every member tells all the same: its contribution, and by digest what it has heard.
//!
//! 1. What one says it sent, and the other heard, differs: as everywhere.
//! 2. Who states that it told two members different things, or a digest of something else than it states to have heard, lies: no honest member does.
//! 3. Who did not say what all wait for: with each that waits for it.
//! 4. Where a round broke and nothing of this says why, whoever leaves out what it told somebody, or told it nothing, is apart from one for whom that is
//!    new: a liar that states nothing gathers such pairs, one for each round that it breaks.
//!
//! # Guarantee
//! An honest member is never among the liars of 2.

use std::collections::{BTreeMap, BTreeSet};

use super::{Blame, Standings, pair, round, rounds};
use crate::PeerIx;
use crate::agreement::Decision;
use crate::agreement::records::{
    OPEN, PASSED, RoundRecord, SETS, StepRecord, Trouble, TroubleKind, set_fingerprint,
};

/// Whether somebody waited for a contribution, which depends on nothing that others say.
pub(super) fn is_first_word(trouble: Trouble) -> bool {
    trouble.kind == TroubleKind::Silent && (OPEN..PASSED).contains(&trouble.step)
}

/// 2: told two things, or of what it did not hear.
pub(super) fn contradicting_themselves(seats: &Standings<'_>, before: &Decision, blame: &mut Blame) {
    for (&member, standing) in seats {
        if rounds(standing, before).any(|record| contradicts_itself(member, record)) {
            blame.liars.insert(member);
        }
    }
}

fn contradicts_itself(member: PeerIx, record: &RoundRecord) -> bool {
    let sent = |from: u32, to: u32| -> BTreeSet<_> {
        record.steps.iter().filter(|at| (from..to).contains(&at.step)).filter_map(|at| at.sent).collect()
    };
    let (parts, sets) = (sent(OPEN, PASSED), sent(SETS, u32::MAX));
    let (Some(own), Some(set)) = (parts.first(), sets.first()) else {
        return parts.len() > 1 || sets.len() > 1;
    };
    let heard = record.steps.iter().filter(|at| (OPEN..SETS).contains(&at.step));
    let heard = heard.filter_map(|at| Some((at.partner, at.heard.as_ref()?.digest)));
    let all = heard.chain([(member, *own)]).collect();
    parts.len() > 1 || sets.len() > 1 || set_fingerprint(all) != *set
}

/// 4: where nothing else was found.
pub(super) fn owing(seats: &Standings<'_>, before: &Decision, blame: &mut Blame) {
    if !(blame.contradictions.is_empty() && blame.silences.is_empty() && blame.liars.is_empty()) {
        return;
    }
    let mut found: BTreeMap<PeerIx, PeerIx> = BTreeMap::new();
    for (&hearer, standing) in seats {
        for record in rounds(standing, before).filter(|record| is_open(record) && record.total.is_none()) {
            let known: BTreeSet<_> = before.apart_in(record.round).collect();
            for (&other, theirs) in seats.iter().filter(|(other, _)| **other != hearer) {
                let theirs = round(theirs, before, record.round);
                if owes((hearer, record), (other, theirs)) && !known.contains(&pair(hearer, other)) {
                    found.entry(other).or_insert(hearer);
                }
            }
        }
    }
    blame.silences.extend(found.into_iter().map(|(silent, waiting)| pair(waiting, silent)));
}

fn is_open(record: &RoundRecord) -> bool {
    record.steps.iter().any(|at| (OPEN..PASSED).contains(&at.step) && at.sent.is_some())
}

/// Whether the other told nothing to the hearer, or does not state what the hearer heard.
fn owes((hearer, record): (PeerIx, &RoundRecord), (other, theirs): (PeerIx, Option<&RoundRecord>)) -> bool {
    let by_other = |at: &&StepRecord| at.partner == other && at.heard.is_some();
    let heard: Vec<u32> = record.steps.iter().filter(by_other).map(|at| at.step).collect();
    let stated = |step: u32| {
        theirs.is_some_and(|theirs| {
            theirs.steps.iter().any(|at| at.step == step && at.partner == hearer && at.sent.is_some())
        })
    };
    let direct = |step: &u32| !(PASSED..SETS).contains(step);
    !heard.iter().any(|&step| step < SETS) || heard.iter().copied().filter(direct).any(|step| !stated(step))
}
