//! Who breaks rounds, computed from what members state about them; nobody votes on it.
//!
//! 1. One says that it sent a sum, its partner that it heard another: one of the two lies.
//! 2. Two had the same two sums and state different results: honest members hold the same bits (addition
//!    commutes), so one of the two lies. (The specification says it by blocks: at the first step after which
//!    a block states two sums, its halves each stated one, so all in the block had the same two. By inputs it
//!    needs no plan, and holds at every step.)
//! 3. Malformed: one accuses another; one of the two lies. Who shows the other's signature under it has proved it.
//! 4. Silence, or models that differ: followed from who waits to whom that one waits for, to the last pair.
//!    Links fail too, and machines start again: for whom several wait, one pair is enough.
//!
//! What rounds without sums add to it is in `open`.
//! What contributions with proofs add to it is in `unproved`.
//! After a masked round that left something between its masks, what is opened says who put it there ([`masked`]).
//!
//! # Guarantee
//! Each pair of 1 to 3 has a hostile end, so an honest member is in at most f of them. No pair of two honest
//! members is among them, whatever the others state.
//! # Assumes
//! Honest members check sums before they pass them on, and state what they sent and heard.

mod masked;
mod open;
mod unproved;

use std::collections::{BTreeMap, BTreeSet};

use super::Fingerprint;
use super::keys::Keys;
use super::outline::Outline;
use super::records::{RoundRecord, StepRecord, Trouble, TroubleKind, sum_statement};
use super::sealed::Place;
use super::statements::Standing;
use super::{Charter, Decision};
use crate::PeerIx;

/// Two members, the smaller first.
pub(super) type Pair = (PeerIx, PeerIx);

/// What follows from the records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Blame {
    /// One of the two is hostile.
    pub(super) contradictions: BTreeSet<Pair>,
    /// Who accuses whom of malformed sums; the pairs are among the contradictions.
    pub(super) accusations: BTreeSet<(PeerIx, PeerIx)>,
    /// One of the two, or their link, does not work.
    pub(super) silences: BTreeSet<Pair>,
    /// Those of them of whom it is only known that one waited for the other when it stopped. Whoever stopped for another reason was not silent, nor was anybody for whom
    /// others waited then: what was on its way had not come.
    pub(super) waits: BTreeSet<Pair>,
    /// Who lies, by signed sums or by its own words.
    pub(super) liars: BTreeSet<PeerIx>,
}

pub(super) fn pair(one: PeerIx, other: PeerIx) -> Pair {
    (one.min(other), one.max(other))
}

type Standings<'a> = BTreeMap<PeerIx, &'a Standing>;

/// What the standings say about the rounds of the epoch that `before` began.
pub(super) fn blame(standings: &Standings<'_>, before: &Decision, tools: (&Charter, &dyn Keys)) -> Blame {
    let mut blame = Blame::default();
    // Only seats are in rounds: what others state about them is made up.
    let seats: Standings<'_> =
        standings.iter().filter(|(member, _)| before.has_seat(**member)).map(|(&m, &s)| (m, s)).collect();
    contradicting_partners(&seats, before, tools, &mut blame);
    contradicting_sums(&seats, before, &mut blame);
    open::contradicting_themselves(&seats, before, &mut blame);
    unproved::unproved(&seats, before, &mut blame);
    let forgetful = masked::masked(&seats, before, &mut blame);
    let mut awaited: BTreeMap<PeerIx, PeerIx> = BTreeMap::new();
    let records = seats.iter().flat_map(|(&m, s)| rounds(s, before).map(move |record| (m, record)));
    for (member, record) in records {
        match record.trouble {
            Some(trouble) if trouble.with == member || !before.has_seat(trouble.with) => {}
            Some(trouble) if trouble.kind == TroubleKind::Malformed => {
                blame.accusations.insert((member, trouble.with));
                blame.contradictions.insert(pair(member, trouble.with));
                if is_proved((member, record), (trouble, before), tools) {
                    blame.liars.insert(trouble.with);
                }
            }
            // In the open everybody waits for everybody, and for nothing else.
            Some(trouble) if open::is_first_word(trouble) => {
                blame.silences.insert(pair(member, trouble.with));
            }
            Some(_) => {
                if let Some((waiting, silent)) = last_pair(&seats, member, record) {
                    awaited.entry(silent).or_insert(waiting);
                }
            }
            None => {}
        }
    }
    let waits = awaited.into_iter().map(|(silent, waiting)| pair(waiting, silent));
    blame.waits = waits.filter(|it| !blame.contradictions.contains(it) && !forgetful.contains(it)).collect();
    blame.silences.extend(blame.waits.iter().copied().chain(forgetful));
    blame.silences.retain(|pair| !blame.contradictions.contains(pair));
    open::owing(&seats, before, &mut blame);
    blame
}

/// The rounds of this epoch that a member states; no more than two, and one of each number.
fn rounds<'a>(standing: &'a Standing, before: &Decision) -> impl Iterator<Item = &'a RoundRecord> {
    let first = before.next_round;
    let mut last = None;
    standing.rounds.iter().take(2).filter(move |record| {
        let fresh = record.is_sound() && record.round >= first && last < Some(record.round);
        last = last.max(Some(record.round));
        fresh
    })
}

