//! Masked rounds: a total that is no total, and who made it so.
//!
//! Everybody opens its masks of the zero words, and these words in all sums of its record ([`Opened`](super::super::Opened)). Then
//! 1. whose sums do not have the digests of its record, or whose own zeros are not its masks, contradicts itself: it lies;
//! 2. one says that it heard a sum which the other does not say it sent, or went on without a sum which the other says it sent;
//! 3. two that worked together do not open the same kind of round;
//! 4. two state different masks for what they share;
//! 5. one was heard in the round and does not know of it, though it is the same process: in 2 to 5 one of the two lies. Another process (another key) may have forgotten:
//!    after a void round it is taken to have been silent, so that who forgets every time is apart from more and more.
//!
//! # Guarantee
//! If the zeros of a total are none, and all seats state the round, somebody is in 1 to 5 or in the sums that contradict each other: where all sums follow from what
//! went in, the zeros of the total are what each puts in, and that is its masks, which cancel. Honest members are not in 1, and no two of them in 2 to 5.
//! # Assumes
//! As [`blame`](super::blame); who is honest takes a sum only from who started at the same model, and goes on only with all sums of a step.

use std::collections::BTreeSet;

use super::super::opened::Opened;
use super::super::records::{RoundRecord, StepRecord};
use super::{Blame, Pair, Standings, pair, round, rounds};
use crate::PeerIx;
use crate::agreement::Decision;

/// A member and a round as it states it.
type Told<'a> = (PeerIx, &'a RoundRecord);

/// Finds 1 to 5, and gives the pairs that count as silent.
pub(super) fn masked(seats: &Standings<'_>, before: &Decision, blame: &mut Blame) -> BTreeSet<Pair> {
    let mut silent = BTreeSet::new();
    for (&member, standing) in seats {
        let mut last = None;
        for record in rounds(standing, before).filter(|record| record.opened.is_some()) {
            last = Some(record);
            let is_sound = |opened: &Opened| opened.is_sound(member, record);
            if !record.opened.as_ref().is_some_and(is_sound) {
                blame.liars.insert(member);
            }
            let told = before.epoch == 0;
            for (&other, theirs) in seats.iter().filter(|(other, _)| **other != member) {
                let theirs = round(theirs, before, record.round);
                if theirs.is_some_and(|theirs| contradicts((member, record), (other, theirs), told)) {
                    blame.contradictions.insert(pair(member, other));
                }
            }
        }
        for other in last.map(|record| forgotten(seats, before, (member, record))).unwrap_or_default() {
            let forgets = pair(member, other);
            if is_same_process(seats, before, other) {
                blame.contradictions.insert(forgets);
            } else if last
                .is_some_and(|it| it.opened.as_ref().is_some_and(|opened| opened.is_void(member, it)))
            {
                silent.insert(forgets);
            }
        }
    }
    silent
}

/// Whom a member heard in the last round that it knows of, and who do not know of it. Honest members are one round apart at most, and remember two.
fn forgotten(seats: &Standings<'_>, before: &Decision, (_, record): Told<'_>) -> Vec<PeerIx> {
    let heard = record.steps.iter().filter(|step| step.heard.is_some()).map(|step| step.partner);
    heard
        .filter(|other| seats.get(other).is_some_and(|it| round(it, before, record.round).is_none()))
        .collect()
}

/// Whether a member states the key that it had in the epoch. Where there are no keys nobody can say.
fn is_same_process(seats: &Standings<'_>, before: &Decision, member: PeerIx) -> bool {
    let stated = seats.get(&member).map(|standing| standing.key).filter(|key| *key != [0; 32]);
    stated.is_some_and(|key| before.seats.iter().any(|seat| seat.member == member && seat.key == key))
}

/// Whether what two state about a round that the first opens cannot both be true.
fn contradicts(one: Told<'_>, other: Told<'_>, told: bool) -> bool {
    let (Some(mine), theirs) = (&one.1.opened, &other.1.opened) else { return false };
    let alike = theirs.as_ref().is_some_and(|theirs| theirs.is_of_one_kind(mine, told));
    if !alike && was_heard(one, other) {
        return true;
    }
    let Some(theirs) = theirs else { return false };
    let differ = theirs.is_of_one_kind(mine, false) && mine.mask_with(other.0) != theirs.mask_with(one.0);
    differ || does_not_fit(one, other) || does_not_fit(other, one)
}

/// Whether `one` worked with a sum of `other`.
fn was_heard(one: Told<'_>, other: Told<'_>) -> bool {
    one.1.steps.iter().any(|step| step.partner == other.0 && step.heard.is_some() && !objects(one.1, step))
}

/// Whether this step is where the author left the round.
fn objects(record: &RoundRecord, step: &StepRecord) -> bool {
    record.trouble.is_some_and(|trouble| trouble.step == step.step)
}

/// Whether `hearer` heard what `sender` did not send, or went on without what it sent.
fn does_not_fit(hearer: Told<'_>, sender: Told<'_>) -> bool {
    let made_up = hearer.1.steps.iter().filter(|step| step.partner == sender.0 && step.heard.is_some());
    let made_up = made_up
        .map(|step| with(sender.1, step.step, hearer.0))
        .any(|at| at.is_none_or(|at| at.sent.is_none()));
    // On the way into a halving both partners speak before they listen, under numbers of their own: the next number alone says nothing.
    let spoke_only =
        |at: &StepRecord, step| at.step == step + 1 && at.partner == sender.0 && at.heard.is_none();
    let is_past = |step: u32| {
        let mut later = hearer.1.steps.iter().filter(|at| at.step > step);
        hearer.1.total.is_some() || later.any(|at| !spoke_only(at, step))
    };
    let sent = sender.1.steps.iter().filter(|step| step.partner == hearer.0 && step.sent.is_some());
    made_up
        || sent
            .filter(|step| is_past(step.step))
            .map(|step| with(hearer.1, step.step, sender.0))
            .any(|at| at.is_none_or(|at| at.heard.is_none()))
}

/// What a member states about one step with a partner.
fn with(record: &RoundRecord, step: u32, partner: PeerIx) -> Option<&StepRecord> {
    record.steps.iter().find(|at| at.step == step && at.partner == partner)
}

#[cfg(test)]
mod tests;
