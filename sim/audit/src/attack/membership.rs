//! Was this record in the training data? Asked of the final model alone, by its loss, and by a likelihood ratio with shadow runs (LiRA; Carlini et al. 2022).
//!
//! In every run each record of the other nodes is there by a fair coin of its own. So the guesses on the last run, whose coins nothing was learnt from, also give a
//! sound lower bound on ε, as canaries do.

use learn::data::Dataset;
use learn::model;
use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::LogLine;
use protocol::work::Unit;
use sim::Due;

use super::{Attack, Case, Outcome};
use crate::AuditError;
use crate::finding::{Finding, Lower, Measure};
use crate::parallel;
use crate::stage::{Act, Keep, Play};
use crate::stats::{Roc, auc_interval, one_run_epsilon};

/// Shadow runs.
pub(crate) const SHADOWS: u64 = 32;
/// Records that are judged at most.
const MOST: usize = 2000;
/// Fewer say nothing.
const LEAST: usize = 20;
/// The part of the records that is guessed: the surest.
const GUESSED: f64 = 0.2;

/// Runs the attack.
///
/// # Guarantee
/// The lower bound is as [`one_run_epsilon`]; the other figures describe two attacks and bound nothing.
///
/// # Assumes
/// As there; adjacency is adding or removing one record.
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    let setup = &case.scene.setup;
    if setup.model.kind() == "mean" {
        return Ok(Outcome::skipped(Attack::Membership, "a mean has no records to predict"));
    }
    let records = Records::of(case);
    if records.places.len() < LEAST {
        let why = format!("{} records of other nodes are too few", records.places.len());
        return Ok(Outcome::skipped(Attack::Membership, why));
    }
    let (audited, by_ratio) = records.attacked(case, false)?;
    let (bare, bare_by_ratio) = records.attacked(case, true)?;
    let mut measures = Vec::new();
    for (name, scores, run) in [
        ("loss", &audited.confidence, &audited),
        ("LiRA", &by_ratio, &audited),
        ("without noise, loss", &bare.confidence, &bare),
        ("without noise, LiRA", &bare_by_ratio, &bare),
    ] {
        measures.extend(figures(name, scores, &run.included, 1.0 - case.confidence));
    }
    let target = format!("records → model of node {}", case.pair.1);
    let trials = records.places.len() as u64;
    // On samples the rate, which is public, would depend on how many coins fell on `in`: no guarantee covers that, so nothing is held against one.
    if !matches!(setup.work.unit, Unit::Record { batch: None, .. }) {
        return Ok(Outcome::Found(vec![Finding::figures("membership", target, trials, measures)]));
    }
    let delta = setup.config.privacy.delta;
    let guesses = ((GUESSED * trials as f64) as usize).max(1);
    let right = right_guesses(&by_ratio, &audited.included, guesses);
    let lower = Lower {
        epsilon: one_run_epsilon((trials, guesses as u64, right as u64), delta, case.alpha),
        confidence: case.confidence,
        method: "one run, binomial tail",
        gaussian: None,
    };
    let upper = case.claim(&audited.log, delta)?.towards(case.pair.1);
    Ok(Outcome::Found(vec![
        Finding::bounded("membership", target, trials, (lower, upper)).with_measures(measures),
    ]))
}

/// The records that are asked about: all but the watcher's own, and but each node's first, which stays so that no node is empty.
struct Records {
    /// Node and record.
    places: Vec<(usize, u32)>,
}

/// A run: who was in, and how sure the final model is of each record.
struct Run {
    included: Vec<bool>,
    confidence: Vec<f64>,
    log: Vec<LogLine>,
}

impl Records {
    fn of(case: &Case<'_>) -> Self {
        let train = &case.scene.setup.train;
        let others = (0..train.len()).filter(|&node| node != case.pair.1);
        let all = others.flat_map(|node| (1..train[node].len() as u32).map(move |record| (node, record)));
        Self { places: all.take(MOST).collect() }
    }

    /// A run whose coins nothing was learnt from, and the likelihood ratio of each record in it.
    fn attacked(&self, case: &Case<'_>, silent: bool) -> Result<(Run, Vec<f64>), AuditError> {
        let run = |index: u64| self.run(case, index, silent);
        let shadows = parallel::map(case.threads, SHADOWS as usize, run)?;
        let audited = run(SHADOWS)?;
        let ratios = likelihood_ratios(&shadows, &audited);
        Ok((audited, ratios))
    }

