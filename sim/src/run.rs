//! One run from its setup to its result: the simulation or the comparison, judged round by round.

use std::sync::Mutex;

use learn::model::ModelError;
use learn::train::TrainError;
use protocol::Hint;
use protocol::account::{Account, FoldError, Interim, Summary};
use protocol::judge::{Judge, Quality, consensus_distance, mean_model};
use protocol::{LogLine, RunEvent, RunResult, Setup, Time};
use thiserror::Error;

use crate::baseline::{self, BaselineError};
use crate::metrics::Row;
use crate::own;
use crate::{Observation, Options, SimError, simulate};

/// Why a run did not end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Of the simulation.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// Of a comparison.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A run that cannot be accounted for.
    #[error("cannot account for the run")]
    Account(#[from] FoldError),
    /// Models that cannot be judged.
    #[error("cannot judge the models")]
    Judge(#[from] ModelError),
    /// Models of nodes' own that cannot be made.
    #[error("cannot make a node's own model")]
    Own(#[from] TrainError),
}

impl Hint for RunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Sim(error) => error.hint(),
            Self::Baseline(error) => error.hint(),
            Self::Account(_) => None,
            Self::Judge(error) => error.hint(),
            Self::Own(error) => error.hint(),
        }
    }
}

/// A run after its end.
#[derive(Debug, Clone)]
pub struct Done {
    /// The figures.
    pub result: RunResult,
    /// One row per round.
    pub rows: Vec<Row>,
    /// The model to keep: the mean over nodes, for a walk the newest token.
    pub model: Vec<f32>,
    /// Whether some node came to the end of the run.
    pub reached: bool,
}

/// Runs `setup`: every log line goes to `sink`, every row to `observe`.
///
/// # Errors
/// What the simulation or the comparison refuses.
pub fn run(
    setup: &Setup,
    options: &Options,
    sink: &mut (dyn FnMut(&LogLine) + Send),
    observe: &mut (dyn FnMut(&Row) + Send),
) -> Result<Done, RunError> {
    if setup.config.algorithm.kind.is_comparison() {
        compare(setup, options, sink, observe)
    } else {
        simulated(setup, options, sink, observe)
    }
}

/// Pairs of a whole run up to which ε is told in every round.
const PRICED_IN_EVERY_ROUND: u64 = 1 << 22;

/// What is known while a run goes on.
struct Ongoing<'a> {
    setup: &'a Setup,
    judge: Judge<'a>,
    account: Account,
    rows: Vec<Row>,
    failed: Option<ModelError>,
}

impl<'a> Ongoing<'a> {
    fn new(setup: &'a Setup) -> Result<Self, RunError> {
        let account = Account::new(setup.shape().with_private_noise(false))?;
        Ok(Self { setup, judge: Judge::new(setup), account, rows: Vec::new(), failed: None })
    }

    /// Pricing many pairs takes longer than a round: then not every one is worth it.
    fn interim(&mut self, round: u32) -> Option<Interim> {
        let (rounds, nodes) = (self.setup.config.rounds, self.setup.config.nodes as u64);
        let cheap = u64::from(rounds) * nodes * nodes <= PRICED_IN_EVERY_ROUND;
        let stride = if cheap { 1 } else { rounds.div_ceil(50) };
        let due = round + 1 == rounds || (round + 1).is_multiple_of(stride);
        due.then(|| self.account.interim())
    }

    /// Judges the models after a round; the token's model speaks for a walk.
    fn on_round(&mut self, seen: &Observation<'_>) -> Row {
        let all = own::parts(self.setup, seen.models.iter());
        let token = seen.latest.filter(|_| self.is_walk()).and_then(|node| seen.models.get(node as usize));
        let quality = self.quality(&all, token);
        let spent = self.interim(seen.round);
        let row = Row {
            round: seen.round,
            time: seen.time.seconds(),
            train_loss: seen.train_loss,
            quality,
            bytes: Some(seen.bytes),
            epsilon_worst: spent.map(|spent| spent.worst),
            epsilon_mean: spent.and_then(|spent| spent.mean),
            epsilon_local: spent.map(|spent| spent.local),
        };
        self.rows.push(row.clone());
        row
    }

    fn is_walk(&self) -> bool {
        self.setup.config.algorithm.kind.has_tokens()
    }

