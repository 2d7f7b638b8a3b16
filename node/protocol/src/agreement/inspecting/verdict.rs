//! From projections to names.

use std::collections::{BTreeMap, BTreeSet};

use privacy::mechanisms::grid::Words;

use super::super::Fingerprint;
use super::super::blame::{Blame, pair};
use super::super::looking::{
    Dispute, Inspection, Projected, Projection, Shown, bound_digest, stream_digest, words_digest,
};
use super::super::opened::{Opened, OpenedSum};
use super::super::records::RoundRecord;
use super::{Standings, leave_out};
use crate::PeerIx;
use crate::masks::inspection::{Opening, Rows, look};

/// What one member is bound to, and states of it.
#[derive(Clone, Copy)]
struct Told<'a> {
    record: &'a RoundRecord,
    opened: &'a Opened,
    projected: &'a Projected,
    shown: &'a [Shown],
}

/// Names who is too long or contradicts itself; who contradict each other must show what they have.
pub(super) fn projected(
    now: &Inspection,
    seed: Fingerprint,
    standings: &Standings<'_>,
    found: &mut Blame,
) -> Option<Inspection> {
    let told: BTreeMap<PeerIx, Told<'_>> =
        now.bound.iter().filter_map(|&(member, _)| Some((member, told(now, standings, member)?))).collect();
    let silent = now.bound.iter().map(|(member, _)| *member).filter(|member| !told.contains_key(member));
    leave_out(&silent.collect(), standings, found);
    if !now.disputes.is_empty() {
        settle(now, seed, &told, found);
        return None;
    }
    let disputes = name(now, &told, found);
    if disputes.is_empty() {
        return None;
    }
    let digest = |(&member, told): (&PeerIx, &Told<'_>)| {
        (member, Fingerprint::of_wire("murmur projected 1", told.projected))
    };
    Some(Inspection { projected: told.iter().map(digest).collect(), disputes, ..now.clone() })
}

/// `None` for who states nothing that can be read, or something else than before.
fn told<'a>(now: &Inspection, standings: &Standings<'a>, member: PeerIx) -> Option<Told<'a>> {
    let standing = standings.get(&member).copied()?;
    let look = standing.look.as_ref()?;
    let (record, projected) = (look.bound.as_ref()?, look.projected.as_ref()?);
    let opened = record.opened.as_ref()?;
    let is_bound = now.binds(member) == Some(bound_digest(record));
    let is_same = now.projected.is_empty()
        || now.projected_by(member) == Some(Fingerprint::of_wire("murmur projected 1", projected));
    let fits = |projection: &Projection| projection.0.len() == now.measure.directions as usize;
    let of_step = projected.sums.iter().flat_map(|step| step.sent.iter().chain(&step.heard));
    let all_fit = of_step.chain(&projected.streams).all(fits);
    let same_steps = projected.sums.len() == record.steps.len()
        && projected.sums.iter().zip(&record.steps).all(|(projected, step)| {
            projected.sent.is_some() == step.sent.is_some()
                && projected.heard.is_some() == step.heard.is_some()
        });
    let same_streams = projected.streams.len() == opened.masks.len();
    (is_bound && is_same && all_fit && same_steps && same_streams).then_some(Told {
        record,
        opened,
        projected,
        shown: &look.shown,
    })
}

/// Adds liars to what was found; the disputes that are left.
fn name(now: &Inspection, told: &BTreeMap<PeerIx, Told<'_>>, found: &mut Blame) -> Vec<Dispute> {
    let size = now.measure.size();
    let mut openings = BTreeMap::new();
    for (&member, it) in told {
        match own(now, it) {
            Own::Contradicts => {
                found.liars.insert(member);
            }
            Own::Unknown => {}
            Own::Is(own) => {
                let streams = it.opened.masks.iter().zip(&it.projected.streams);
                let pairs = streams.map(|(mask, stream)| (mask.with, stream.words(size))).collect();
                openings.insert(member, Opening { own, pairs });
            }
        }
    }
    let finding = look(&openings, &now.measure.yardstick());
    found.liars.extend(finding.named);
    let streams = finding.disputed.into_iter().map(|(one, other)| Dispute { one, other, step: None });
    let sums = told.iter().flat_map(|(&one, it)| sums_in_dispute((one, it), told));
    sums.chain(streams).collect()
}

/// What a member put in, by its own words.
enum Own {
    Is(Words),
    /// It did not get so far that it could be seen.
    Unknown,
    Contradicts,
}

/// Follows what a member held: on the way in it passes on, or takes in, one thing at a time; where it gives and takes at once it holds the sum of both.
fn own(now: &Inspection, told: &Told<'_>) -> Own {
    let size = now.measure.size();
    let mut own = Words::zeros(size, now.measure.directions as usize);
    let mut held: Option<Words> = None;
    let is_over = told.record.total.is_some();
    let meets = told.projected.sums.iter().any(|step| step.sent.is_some() && step.heard.is_some());
    let mut sums = told.opened.sums.iter().flat_map(|step| step.sent.iter().chain(&step.heard));
    if !is_over && !meets && sums.any(|sum| sum.start > 0 || sum.zeros.is_none()) {
        return Own::Unknown;
    }
    for step in &told.projected.sums {
        let words = |projection: &Option<Projection>| projection.as_ref().map(|it| it.words(size));
        match (words(&step.sent), words(&step.heard)) {
            (Some(sent), _) if held.as_ref().is_some_and(|held| *held != sent) => return Own::Contradicts,
            (Some(sent), Some(heard)) => {
                if held.is_none() {
                    add(&mut own, &sent);
                }
                let mut sum = sent;
                add(&mut sum, &heard);
                held = Some(sum);
            }
            (Some(sent), None) if held.is_none() => add(&mut own, &sent),
            // Who has met nobody takes over the total, once it has given its own.
            (None, Some(heard)) if held.is_some() || (is_over && !meets) => held = Some(heard),
            (None, Some(heard)) => subtract(&mut own, &heard),
            (Some(_), None) | (None, None) => {}
        }
    }
    Own::Is(own)
}

