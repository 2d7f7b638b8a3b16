//! F: the next decision as a function of standings. Everybody who has the same standings finds the same.

use std::collections::{BTreeMap, BTreeSet};

use super::blame::{Blame, Pair, blame};
use super::decision::{Apart, Cause, Decision, Model, Seat, SignedSums, TokenStart};
use super::flaw::{self, Flaw};
use super::inspecting::{self, Next};
use super::keys::Keys;
use super::statements::Standing;
use super::{Charter, Electorate};
use crate::PeerIx;

/// For how many rounds a silent pair is apart at first. A guess: long enough that a dead link costs less than
/// 2 % of rounds.
const SILENT_SPAN: u32 = 64;
/// For how many rounds sums are signed at first, as specified.
const SIGNED_SPAN: u32 = 1024;
/// No walk has more tokens.
const MOST_TOKENS: usize = 1024;

/// The standings that a decision rests on, of one member each.
pub(super) type Standings<'a> = BTreeMap<PeerIx, &'a Standing>;

/// The decision that follows the one `before`, or nothing where no model fits: then more standings must come.
/// `proven` are those against whom a proof is at hand.
///
/// # Guarantee
/// With at most f hostile members: the model is one that an honest seat holds, not older than the epoch's
/// start; who is among the standings and honest has a seat, unless it is in silent pairs with more than half of those
/// present, and 2f+1 and more than half have seats without it; nobody honest is banned.
pub(super) fn outcome(
    before: &Decision,
    standings: &Standings<'_>,
    proven: &BTreeSet<PeerIx>,
    tools: (&Charter, &dyn Keys),
) -> Option<Decision> {
    let mut found = blame(standings, before, tools);
    let Next { inspection, barred, coins } = inspecting::next(before, standings, &mut found);
    let banned = banned(before, proven, &found);
    let fresh = banned.iter().filter(|&&member| !before.has_banned(member)).count() as u32;
    let hostile = before.electorate.hostile.saturating_sub(fresh);
    let present: Standings<'_> =
        standings.iter().filter(|(member, _)| !banned.contains(member)).map(|(&m, &s)| (m, s)).collect();
    let next_round = next_round(before, &present, hostile);
    let accused = if hostile == 0 { accused(&found) } else { BTreeSet::new() };
    let sit = |apart: &[Apart]| seats(&present, &shut_out(&present, apart, hostile, next_round), &accused);
    let mut apart = apart(before, &found, &banned, next_round);
    let mut seats = sit(&apart);
    if seats.len() < least_seats(&present, hostile) {
        // They all speak here: links that failed work again, or nothing would.
        let lies: Vec<Apart> = apart.iter().filter(|p| p.cause == Cause::Contradiction).copied().collect();
        let more = sit(&lies);
        if more.len() > seats.len() {
            (apart, seats) = (lies, more);
        }
    }
    let trusted: Standings<'_> =
        present.iter().filter(|(member, _)| !accused.contains(member)).map(|(&m, &s)| (m, s)).collect();
    let model = model(before, &trusted, hostile, tools.0.terms().rounds)?;
    let signed = signed(before, &found, next_round);
    let tokens = tokens(before, &trusted, hostile);
    let electorate = electorate(before, &seats, &banned, hostile);
    let (banned, epoch) = (banned.into_iter().collect(), before.epoch.checked_add(1)?);
    (!seats.is_empty()).then_some(Decision {
        epoch,
        seats,
        electorate,
        banned,
        apart,
        signed,
        model,
        next_round,
        tokens,
        inspection,
        barred,
        coins,
    })
}

/// Those present that have a seat, with their keys.
fn seats(present: &Standings<'_>, shut: &BTreeSet<PeerIx>, accused: &BTreeSet<PeerIx>) -> Vec<Seat> {
    let has_seat =
        |member: &PeerIx, s: &Standing| !s.leaving && !shut.contains(member) && !accused.contains(member);
    let seated = present.iter().filter(|(member, standing)| has_seat(member, standing));
    seated.map(|(&member, standing)| Seat { member, key: standing.key }).collect()
}

