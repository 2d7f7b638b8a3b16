//! The next stage of a look into a masked round, as a function of standings: everybody who has the same standings finds the same.
//!
//! # Guarantee
//! Nobody honest is among the liars that a look finds, but with the probability that [`Yardstick::new`](crate::masks::inspection::Yardstick::new) says; who lied about its
//! projections, or put in more than that allows, is, or is silent. A round has one seed.
//! # Assumes
//! As [`blame`](super::blame); an honest member states the same record and projections as long as a look goes on.

mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::Fingerprint;
use super::blame::{Blame, pair, round};
use super::decision::Decision;
use super::looking::{Barred, Coins, Inspection, Look, Measure, Wanted, bound_digest, says_so};
use super::statements::Standing;
use crate::PeerIx;

pub(super) type Standings<'a> = BTreeMap<PeerIx, &'a Standing>;

/// What a look comes to.
pub(super) struct Next {
    /// The look that goes on.
    pub(super) inspection: Option<Inspection>,
    /// Until when totals that are too long are not looked into.
    pub(super) barred: Barred,
    /// The coins of the epoch that is to begin.
    pub(super) coins: Vec<Coins>,
}

/// The next stage. Who lies or is silent is added to what was `found`.
pub(super) fn next(before: &Decision, standings: &Standings<'_>, found: &mut Blame) -> Next {
    let Some(now) = &before.inspection else {
        let is_undisputed = found.contradictions.is_empty() && found.liars.is_empty();
        let wanted = is_undisputed.then(|| wanted(before, standings)).flatten();
        let tosser = wanted.and_then(|(_, tosser, _)| tosser);
        // All stopped for that, some of them while sums of the next round were on their way: nobody was silent. A member that really is will be so in the next round too,
        // and coins that are heeded, or looks that are forced, are bounded.
        if wanted.is_some() {
            found.silences.retain(|pair| !found.waits.contains(pair));
        }
        let inspection = wanted.map(|wanted| begun(before, standings, wanted));
        return Next { inspection, barred: before.barred, coins: coins(before, standings, tosser) };
    };
    let said = found.liars.clone();
    let inspection = match now.seed {
        None => drawn(now, standings, found),
        Some(seed) => verdict::projected(now, seed, standings, found),
    };
    let nobody = found.liars.difference(&said).next().is_none();
    let in_vain = now.forced && inspection.is_none() && nobody;
    let barred = if in_vain { before.barred.after(now.round) } else { before.barred };
    Next { inspection, barred, coins: coins(before, standings, None) }
}

/// The coins that members state for the next epoch; one more of the one whose coin was heeded.
fn coins(before: &Decision, standings: &Standings<'_>, tosser: Option<PeerIx>) -> Vec<Coins> {
    let heeded = |member: PeerIx| {
        let earlier =
            before.coins.iter().find(|coins| coins.member == member).map_or(0, |coins| coins.heeded);
        earlier + u32::from(tosser == Some(member))
    };
    let mut all: Vec<Coins> = standings
        .iter()
        .filter_map(|(&member, standing)| {
            let head = standing.look.as_ref().filter(|look| look.measure.is_some())?.coins;
            Some(Coins { member, head, heeded: heeded(member) })
        })
        .collect();
    // Who is away has none, and is not forgotten.
    let away = before.coins.iter().filter(|coins| !standings.contains_key(&coins.member));
    all.extend(away.map(|coins| Coins { head: Fingerprint::default(), ..*coins }));
    all.sort_unstable();
    all
}

/// What is to be looked into: the round, whose coin says so, and the measure.
type What = (u32, Option<PeerIx>, Measure);