    fn run(&self, case: &Case<'_>, index: u64, silent: bool) -> Result<Run, AuditError> {
        let setup = &case.scene.setup;
        let seed = case.seed_of(32 + u64::from(silent), index);
        let mut words = vec![0; self.places.len()];
        danger_from_seed(seed, "audit/coins").words(&mut words);
        let included: Vec<bool> = words.iter().map(|word| word >> 63 == 1).collect();
        let data = self.datasets(&setup.train, &included);
        let act = |due: &Due<'_>| Act::Records(data[due.node as usize].clone());
        let play = Play {
            seed,
            act: &act,
            source: Some(case.pair.0),
            watchers: case.watchers,
            unmasked: false,
            keep: Keep::None,
            with_contributions: false,
            with_log: index == SHADOWS,
            silent,
        };
        let played = case.scene.play(&play)?;
        let params = &played.finished.models[case.pair.1];
        let sure = |&(node, record): &(usize, u32)| {
            let alone = setup.train[node].subset(&[record]);
            Ok(logit(model::loss(setup.model.as_ref(), params, &alone)?))
        };
        let confidence = self.places.iter().map(sure).collect::<Result<_, AuditError>>()?;
        (case.progress)(1);
        Ok(Run { included, confidence, log: played.log })
    }

    /// Every node's records without those that are out.
    fn datasets(&self, train: &[Dataset], included: &[bool]) -> Vec<Dataset> {
        let mut kept: Vec<Vec<u32>> = train.iter().map(|data| (0..data.len() as u32).collect()).collect();
        for (&(node, record), _) in self.places.iter().zip(included).filter(|(_, included)| !**included) {
            kept[node].retain(|&other| other != record);
        }
        train.iter().zip(&kept).map(|(data, kept)| data.subset(kept)).collect()
    }
}

/// ln(p/(1 − p)) of the confidence p = e^−loss: closer to normal than the loss.
fn logit(loss: f64) -> f64 {
    let loss = loss.clamp(1e-12, 700.0);
    -loss - libm::log(-libm::expm1(-loss))
}

/// The confidences of one record in the shadow runs that had it, or had it not.
struct Fit {
    mean: f64,
    /// Sum of squared deviations.
    square: f64,
    count: usize,
}

impl Fit {
    fn of(shadows: &[Run], record: usize, wanted: bool) -> Self {
        let chosen = shadows.iter().filter(|run| run.included[record] == wanted);
        let values: Vec<f64> = chosen.map(|run| run.confidence[record]).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, square, count: values.len() }
    }
}

/// ln N(s; in) − ln N(s; out) of each record, with means by record and one deviation for all, which few shadow runs can bear.
fn likelihood_ratios(shadows: &[Run], audited: &Run) -> Vec<f64> {
    let fits: Vec<[Fit; 2]> = (0..audited.included.len())
        .map(|record| [true, false].map(|wanted| Fit::of(shadows, record, wanted)))
        .collect();
    let square: f64 = fits.iter().flatten().map(|fit| fit.square).sum();
    let freedom: usize = fits.iter().flatten().map(|fit| fit.count.saturating_sub(1)).sum();
    let variance = (square / freedom.max(1) as f64).max(f64::MIN_POSITIVE);
    let ratio = |([one, zero], score): (&[Fit; 2], &f64)| {
        ((score - zero.mean).powi(2) - (score - one.mean).powi(2)) / (2.0 * variance)
    };
    fits.iter().zip(&audited.confidence).map(ratio).collect()
}

fn figures(name: &str, scores: &[f64], included: &[bool], alpha: f64) -> Vec<Measure> {
    let of = |wanted: bool| -> Vec<f64> {
        scores.iter().zip(included).filter(|(_, i)| **i == wanted).map(|(score, _)| *score).collect()
    };
    let roc = Roc::new(&of(true), &of(false));
    let auc = roc.auc();
    let (low, high) = auc_interval(auc, roc.counts(), alpha);
    let mut measures = vec![
        Measure::new(format!("{name}: AUC"), auc).within(low, high),
        Measure::new(format!("{name}: advantage"), roc.advantage()),
    ];
    for (rate, shown) in [(0.01, "1 %"), (0.001, "0.1 %")] {
        if let Some((tpr, low, high)) = roc.true_positives(rate, alpha) {
            measures.push(Measure::new(format!("{name}: TPR at FPR {shown}"), tpr).within(low, high));
        }
    }
    measures
}

/// The surest half of the guesses for in, the surest half for out.
fn right_guesses(scores: &[f64], included: &[bool], guesses: usize) -> usize {
    let mut ranked: Vec<(f64, bool)> = scores.iter().copied().zip(included.iter().copied()).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (high, low) = (guesses.div_ceil(2), guesses / 2);
    let ins = ranked[..high].iter().filter(|(_, included)| *included).count();
    ins + ranked[ranked.len() - low..].iter().filter(|(_, included)| !*included).count()
}