/// Silence alone takes seats from nobody where fewer than these would be left: more than half of those present, and so many
/// that more than f of them are honest. Else nobody could say which model the seats hold, and nothing would be decided any more.
fn least_seats(present: &Standings<'_>, hostile: u32) -> usize {
    (2 * hostile as usize + 1).max(present.len() / 2 + 1)
}

fn banned(before: &Decision, proven: &BTreeSet<PeerIx>, found: &Blame) -> BTreeSet<PeerIx> {
    before.banned.iter().chain(proven).chain(&found.liars).copied().collect()
}

/// The largest that is stated, but at most one more than the (f+1)-th largest, which an honest member has come to: honest
/// members are one round apart at most, so nobody uses a number again, and a liar can leave out one.
fn next_round(before: &Decision, present: &Standings<'_>, hostile: u32) -> u32 {
    let mut stated: Vec<u32> = present.values().map(|standing| standing.next_round).collect();
    stated.sort_unstable_by(|a, b| b.cmp(a));
    let known = stated.get(hostile as usize).copied().unwrap_or(0);
    let ahead = stated.into_iter().find(|&round| round <= known.saturating_add(1)).unwrap_or(known);
    ahead.max(before.next_round)
}

/// Pairs of before and new ones, without the banned. One that is silent again is apart for twice as long; one
/// that was not for as long again is forgotten.
fn apart(before: &Decision, found: &Blame, banned: &BTreeSet<PeerIx>, round: u32) -> Vec<Apart> {
    let remembered =
        |pair: &Apart| pair.cause == Cause::Contradiction || round < pair.until.saturating_add(pair.span);
    let mut pairs: BTreeMap<Pair, Apart> = before
        .apart
        .iter()
        .filter(|pair| remembered(pair))
        .map(|pair| ((pair.one, pair.other), *pair))
        .collect();
    for &(one, other) in &found.silences {
        let span = pairs.get(&(one, other)).map_or(SILENT_SPAN, |pair| pair.span.saturating_mul(2));
        let fresh = Apart { one, other, cause: Cause::Silence, until: round.saturating_add(span), span };
        let pair = pairs.entry((one, other)).or_insert(fresh);
        if pair.cause == Cause::Silence {
            *pair = fresh;
        }
    }
    for &(one, other) in &found.contradictions {
        let fresh = Apart { one, other, cause: Cause::Contradiction, until: u32::MAX, span: u32::MAX };
        pairs.insert((one, other), fresh);
    }
    pairs.into_values().filter(|pair| !banned.contains(&pair.one) && !banned.contains(&pair.other)).collect()
}

/// Who is in more than f contradictions: no honest member is. And who, with silences, is apart from more than
/// half of those present (and more than f): no order has a place for it until they end. Where nobody is taken
/// to be hostile a contradiction says nothing about who is wrong.
fn shut_out(present: &Standings<'_>, apart: &[Apart], hostile: u32, round: u32) -> BTreeSet<PeerIx> {
    let is_present = |member: PeerIx| present.contains_key(&member);
    let those = (present.len(), &is_present as &dyn Fn(PeerIx) -> bool);
    let is_over = |member: &PeerIx| is_shut_out(*member, those, apart, (hostile, round));
    present.keys().copied().filter(is_over).collect()
}

/// Whether a member, one of so many who are present, has no seat because of those whom it is apart from.
pub(super) fn is_shut_out(
    member: PeerIx,
    (present, is_present): (usize, &dyn Fn(PeerIx) -> bool),
    apart: &[Apart],
    (hostile, round): (u32, u32),
) -> bool {
    // Of two nobody is shut out: there would be nobody left.
    let most = (hostile as usize).max(present.saturating_sub(1) / 2).max(1);
    let of_it = apart.iter().filter(|pair| {
        let other = if pair.one == member { pair.other } else { pair.one };
        (pair.one == member || pair.other == member) && is_present(other)
    });
    let (mut lies, mut all) = (0, 0);
    for pair in of_it.filter(|pair| pair.is_apart(round)) {
        all += 1;
        lies += usize::from(pair.cause == Cause::Contradiction);
    }
    (hostile > 0 && lies > hostile as usize) || all > most
}

