//! What was sent and heard in the last two rounds, and what ended them: stated where a round breaks, so that whoever breaks rounds can be found.
//!
//! Digests are made when they are stated: a clean round makes none.

use std::collections::VecDeque;

use privacy::mechanisms::grid::{self, WordSize};

use super::exchange::{Heard, How, Reach};
use super::masks::inspection::Rows;
use super::masks::{self, Opening};
use crate::PeerIx;
use crate::agreement::{
    self, Fingerprint, Opened, OpenedStep, OpenedSum, Outline, Projected, ProjectedStep, Projection,
    RoundRecord, Shown, Signature, StepRecord, Trouble, TroubleKind, words_digest,
};
use crate::numbers::{Numbers, Words};
use crate::values::Values;

/// The last rounds of this epoch.
#[derive(Default)]
pub(super) struct Trace(VecDeque<Traced>);

/// One round.
pub(super) struct Traced {
    round: u32,
    steps: Vec<TracedStep>,
    done: bool,
    trouble: Option<Trouble>,
    shown: Option<Outline>,
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
    reach: Reach,
}

/// Bytes of a sum that a standing has room for. Of longer ones nothing is shown: the two that do not agree are apart then.
const MOST_SHOWN: usize = 1 << 20;

/// So many rounds a standing has room for.
const KEPT: usize = 2;

impl Trace {
    pub(super) fn begin(&mut self, round: u32) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Traced {
            round,
            steps: Vec::new(),
            done: false,
            trouble: None,
            shown: None,
            opening: None,
        });
    }

    /// The contribution of the round is under masks.
    pub(super) fn masked(&mut self, opening: Opening) {
        if let Some(last) = self.0.back_mut() {
            last.opening = Some(opening);
        }
    }

    /// A sum that was sent.
    pub(super) fn sent(&mut self, step: u32, partner: PeerIx, (heard, reach): (&Heard, Reach)) {
        if let Some(at) = self.step(step, partner) {
            at.sent = Some(Told::of(heard, reach));
        }
    }

    pub(super) fn heard(&mut self, step: u32, partner: PeerIx, (heard, reach): (&Heard, Reach), how: How) {
        if let Some(at) = self.step(step, partner) {
            at.heard = Some((Told::of(heard, reach), how));
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

    /// What was heard is no sum of an honest member: shown as far as that can be seen.
    pub(super) fn show(&mut self, heard: &Heard) {
        if let (Some(last), Numbers::Reals(values)) = (self.0.back_mut(), &heard.numbers) {
            last.shown = Some(outline(heard.said.count, values));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// As they are stated.
    pub(super) fn records(&self) -> Vec<RoundRecord> {
        self.0.iter().map(Traced::record).collect()
    }

    /// Takes out a round that is looked into.
    pub(super) fn take(&mut self, round: u32) -> Option<Traced> {
        let at = self.0.iter().position(|traced| traced.round == round)?;
        self.0.remove(at).filter(|traced| traced.opening.is_some())
    }
}

impl Traced {
    pub(super) fn record(&self) -> RoundRecord {
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
            shown: self.shown,
            unproved: Vec::new(),
        }
    }

    /// What masks were on it.
    pub(super) fn opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }

    /// Projections of all that its author sent, heard and shares.
    pub(super) fn projected(&self, rows: &Rows, size: WordSize) -> Projected {
        let sent = |at: &TracedStep| at.sent.as_ref().and_then(|told| told.projected(rows));
        let heard = |at: &TracedStep| at.heard.as_ref().and_then(|(told, _)| told.projected(rows));
        let sums = self.steps.iter().map(|at| ProjectedStep { sent: sent(at), heard: heard(at) }).collect();
        let keys = self.opening.iter().flat_map(Opening::keys);
        let streams = keys.map(|key| Projection::of(&rows.project_stream(size, key))).collect();
        Projected { sums, streams }
    }

    /// The words of a sum that was sent to a member, or heard from it, in a step.
    pub(super) fn shown(&self, step: u32, with: PeerIx, sent: bool) -> Option<Shown> {
        let at = self.steps.iter().find(|at| at.step == step && at.partner == with)?;
        let told = if sent { at.sent.as_ref()? } else { &at.heard.as_ref()?.0 };
        let words = masks::split(told.numbers.words()?, told.reach.ends).0;
        (words.len() <= MOST_SHOWN).then_some(Shown::Sum((step, words)))
    }

    fn opened(&self, opening: &Opening) -> Opened {
        let sent = |at: &TracedStep| at.sent.as_ref().and_then(Told::opened);
        let heard = |at: &TracedStep| at.heard.as_ref().and_then(|(told, _)| told.opened());
        let sums = self.steps.iter().map(|at| OpenedStep { sent: sent(at), heard: heard(at) }).collect();
        let Opening { keys, place, unmasked, masks, .. } = opening.clone();
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
    fn of(heard: &Heard, reach: Reach) -> Self {
        Self {
            count: heard.said.count,
            numbers: heard.numbers.clone(),
            signature: heard.said.signature,
            reach,
        }
    }

    fn projected(&self, rows: &Rows) -> Option<Projection> {
        let words = self.numbers.words()?;
        let words = match words.as_32() {
            Some(narrow) => grid::Words::Narrow(narrow.to_vec()),
            None => grid::Words::Wide(words.as_64()?.to_vec()),
        };
        Some(Projection::of(&rows.project_part(&words, self.reach.start as usize)))
    }

    fn opened(&self) -> Option<OpenedSum> {
        opened_sum(self.count, &self.numbers, self.reach)
    }

    fn fingerprint(&self) -> Fingerprint {
        sum_fingerprint(self.count, &self.numbers, self.reach)
    }

    /// One part and the one behind it. Only words travel in parts.
    fn before(&self, other: &Self) -> Option<Self> {
        let (Numbers::Words(one), Numbers::Words(two)) = (&self.numbers, &other.numbers) else { return None };
        let words = match (one.as_32(), two.as_32()) {
            (Some(one), Some(two)) => Words::modulo_32([one, two].concat()),
            _ => Words::modulo_64([one.as_64()?, two.as_64()?].concat()),
        };
        let reach = Reach { start: self.reach.start, ends: other.reach.ends };
        Some(Self { count: self.count, numbers: Numbers::Words(words), signature: None, reach })
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
            reach: self.reach,
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

/// Digest of a sum: what it counts, where it belongs, and its numbers.
pub(super) fn sum_fingerprint(count: u32, numbers: &Numbers, reach: Reach) -> Fingerprint {
    let Numbers::Reals(values) = numbers else {
        return opened_sum(count, numbers, reach).map_or_else(Fingerprint::default, |sum| sum.digest());
    };
    outline(count, values).digest()
}

fn outline(count: u32, values: &Values) -> Outline {
    Outline::of(count, values.as_slice(), values.squared_norm())
}

/// A masked sum as it is opened: its zeros are seen, where it has them, the rest is not.
fn opened_sum(count: u32, numbers: &Numbers, reach: Reach) -> Option<OpenedSum> {
    let (others, zeros) = masks::split(numbers.words()?, reach.ends);
    Some(OpenedSum { count, start: reach.start, others: words_digest(&others), zeros })
}