pub(super) fn round<'a>(standing: &'a Standing, before: &Decision, number: u32) -> Option<&'a RoundRecord> {
    rounds(standing, before).find(|record| record.round == number)
}

/// 1: sent and heard differ. Where sums are signed it is a proof: against the sender if the other shows its
/// signature, else against the other.
fn contradicting_partners(
    seats: &Standings<'_>,
    before: &Decision,
    (charter, keys): (&Charter, &dyn Keys),
    blame: &mut Blame,
) {
    let electorate = before.electorate.fingerprint();
    for (&hearer, standing) in seats {
        for record in rounds(standing, before) {
            let place = Place { epoch: before.epoch, electorate, view: record.round };
            for step in &record.steps {
                let Some(heard) = &step.heard else { continue };
                let sender = step.partner;
                let Some(theirs) = seats.get(&sender).and_then(|s| round(s, before, record.round)) else {
                    continue;
                };
                let sent = theirs.steps.iter().find(|at| at.step == step.step && at.partner == hearer);
                let Some(sent) = sent.and_then(|step| step.sent) else { continue };
                if sent == heard.digest || sender == hearer {
                    continue;
                }
                blame.contradictions.insert(pair(sender, hearer));
                if before.signs(record.round) {
                    let bytes = sum_statement(place, step.step, hearer, heard.digest).bytes(charter);
                    let shown = heard.signature.is_some_and(|by| keys.verifies(sender, &bytes, &by));
                    blame.liars.insert(if shown { sender } else { hearer });
                }
            }
        }
    }
}

/// 3: whether the author shows the signature of whom it accuses, under what no honest member sends.
fn is_proved(
    (member, record): (PeerIx, &RoundRecord),
    (trouble, before): (Trouble, &Decision),
    (charter, keys): (&Charter, &dyn Keys),
) -> bool {
    let is_it = |step: &&StepRecord| step.step == trouble.step && step.partner == trouble.with;
    let at = record.steps.iter().position(|step| is_it(&step));
    let heard = at.and_then(|at| record.steps[at].heard.as_ref());
    let (Some(heard), true) = (heard, before.signs(record.round)) else { return false };
    // The same by its outline, or, under masks, as it is opened: how many are in it is not counted there.
    let too_large = |outline: Outline| {
        outline.digest() == heard.digest
            && charter.bounds.is_some_and(|bounds| bounds.refuse(&outline, before.seats.len()))
    };
    let opened = record.opened.as_ref().zip(at).and_then(|(opened, at)| opened.sums.get(at)?.heard);
    let counted = opened.is_some_and(|sum| sum.digest() == heard.digest && sum.count > 0);
    let electorate = before.electorate.fingerprint();
    let place = Place { epoch: before.epoch, electorate, view: record.round };
    let bytes = sum_statement(place, trouble.step, member, heard.digest).bytes(charter);
    let is_signed = || heard.signature.is_some_and(|by| keys.verifies(trouble.with, &bytes, &by));
    (record.shown.is_some_and(too_large) || counted) && is_signed()
}

/// Round, step, and the two sums that went in, the smaller first.
type Inputs = (u32, u32, Fingerprint, Fingerprint);

/// 2: the same two sums went in, and different ones came out.
fn contradicting_sums(seats: &Standings<'_>, before: &Decision, blame: &mut Blame) {
    let mut results: BTreeMap<Inputs, BTreeMap<Fingerprint, Vec<PeerIx>>> = BTreeMap::new();
    for (&member, standing) in seats {
        for record in rounds(standing, before) {
            for step in &record.steps {
                let (Some(sent), Some(heard)) = (step.sent, &step.heard) else { continue };
                let Some(after) = record.after(step.step) else { continue };
                let inputs = (record.round, step.step, sent.min(heard.digest), sent.max(heard.digest));
                results.entry(inputs).or_default().entry(after).or_default().push(member);
            }
        }
    }
    for groups in results.into_values().filter(|groups| groups.len() > 1) {
        let members: Vec<(usize, PeerIx)> = groups
            .into_values()
            .enumerate()
            .flat_map(|(at, all)| all.into_iter().map(move |m| (at, m)))
            .collect();
        for (at, (group, one)) in members.iter().enumerate() {
            let across = members[at + 1..].iter().filter(|(other, _)| other != group);
            blame.contradictions.extend(across.map(|&(_, other)| pair(*one, other)));
        }
    }
}

/// 4: from who waits to whom that one waits for; the last who waits, and for whom. Who waits in a step has not come to later ones, nor to later
/// rounds, so both fall on the way and it ends.
fn last_pair(seats: &Standings<'_>, from: PeerIx, record: &RoundRecord) -> Option<(PeerIx, PeerIx)> {
    let (mut waiting, mut record) = (from, record);
    while let Some(trouble) = record.trouble.filter(|trouble| trouble.with != waiting) {
        // Who is not here loses its seat anyway.
        let next = seats.get(&trouble.with)?;
        let place = (record.round, trouble.step);
        let earlier = |other: &&RoundRecord| {
            other.is_sound() && other.trouble.is_some_and(|then| (other.round, then.step) < place)
        };
        match next.rounds.iter().take(2).find(earlier) {
            Some(theirs) => (waiting, record) = (trouble.with, theirs),
            None => return Some((waiting, trouble.with)),
        }
    }
    None
}

#[cfg(test)]
mod tests;