/// f = 0: whom one accuses of a malformed sum, unless it accuses back or its accuser accuses others too.
fn accused(found: &Blame) -> BTreeSet<PeerIx> {
    let by = |accuser: PeerIx| found.accusations.iter().filter(move |(by, _)| *by == accuser).count();
    let stands = |&&(accuser, accused): &&(PeerIx, PeerIx)| {
        by(accuser) == 1 && !found.accusations.contains(&(accused, accuser))
    };
    found.accusations.iter().filter(stands).map(|&(_, accused)| accused).collect()
}

/// The newest model that 2f+1 seats hold; if there is none, that f+1 hold. Who had no seat does not count:
/// its old disk and a liar would roll the run back. Of rival models of a version the one that more hold, and
/// neither if as many do.
fn model(before: &Decision, present: &Standings<'_>, hostile: u32, rounds: u32) -> Option<Model> {
    if before.seats.is_empty() {
        return Some(before.model);
    }
    let counts = |member: &PeerIx| before.has_seat(*member) || flaw::has(Flaw::HoldersWithoutSeat);
    let mut holders: BTreeMap<Model, u32> = BTreeMap::new();
    for (_, standing) in present.iter().filter(|(member, _)| counts(member)) {
        let held = [Some(standing.model), standing.before.filter(|&model| model != standing.model)];
        for model in held.into_iter().flatten() {
            *holders.entry(model).or_default() += 1;
        }
    }
    // At the version where the epoch began there is only the model that was decided.
    holders.retain(|model, _| {
        let started = model.version > before.model.version || *model == before.model;
        started && model.version <= rounds
    });
    let needs = if flaw::has(Flaw::OneHolder) { [1, 1] } else { [2 * hostile + 1, hostile + 1] };
    needs.into_iter().find_map(|need| {
        let rivals = |model: &Model| {
            let others =
                holders.iter().filter(|(other, _)| other.version == model.version && *other != model);
            others.map(|(_, &held)| held).max().unwrap_or(0)
        };
        let sound = holders.iter().filter(|(model, held)| **held >= need && rivals(model) < **held);
        sound.map(|(model, _)| *model).max_by_key(|model| model.version)
    })
}

fn signed(before: &Decision, found: &Blame, round: u32) -> SignedSums {
    if found.contradictions.is_empty() {
        return before.signed;
    }
    let span = before.signed.span.saturating_mul(2).max(SIGNED_SPAN);
    SignedSums { until: round.saturating_add(span).max(before.signed.until), span }
}

/// Each token starts again at the (f+1)-th largest hop of its newest generation that f+1 know of, from the
/// copy of who stated it.
fn tokens(before: &Decision, present: &Standings<'_>, hostile: u32) -> Vec<TokenStart> {
    let opened =
        |token| before.tokens.iter().find(|start| start.token == token).map_or(0, |start| start.generation);
    let enough = hostile as usize;
    let mut copies: BTreeMap<u32, Vec<(u32, u32, PeerIx, super::Fingerprint)>> = BTreeMap::new();
    for (&member, standing) in present {
        let mut seen = BTreeSet::new();
        for copy in standing.tokens.iter().take(MOST_TOKENS).filter(|copy| seen.insert(copy.token)) {
            copies.entry(copy.token).or_default().push((copy.generation, copy.hop, member, copy.digest));
        }
    }
    let start = |(token, mut copies): (u32, Vec<(u32, u32, PeerIx, super::Fingerprint)>)| {
        copies.sort_unstable_by(|a, b| b.cmp(a));
        let &(generation, hop, holder, digest) = copies.get(enough)?;
        // Never one that was opened before: contributions under it are somewhere.
        let generation = generation.max(opened(token)).saturating_add(1);
        Some(TokenStart { token, generation, hop, digest, holder })
    };
    copies.into_iter().filter_map(start).collect()
}

/// Who decides next: the seats, if they can bear f′ hostile ones among them; else those of before, without
/// the banned.
fn electorate(before: &Decision, seats: &[Seat], banned: &BTreeSet<PeerIx>, hostile: u32) -> Electorate {
    let votes = if seats.len() > 3 * hostile as usize {
        seats.iter().map(|seat| seat.member).collect()
    } else {
        before.electorate.votes.iter().copied().filter(|member| !banned.contains(member)).collect()
    };
    Electorate { votes, hostile }
}

#[cfg(test)]
mod tests;
