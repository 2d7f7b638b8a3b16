//! What was sent and heard in the last two rounds, and what ended them: stated where a round breaks, so that whoever breaks rounds can be found.
//!
//! Digests are made when they are stated: a clean round makes none.

use std::collections::VecDeque;

use super::exchange::{Heard, How};
use super::masks::{self, Opening};
use crate::PeerIx;
use crate::agreement::{
    self, Fingerprint, Opened, OpenedStep, OpenedSum, RoundRecord, Signature, StepRecord, Trouble,
    TroubleKind,
};
use crate::numbers::{Numbers, Words};
use crate::values::Values;

/// The last rounds of this epoch.
#[derive(Default)]
pub(super) struct Trace(VecDeque<Traced>);

struct Traced {
    round: u32,
    steps: Vec<TracedStep>,
    done: bool,
    trouble: Option<Trouble>,
    /// What is to be opened, where the round is masked.
    opening: Option<Opening>,
}

struct TracedStep {
    step: u32,
    partner: PeerIx,
    sent: Option<Told>,
    heard: Option<(Told, How)>,
}

/// A sum as it was told.
#[derive(Clone)]
struct Told {
    count: u32,
    numbers: Numbers,
    signature: Option<Signature>,
    /// Whether its last words are those of the whole vector: the zeros of masked words.
    ends: bool,
}

/// So many rounds a standing has room for.
const KEPT: usize = 2;

