//! Many repetitions with and without a change of one node's data, told apart by what the watcher really received.
//!
//! A third of the runs is for learning: the score and, for each δ, the threshold. The others are counted once, and the counts are bounded by Clopper and Pearson, so
//! the lower bounds need no assumption about the mechanism, the score or the noise.

use std::collections::BTreeMap;

use privacy::special::normal_cdf;
use protocol::work::Mechanism;
use protocol::{PeerIx, RunEvent};
use sim::Due;

use super::{Case, Outcome};
use crate::AuditError;
use crate::canary::Canary;
use crate::finding::{Finding, Lower, Measure};
use crate::score::Score;
use crate::stage::{Act, Keep, Place, Play, Played};
use crate::stats::Errors;
use crate::{masked, parallel};

/// Points of the privacy curve that are tested: the configured δ and three larger ones, at which fewer runs show more.
pub(crate) const DELTAS: usize = 4;
const LARGER: [f64; DELTAS - 1] = [1e-3, 1e-2, 1e-1];

/// The coordinate that the canary moves.
const COORDINATE: usize = 0;

/// Thresholds that are tried while learning.
const THRESHOLDS: usize = 240;

/// Runs the attack.
///
/// # Guarantee
/// With probability at least the confidence, over all δ and all other deciding bounds of the audit, each lower bound is below the ε of the mechanism that was run.
///
/// # Assumes
/// Runs differ by their noise only, which is independent between runs.
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    let canary = Canary::new(case.scene, (case.pair.0, case.watchers), case.visits, COORDINATE)?;
    let views = Views::record(case, &canary)?;
    let learning = (case.trials / 3).max(1);
    let (learnt_without, without) = views.without.split_at(learning);
    let (learnt_with, with) = views.with.split_at(learning);
    let score = Score::learn(learnt_with, learnt_without);
    let of = |rows: &[Vec<f64>]| rows.iter().map(|row| score.of(row)).collect::<Vec<f64>>();
    let trained = Scored { with: of(learnt_with), without: of(learnt_without) };
    let held_out = Scored { with: of(with), without: of(without) };
    let configured = case.scene.setup.config.privacy.delta;
    let mut findings = Vec::new();
    for delta in std::iter::once(configured).chain(LARGER.into_iter().filter(|delta| *delta > configured)) {
        let threshold = trained.best_threshold(delta, case.alpha, held_out.with.len() as u64);
        let errors = held_out.errors(threshold);
        let lower = Lower {
            epsilon: errors.epsilon(delta, case.alpha),
            confidence: case.confidence,
            method: "Clopper–Pearson",
            gaussian: Some(errors.gaussian_epsilon(delta, case.alpha)),
        };
        let upper = case.claim(&views.log, delta)?.pooled(case.pair.0, case.watchers)?;
        let measures = vec![
            Measure::new("false positives", errors.false_positives as f64 / errors.negatives as f64),
            Measure::new("false negatives", errors.false_negatives as f64 / errors.positives as f64),
            Measure::new("μ, lower bound", errors.mu(case.alpha)),
            Measure::new("messages", views.places as f64),
        ];
        let trials = errors.positives + errors.negatives;
        findings.push(
            Finding::bounded("distinguish", case.named_pair(), trials, (lower, upper))
                .with_measures(measures),
        );
    }
    Ok(Outcome::Found(findings))
}

/// One number of every message of every run.
struct Views {
    with: Vec<Vec<f64>>,
    without: Vec<Vec<f64>>,
    places: usize,
    log: Vec<protocol::LogLine>,
}

impl Views {
    fn record(case: &Case<'_>, canary: &Canary) -> Result<Self, AuditError> {
        let first = Self::one(case, canary, (0, true), Extra { log: true, ..Extra::default() })?;
        let places: Vec<Place> = first.view.keys().copied().collect();
        if case.scene.is_masked() {
            let clear = Self::one(case, canary, (0, true), Extra { unmasked: true, ..Extra::default() })?;
            check_totals(&first, &clear)?;
        }
        let many = |with: bool| {
            parallel::map(case.threads, case.trials, |index| {
                let played = Self::one(case, canary, (index, with), Extra::default())?;
                (case.progress)(1);
                Ok(features(case, &places, &played))
            })
        };
        let places = places.len().max(first.words.len());
        Ok(Self { with: many(true)?, without: many(false)?, places, log: first.log })
    }