    fn quality(&mut self, all: &[&[f32]], token: Option<&[f32]>) -> Quality {
        let judged = match token {
            None => self.judge.judge(all),
            Some(token) => self
                .judge
                .judge(&[token])
                .map(|quality| Quality { consensus_distance: consensus_distance(all), ..quality }),
        };
        judged.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            Quality::default()
        })
    }
}

fn simulated(
    setup: &Setup,
    options: &Options,
    sink: &mut (dyn FnMut(&LogLine) + Send),
    observe: &mut (dyn FnMut(&Row) + Send),
) -> Result<Done, RunError> {
    // Lines and rounds come one at a time, never one within the other.
    let ongoing = Mutex::new(Ongoing::new(setup)?);
    let mut latest = None;
    let finished = simulate(
        setup,
        options,
        &mut |line| {
            ongoing.lock().expect("no holder panics").account.push(line);
            sink(line);
        },
        &mut |seen| {
            latest = seen.latest;
            let row = ongoing.lock().expect("no holder panics").on_round(seen);
            observe(&row);
        },
    )?;
    let mut ongoing = ongoing.into_inner().expect("no holder panics");
    let all: Vec<&[f32]> =
        finished.models.iter().map(Vec::as_slice).filter(|model| !model.is_empty()).collect();
    let token = latest
        .filter(|_| ongoing.is_walk())
        .map(|node| finished.models[node as usize].as_slice())
        .filter(|model| !model.is_empty());
    let held = finished.models.iter().map(Vec::as_slice).enumerate().filter(|(_, model)| !model.is_empty());
    let parts = own::parts(setup, held);
    let quality = Quality { consensus_distance: consensus_distance(&all), ..ongoing.quality(&parts, token) };
    if let Some(error) = ongoing.failed {
        return Err(error.into());
    }
    let owned = own::of_all(setup, &|node| &finished.models[node])?;
    let bytes = finished.bytes_per_node.iter().sum::<u64>();
    ongoing.account.settle_final();
    let end = End { time: finished.time, bytes, rounds: finished.rounds };
    let reached = finished.reached > 0;
    let result = owned.in_result(result(setup, quality, ongoing.account.summary(), &end));
    if let Some(last) = ongoing.rows.last_mut() {
        // By now everything is settled, and what is dear to price was priced.
        let privacy = &result.privacy;
        last.epsilon_worst = Some(privacy.worst.epsilon);
        last.epsilon_mean = Some(privacy.mean.epsilon);
        last.epsilon_local = Some(privacy.local.epsilon);
    }
    settle(&mut ongoing.rows);
    let model = token.map_or_else(|| mean_model(&parts), <[f32]>::to_vec);
    Ok(Done { result, rows: ongoing.rows, model, reached })
}

/// Lowers the figures of each round to those of later ones: a round was priced while some of it was not settled and counted in full, or not
/// priced at all.
///
/// # Guarantee
/// Still upper bounds: what was seen up to a round is part of what was seen up to a later one, so it cannot have cost more; and a mean is at most the
/// worst, and no pair loses more than somebody learns who sees everything.
fn settle(rows: &mut [Row]) {
    let lower = |figure: &mut Option<f64>, later: Option<f64>| {
        *figure = match (*figure, later) {
            (Some(figure), Some(later)) => Some(figure.min(later)),
            (figure, later) => figure.or(later),
        };
    };
    for at in (1..rows.len()).rev() {
        let [earlier, later] = &mut rows[at - 1..=at] else { unreachable!("two rows") };
        lower(&mut earlier.epsilon_worst, later.epsilon_worst);
        lower(&mut earlier.epsilon_mean, later.epsilon_mean);
        lower(&mut earlier.epsilon_local, later.epsilon_local);
    }
    for row in rows {
        if let (Some(worst), Some(local)) = (&mut row.epsilon_worst, row.epsilon_local) {
            *worst = worst.min(local);
        }
        if let (Some(mean), Some(worst)) = (&mut row.epsilon_mean, row.epsilon_worst) {
            *mean = mean.min(worst);
        }
    }
}

/// How it ended.
struct End {
    time: Time,
    bytes: u64,
    rounds: u32,
}