/// What more than f seats want to look into, of whom one is honest, or what one seat's coin says. By what measure, more than f say in any case.
fn wanted(before: &Decision, standings: &Standings<'_>) -> Option<What> {
    let looks: Vec<(PeerIx, &Look)> = standings
        .iter()
        .filter(|(member, _)| before.has_seat(**member))
        .filter_map(|(&member, standing)| Some((member, standing.look.as_ref()?)))
        .collect();
    let enough = before.electorate.one_honest();
    let measure = most_stated(looks.iter().filter_map(|(_, look)| look.measure), enough)?;
    let wants = || looks.iter().filter_map(|(member, look)| Some((*member, look.wants?)));
    let is_new = |round: &u32| *round >= before.next_round;
    let forced = wants().filter(|(_, wants)| wants.coin.is_none()).map(|(_, wants)| wants.round);
    if let Some(round) = most_stated(forced.filter(is_new), enough) {
        return measure.is_sound().then_some((round, None, measure));
    }
    let is_tossed = |(member, wants): &(PeerIx, Wanted)| {
        let coins = before.coins.iter().find(|coins| coins.member == *member);
        coins.zip(wants.coin).is_some_and(|(coins, coin)| {
            let coin = Fingerprint(coin);
            // Members are one round apart at most: no more links than that are followed.
            let is_near = wants.round.saturating_sub(before.next_round) <= nearest(standings, before);
            coins.heeded < measure.tosses
                && says_so(coin, wants.round, measure.toss)
                && is_near
                && coins.has(coin, wants.round, before)
        })
    };
    let (member, wants) = wants().filter(|(_, wants)| is_new(&wants.round)).find(is_tossed)?;
    measure.is_sound().then_some((wants.round, Some(member), measure))
}

/// How many rounds after the first of the epoch members have come to, at most.
fn nearest(standings: &Standings<'_>, before: &Decision) -> u32 {
    let mut stated: Vec<u32> = standings.values().map(|standing| standing.next_round).collect();
    stated.sort_unstable_by(|a, b| b.cmp(a));
    let known = stated.get(before.electorate.hostile as usize).copied().unwrap_or(0);
    known.saturating_add(1).saturating_sub(before.next_round)
}

/// What most state, if enough do.
fn most_stated<T: Ord>(stated: impl Iterator<Item = T>, enough: usize) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    stated.for_each(|it| *counts.entry(it).or_default() += 1);
    let (most, by) = counts.into_iter().max_by_key(|(_, by)| *by)?;
    (by >= enough).then_some(most)
}

/// All who state a record of the round are bound to it, and commit themselves to draws.
fn begun(before: &Decision, standings: &Standings<'_>, (of, tosser, measure): What) -> Inspection {
    let seats = standings.iter().filter(|(member, _)| before.has_seat(**member));
    let bound = seats.filter_map(|(&member, &standing)| {
        let record = round(standing, before, of).filter(|record| record.opened.is_some())?;
        Some((member, bound_digest(record)))
    });
    Inspection {
        round: of,
        forced: tosser.is_none(),
        measure,
        bound: bound.collect(),
        draws: draws(standings, &BTreeSet::new()),
        seed: None,
        projected: Vec::new(),
        disputes: Vec::new(),
    }
}

/// What members commit themselves to, without these.
fn draws(standings: &Standings<'_>, without: &BTreeSet<PeerIx>) -> Vec<(PeerIx, Fingerprint)> {
    let counts = standings.iter().filter(|(member, _)| !without.contains(member));
    counts.filter_map(|(&member, standing)| Some((member, standing.look.as_ref()?.draw))).collect()
}

/// A seed of all draws, or another draw without those who did not open theirs.
fn drawn(now: &Inspection, standings: &Standings<'_>, found: &mut Blame) -> Option<Inspection> {
    let opened = |member: PeerIx, commitment: Fingerprint| {
        let draw = standings.get(&member)?.look.as_ref()?.drawn?;
        (Look::commitment(member, draw) == commitment).then_some(draw)
    };
    let silent: BTreeSet<PeerIx> =
        now.draws.iter().filter(|&&(member, it)| opened(member, it).is_none()).map(|(it, _)| *it).collect();
    leave_out(&silent, standings, found);
    if !silent.is_empty() {
        let draws = draws(standings, &silent);
        return (!draws.is_empty()).then(|| Inspection { draws, ..now.clone() });
    }
    let mut all = now.round.to_le_bytes().to_vec();
    for (member, draw) in now.draws.iter().filter_map(|&(member, it)| Some((member, opened(member, it)?))) {
        all.extend(member.to_le_bytes());
        all.extend(draw);
    }
    let seed = Some(Fingerprint::of("murmur seed 1", &all));
    Some(Inspection { draws: Vec::new(), seed, ..now.clone() })
}

/// Who is silent is apart from everybody for a while: it has no seat.
fn leave_out(silent: &BTreeSet<PeerIx>, standings: &Standings<'_>, found: &mut Blame) {
    for &member in silent {
        let others = standings.keys().filter(|other| **other != member && !silent.contains(*other));
        found.silences.extend(others.map(|&other| pair(member, other)));
    }
}

#[cfg(test)]
mod tests;