impl Trace {
    pub(super) fn begin(&mut self, round: u32) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Traced { round, steps: Vec::new(), done: false, trouble: None, opening: None });
    }

    /// The contribution of the round is under masks.
    pub(super) fn masked(&mut self, opening: Opening) {
        if let Some(last) = self.0.back_mut() {
            last.opening = Some(opening);
        }
    }

    /// A sum that was sent; `ends` where its last words are those of the whole vector.
    pub(super) fn sent(&mut self, step: u32, partner: PeerIx, (heard, ends): (&Heard, bool)) {
        if let Some(at) = self.step(step, partner) {
            at.sent = Some(Told::of(heard, ends));
        }
    }

    pub(super) fn heard(&mut self, step: u32, partner: PeerIx, (heard, ends): (&Heard, bool), how: How) {
        if let Some(at) = self.step(step, partner) {
            at.heard = Some((Told::of(heard, ends), how));
        }
    }

    /// In the order of the numbers: on the way into a halving the partner's may be the smaller.
    fn step(&mut self, step: u32, partner: PeerIx) -> Option<&mut TracedStep> {
        let steps = &mut self.0.back_mut()?.steps;
        let at = steps.partition_point(|at| at.step < step);
        if steps.get(at).is_none_or(|found| found.step != step) {
            steps.insert(at, TracedStep { step, partner, sent: None, heard: None });
        }
        steps.get_mut(at)
    }

    pub(super) fn done(&mut self) {
        if let Some(last) = self.0.back_mut() {
            last.done = true;
        }
    }

    /// Why the round under way was left, unless it was before.
    pub(super) fn trouble(&mut self, kind: TroubleKind, with: PeerIx, step: u32) {
        if let Some(last) = self.0.back_mut().filter(|last| !last.done) {
            last.trouble.get_or_insert(Trouble { kind, with, step });
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// As they are stated.
    pub(super) fn records(&self) -> Vec<RoundRecord> {
        self.0.iter().map(Traced::record).collect()
    }
}

impl Traced {
    fn record(&self) -> RoundRecord {
        let step = |at: &TracedStep| StepRecord {
            step: at.step,
            partner: at.partner,
            sent: at.sent.as_ref().map(Told::fingerprint),
            heard: at
                .heard
                .as_ref()
                .map(|(told, _)| agreement::Heard { digest: told.fingerprint(), signature: told.signature }),
        };
        let total = self.steps.last().filter(|_| self.done).and_then(TracedStep::total);
        RoundRecord {
            round: self.round,
            steps: self.steps.iter().map(step).collect(),
            total,
            trouble: self.trouble,
            opened: self.opening.as_ref().map(|opening| self.opened(opening)),
        }
    }

    fn opened(&self, opening: &Opening) -> Opened {
        let sent = |at: &TracedStep| at.sent.as_ref().and_then(Told::opened);
        let heard = |at: &TracedStep| at.heard.as_ref().and_then(|(told, _)| told.opened());
        let sums = self.steps.iter().map(|at| OpenedStep { sent: sent(at), heard: heard(at) }).collect();
        let Opening { keys, place, unmasked, masks } = opening.clone();
        Opened { keys, place, unmasked, masks, sums }
    }
}

impl TracedStep {
    /// What its author held after the last step.
    fn total(&self) -> Option<Fingerprint> {
        match (&self.sent, &self.heard) {
            (Some(sent), Some((heard, how))) => {
                let total = match how {
                    How::Adds => sent.plus(heard),
                    How::Replaces => Some(heard.clone()),
                    How::GoesBefore => heard.before(sent),
                    How::GoesBehind => sent.before(heard),
                };
                total.map(|total| total.fingerprint())
            }
            (Some(total), None) | (None, Some((total, _))) => Some(total.fingerprint()),
            (None, None) => None,
        }
    }
}

impl Told {
    fn of(heard: &Heard, ends: bool) -> Self {
        Self {
            count: heard.said.count,
            numbers: heard.numbers.clone(),
            signature: heard.said.signature,
            ends,
        }
    }

    fn opened(&self) -> Option<OpenedSum> {
        opened_sum(self.count, &self.numbers, self.ends)
    }

    fn fingerprint(&self) -> Fingerprint {
        sum_fingerprint(self.count, &self.numbers, self.ends)
    }

    /// One part and the one behind it. Only words travel in parts.
    fn before(&self, other: &Self) -> Option<Self> {
        let (Numbers::Words(one), Numbers::Words(two)) = (&self.numbers, &other.numbers) else { return None };
        let words = match (one.as_32(), two.as_32()) {
            (Some(one), Some(two)) => Words::modulo_32([one, two].concat()),
            _ => Words::modulo_64([one.as_64()?, two.as_64()?].concat()),
        };
        Some(Self { count: self.count, numbers: Numbers::Words(words), signature: None, ends: other.ends })
    }

    /// Added as the exchange adds: the same bits.
    fn plus(&self, other: &Self) -> Option<Self> {
        let numbers = match (&self.numbers, &other.numbers) {
            (Numbers::Reals(one), Numbers::Reals(two)) => {
                let sums = one.as_slice().iter().zip(two.as_slice()).map(|(one, two)| one + two);
                Numbers::Reals(Values::derived(sums.collect()))
            }
            (Numbers::Words(one), Numbers::Words(two)) => Numbers::Words(added(one, two)?),
            (Numbers::Reals(_), Numbers::Words(_)) | (Numbers::Words(_), Numbers::Reals(_)) => return None,
        };
        Some(Self {
            count: self.count.saturating_add(other.count),
            numbers,
            signature: None,
            ends: self.ends,
        })
    }
}

fn added(one: &Words, two: &Words) -> Option<Words> {
    if let (Some(one), Some(two)) = (one.as_32(), two.as_32()) {
        return Some(Words::modulo_32(
            one.iter().zip(two).map(|(one, two)| one.wrapping_add(*two)).collect(),
        ));
    }
    let (one, two) = (one.as_64()?, two.as_64()?);
    Some(Words::modulo_64(one.iter().zip(two).map(|(one, two)| one.wrapping_add(*two)).collect()))
}

/// Digest of a sum: what it counts and its numbers; `ends` where its last words are those of the whole vector.
pub(super) fn sum_fingerprint(count: u32, numbers: &Numbers, ends: bool) -> Fingerprint {
    let Numbers::Reals(values) = numbers else {
        return opened_sum(count, numbers, ends).map_or_else(Fingerprint::default, |sum| sum.digest());
    };
    let mut bytes = count.to_le_bytes().to_vec();
    bytes.extend(values.as_slice().iter().flat_map(|value| value.to_le_bytes()));
    Fingerprint::of("murmur sum numbers 1", &bytes)
}

/// A masked sum as it is opened: its zeros are seen, where it has them, the rest is not.
fn opened_sum(count: u32, numbers: &Numbers, ends: bool) -> Option<OpenedSum> {
    let (others, zeros) = masks::split(numbers.words()?, ends);
    Some(OpenedSum { count, others: Fingerprint::of("murmur masked words 1", &others), zeros })
}