fn add(sum: &mut Words, words: &Words) {
    sum.add(words).expect("lengths were compared");
}

fn subtract(sum: &mut Words, words: &Words) {
    sum.subtract(words).expect("lengths were compared");
}

/// Sums that a member sent, and of which who heard them states something else.
fn sums_in_dispute((one, told): (PeerIx, &Told<'_>), all: &BTreeMap<PeerIx, Told<'_>>) -> Vec<Dispute> {
    let sent = told.record.steps.iter().zip(&told.projected.sums);
    let differs = sent.filter_map(|(step, projected)| {
        let theirs = all.get(&step.partner)?;
        let heard = projected_heard(theirs, step.step, one)?;
        let sent = projected.sent.as_ref()?;
        (sent != heard).then_some(Dispute { one, other: step.partner, step: Some(step.step) })
    });
    differs.collect()
}

fn projected_heard<'a>(told: &Told<'a>, step: u32, from: PeerIx) -> Option<&'a Projection> {
    let at = told.record.steps.iter().position(|it| it.step == step && it.partner == from)?;
    told.projected.sums[at].heard.as_ref()
}

fn projected_sent<'a>(told: &Told<'a>, step: u32, to: PeerIx) -> Option<(&'a Projection, OpenedSum)> {
    let at = told.record.steps.iter().position(|it| it.step == step && it.partner == to)?;
    Some((told.projected.sums[at].sent.as_ref()?, told.opened.sums.get(at)?.sent?))
}

/// Whoever of two shows the thing itself proves who lied about its projection; where nobody does, the two are apart.
fn settle(now: &Inspection, seed: Fingerprint, told: &BTreeMap<PeerIx, Told<'_>>, found: &mut Blame) {
    let Ok(rows) = now.measure.rows(seed) else { return };
    for dispute in &now.disputes {
        let (Some(one), Some(other)) = (told.get(&dispute.one), told.get(&dispute.other)) else { continue };
        let liars = match dispute.step {
            None => of_stream(now, &rows, ((dispute.one, one), (dispute.other, other))),
            Some(step) => of_sum(now, &rows, step, ((dispute.one, one), (dispute.other, other))),
        };
        match liars {
            Some(liars) => found.liars.extend(liars),
            None => {
                found.contradictions.insert(pair(dispute.one, dispute.other));
            }
        }
    }
}

type Two<'a, 'b> = ((PeerIx, &'b Told<'a>), (PeerIx, &'b Told<'a>));

/// Both are bound to the digest of the key.
fn of_stream(now: &Inspection, rows: &Rows, (one, other): Two<'_, '_>) -> Option<BTreeSet<PeerIx>> {
    let at = |told: &Told<'_>, with: PeerIx| told.opened.masks.iter().position(|mask| mask.with == with);
    let (mine, theirs) = (at(one.1, other.0)?, at(other.1, one.0)?);
    let bound = one.1.opened.masks[mine].key;
    if other.1.opened.masks[theirs].key != bound {
        return None;
    }
    let shown = |told: &Told<'_>, with: PeerIx| {
        told.shown.iter().find_map(|shown| match shown {
            Shown::Stream((key, of)) if *of == with && stream_digest(key) == bound => Some(*key),
            _ => None,
        })
    };
    let key = shown(one.1, other.0).or_else(|| shown(other.1, one.0))?;
    let truth = Projection::of(&rows.project_stream(now.measure.size(), &key));
    let stated = [(one.0, &one.1.projected.streams[mine]), (other.0, &other.1.projected.streams[theirs])];
    Some(stated.into_iter().filter(|(_, said)| **said != truth).map(|(member, _)| member).collect())
}

/// Both are bound to the digest of the sum, and to where in the vector it belongs.
fn of_sum(now: &Inspection, rows: &Rows, step: u32, (one, other): Two<'_, '_>) -> Option<BTreeSet<PeerIx>> {
    let (sent, bound) = projected_sent(one.1, step, other.0)?;
    let heard = projected_heard(other.1, step, one.0)?;
    let shown = |told: &Told<'_>| {
        told.shown.iter().find_map(|shown| match shown {
            Shown::Sum((of, bytes)) if *of == step && words_digest(bytes) == bound.others => {
                Some(bytes.clone())
            }
            _ => None,
        })
    };
    let bytes = shown(one.1).or_else(|| shown(other.1))?;
    let truth = Projection::of(&rows.project_bytes(now.measure.size(), bound.start as usize, &bytes));
    let stated = [(one.0, sent), (other.0, heard)];
    Some(stated.into_iter().filter(|(_, said)| **said != truth).map(|(member, _)| member).collect())
}