    fn one(
        case: &Case<'_>,
        canary: &Canary,
        (index, with): (u64, bool),
        extra: Extra,
    ) -> Result<Played, AuditError> {
        let source = case.pair.0 as PeerIx;
        let act = |due: &Due<'_>| {
            if due.node == source { Act::Rows(canary.rows(due, with)) } else { Act::Own }
        };
        let play = Play {
            seed: case.seed_of(1 + u64::from(with), index),
            act: &act,
            source: Some(case.pair.0),
            watchers: case.watchers,
            unmasked: extra.unmasked,
            keep: Keep::One(COORDINATE),
            with_contributions: false,
            with_log: extra.log,
            silent: false,
        };
        Ok(case.scene.play(&play)?)
    }
}

/// What is not there counts as zero: links and faults are the same in all runs, so nothing is missing that was there in the first.
fn features(case: &Case<'_>, places: &[Place], played: &Played) -> Vec<f64> {
    if let Mechanism::Grid(on) = &case.scene.setup.settings.mechanism {
        let size = (case.scene.setup.config.nodes, on.mechanism.grid().size().bits());
        return masked::features(&played.words, size, case.watchers);
    }
    let view: &BTreeMap<Place, Vec<f32>> = &played.view;
    places.iter().map(|place| view.get(place).map_or(0.0, |values| f64::from(values[0]))).collect()
}

/// A round that ended in a total with masks in it. Nothing disturbs the runs of an audit, so whoever follows the protocol never sees one.
/// How a run differs from the many.
#[derive(Clone, Copy, Default)]
struct Extra {
    log: bool,
    unmasked: bool,
}

/// Masks change no bit of any total.
fn check_totals(masked: &Played, clear: &Played) -> Result<(), AuditError> {
    if masked.log.iter().any(|line| is_void(&line.event)) {
        return Err(AuditError::Void);
    }
    let bits = |played: &Played| -> Vec<Vec<u32>> {
        let models = played.finished.models.iter();
        models.map(|model| model.iter().map(|value| value.to_bits()).collect()).collect()
    };
    if bits(masked) == bits(clear) { Ok(()) } else { Err(AuditError::Totals) }
}

fn is_void(event: &RunEvent) -> bool {
    matches!(event, RunEvent::RoundBroken { reason, .. } if reason.contains("void"))
}

struct Scored {
    with: Vec<f64>,
    without: Vec<f64>,
}

impl Scored {
    fn errors(&self, threshold: f64) -> Errors {
        let above = |scores: &[f64]| scores.iter().filter(|score| **score > threshold).count() as u64;
        let (positives, negatives) = (self.with.len() as u64, self.without.len() as u64);
        Errors {
            false_positives: above(&self.without),
            negatives,
            false_negatives: positives - above(&self.with),
            positives,
        }
    }

    /// The threshold that promises most on `trials` new runs of each kind.
    fn best_threshold(&self, delta: f64, alpha: f64, trials: u64) -> f64 {
        let (one, zero) = (Spread::of(&self.with), Spread::of(&self.without));
        let low = (one.mean - 4.5 * one.deviation).min(zero.mean - 4.5 * zero.deviation);
        let high = (one.mean + 4.5 * one.deviation).max(zero.mean + 4.5 * zero.deviation);
        let at = |index: usize| low + (high - low) * index as f64 / (THRESHOLDS - 1) as f64;
        let promise = |threshold: f64| {
            let seen = self.errors(threshold);
            // In the tails the runs are few: what a normal score would do, or what was seen, whichever is worse.
            let expected = |seen: u64, of: u64, tail: f64| {
                let rate = (seen as f64 / of as f64).max(tail);
                libm::ceil(rate * trials as f64) as u64
            };
            let fp = expected(seen.false_positives, seen.negatives, 1.0 - zero.below(threshold));
            let fn_ = expected(seen.false_negatives, seen.positives, one.below(threshold));
            let errors =
                Errors { false_positives: fp, negatives: trials, false_negatives: fn_, positives: trials };
            errors.epsilon(delta, alpha)
        };
        let best = (0..THRESHOLDS).map(at).map(|threshold| (promise(threshold), threshold));
        best.fold((0.0, 0.5 * (one.mean + zero.mean)), |a, b| if b.0 > a.0 { b } else { a }).1
    }
}

struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn of(scores: &[f64]) -> Self {
        let count = scores.len().max(2) as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Self { mean, deviation: libm::sqrt(variance) }
    }

    fn below(&self, threshold: f64) -> f64 {
        if self.deviation > 0.0 { normal_cdf((threshold - self.mean) / self.deviation) } else { 0.5 }
    }
}
