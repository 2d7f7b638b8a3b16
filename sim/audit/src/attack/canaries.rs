//! One run with many canaries at record level (Steinke, Nasr and Jagielski 2023): see [`crate::stats::one_run_epsilon`].
//!
//! The watched node holds one record per coordinate of the model, each there or blank by a coin of its own. Two more runs with known coins come first: the score is learnt
//! on one, the number of guesses chosen on the other. The audited run is used once.

use std::collections::BTreeMap;

use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::{LogLine, PeerIx};
use sim::Due;

use super::{Attack, Case, Outcome};
use crate::AuditError;
use crate::canary::flock;
use crate::finding::{Finding, Lower, Measure};
use crate::score::Score;
use crate::stage::{Act, Keep, Place, Play};
use crate::stats::one_run_epsilon;

/// Canaries at most.
const MOST: usize = 1000;
/// With fewer nothing can be shown.
const LEAST: usize = 20;

/// Runs the attack.
///
/// # Guarantee
/// As [`one_run_epsilon`].
///
/// # Assumes
/// As there; adjacency is adding or removing one record (a blank keeps its place).
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    if case.scene.is_node_level() {
        return Ok(Outcome::skipped(Attack::Canaries, "needs `privacy.adjacency = \"record\"`"));
    }
    let canaries = case.scene.parameters().min(MOST);
    if canaries < LEAST {
        let why = format!("the model has {canaries} parameters, so there is room for as many canaries only");
        return Ok(Outcome::skipped(Attack::Canaries, why));
    }
    let learnt = Run::make(case, 0, canaries)?;
    let (with, without) = learnt.divided(&learnt);
    let score = Score::learn(&with, &without);
    let tried = Run::make(case, 1, canaries)?;
    let delta = case.scene.setup.config.privacy.delta;
    let bound = |(guesses, right): (usize, usize)| {
        one_run_epsilon((canaries as u64, guesses as u64, right as u64), delta, case.alpha)
    };
    let choices = (1..=20).map(|part| (canaries * part / 20).max(1));
    let guesses = choices
        .map(|guesses| (bound((guesses, tried.right(&learnt, &score, guesses))), guesses))
        .fold((-1.0, canaries / 2), |a, b| if b.0 > a.0 { b } else { a })
        .1;
    let audited = Run::make(case, 2, canaries)?;
    let right = audited.right(&learnt, &score, guesses);
    let lower = Lower {
        epsilon: bound((guesses, right)),
        confidence: case.confidence,
        method: "one run, binomial tail",
        gaussian: None,
    };
    let upper = case.claim(&audited.log, delta)?.pair(case.pair);
    let measures = vec![
        Measure::new("canaries", canaries as f64),
        Measure::new("guesses", guesses as f64),
        Measure::new("right guesses", right as f64),
    ];
    let finding = Finding::bounded("canaries", case.named_pair(), canaries as u64, (lower, upper));
    Ok(Outcome::Found(vec![finding.with_measures(measures)]))
}

struct Run {
    included: Vec<bool>,
    view: BTreeMap<Place, Vec<f32>>,
    log: Vec<LogLine>,
}

impl Run {
    fn make(case: &Case<'_>, index: u64, canaries: usize) -> Result<Self, AuditError> {
        let seed = case.seed_of(8, index);
        let mut words = vec![0; canaries];
        danger_from_seed(seed, "audit/coins").words(&mut words);
        let included: Vec<bool> = words.iter().map(|word| word >> 63 == 1).collect();
        let rows = flock(case.scene, &included)?;
        let source = case.pair.0 as PeerIx;
        let act = |due: &Due<'_>| if due.node == source { Act::Rows(rows.clone()) } else { Act::Own };
        let play = Play {
            seed,
            act: &act,
            source: Some(case.pair.0),
            watchers: case.watchers,
            unmasked: false,
            keep: Keep::All,
            with_contributions: false,
            with_log: true,
            silent: false,
        };
        let played = case.scene.play(&play)?;
        (case.progress)(1);
        Ok(Self { included, view: played.view, log: played.log })
    }

    /// What the messages said along one canary, in the order of another run's messages.
    fn features(&self, like: &Self, canary: usize) -> Vec<f64> {
        let number = |place: &Place| self.view.get(place).and_then(|values| values.get(canary));
        like.view.keys().map(|place| number(place).map_or(0.0, |&value| f64::from(value))).collect()
    }

    fn divided(&self, like: &Self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let of = |wanted: bool| {
            let chosen = self.included.iter().enumerate().filter(move |(_, included)| **included == wanted);
            chosen.map(|(canary, _)| self.features(like, canary)).collect()
        };
        (of(true), of(false))
    }

    /// Right guesses: the upper half of `guesses` by score is taken for in, the lower half for out.
    fn right(&self, like: &Self, score: &Score, guesses: usize) -> usize {
        let mut ranked: Vec<(f64, bool)> = self
            .included
            .iter()
            .enumerate()
            .map(|(canary, included)| (score.of(&self.features(like, canary)), *included))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (high, low) = (guesses.div_ceil(2), guesses / 2);
        let ins = ranked[..high].iter().filter(|(_, included)| *included).count();
        let outs = ranked[ranked.len() - low..].iter().filter(|(_, included)| !*included).count();
        ins + outs
    }
}