fn result(setup: &Setup, quality: Quality, privacy: Summary, end: &End) -> RunResult {
    let config = &setup.config;
    RunResult {
        algorithm: config.algorithm.kind.name(),
        nodes: config.nodes,
        rounds: config.rounds,
        seed: config.seed,
        run: config.name.clone(),
        test_acc: quality.test_acc,
        test_loss: quality.test_loss,
        consensus_distance: quality.consensus_distance,
        bytes_per_node: end.bytes as f64 / config.nodes as f64,
        broken_rounds: privacy.broken_rounds,
        finished_rounds: u64::from(end.rounds)
            .saturating_sub(privacy.broken_rounds)
            // A number that was left out is no round.
            .min(u64::from(setup.settings.rounds)),
        time: end.time.seconds(),
        noise_multiplier: setup.work.noise_multiplier,
        privacy,
        personal: None,
        clusters: None,
    }
}

/// A comparison has no messages: its log says what was run and what came out.
fn compare(
    setup: &Setup,
    options: &Options,
    sink: &mut (dyn FnMut(&LogLine) + Send),
    observe: &mut (dyn FnMut(&Row) + Send),
) -> Result<Done, RunError> {
    sink(&setup.first_line("sim", &options.version, false));
    let mut ongoing = Ongoing::new(setup)?;
    let mut last: Option<(Vec<f32>, Summary)> = None;
    let mut models: Vec<Vec<f32>> = Vec::new();
    let mut noise_multiplier = 0.0;
    baseline::run(setup, &mut |progress| {
        let whole: Vec<&[f32]> = progress.models.iter().map(Vec::as_slice).collect();
        let all = if setup.layout.slots > 1 { own::of_each(setup, whole[0]) } else { whole };
        let spent = progress.privacy.as_ref();
        let row = Row {
            round: progress.round,
            time: 0.0,
            train_loss: progress.train_loss,
            quality: ongoing.quality(&all, None),
            bytes: Some(progress.bytes),
            epsilon_worst: spent.map(|spent| spent.worst.epsilon),
            epsilon_mean: spent.map(|spent| spent.mean.epsilon),
            epsilon_local: spent.map(|spent| spent.local.epsilon),
        };
        observe(&row);
        noise_multiplier = progress.noise_multiplier;
        if progress.round + 1 == setup.config.rounds {
            models = progress.models.to_vec();
        }
        ongoing.rows.push(row);
        last = progress.privacy.clone().map(|privacy| (mean_model(&all), privacy)).or(last.take());
    })?;
    if let Some(error) = ongoing.failed {
        return Err(error.into());
    }
    let row = ongoing.rows.last().expect("a configuration has at least one round");
    let (model, privacy) = last.expect("the last round is priced");
    let end = End { time: Time(0), bytes: row.bytes.unwrap_or(0), rounds: setup.config.rounds };
    let finished = RunEvent::Finished {
        rounds: setup.config.rounds,
        model: protocol::Digest::of(&model),
        reason: "all rounds done".into(),
    };
    sink(&LogLine { time: Time(0), node: None, event: finished });
    let result = RunResult { noise_multiplier, ..result(setup, row.quality, privacy, &end) };
    let owned = own::of_all(setup, &|node| &models[node.min(models.len() - 1)])?;
    let result = owned.in_result(result);
    settle(&mut ongoing.rows);
    Ok(Done { result, rows: ongoing.rows, model, reached: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_costs_no_more_than_the_rounds_up_to_a_later_one() {
        let row = |round, epsilon_worst| Row {
            round,
            time: 0.0,
            train_loss: None,
            quality: Quality::default(),
            bytes: None,
            epsilon_worst,
            epsilon_mean: None,
            epsilon_local: Some(5.0 - f64::from(round)),
        };
        let mut rows = vec![row(0, Some(0.5)), row(1, Some(2.1)), row(2, None), row(3, Some(1.9))];
        settle(&mut rows);
        let worst: Vec<_> = rows.iter().map(|row| row.epsilon_worst).collect();
        assert_eq!(worst, [Some(0.5), Some(1.9), Some(1.9), Some(1.9)]);
        assert!(rows.iter().all(|row| row.epsilon_local == Some(2.0) && row.epsilon_mean.is_none()));
        // The mean is known at the end only: before, it is at most what is known of the worst.
        rows[3].epsilon_mean = Some(1.2);
        rows[0].epsilon_local = Some(0.4);
        settle(&mut rows);
        let means: Vec<_> = rows.iter().map(|row| row.epsilon_mean).collect();
        assert_eq!(means, [Some(0.4), Some(1.2), Some(1.2), Some(1.2)]);
        assert_eq!(rows[0].epsilon_worst, Some(0.4));
    }
}
