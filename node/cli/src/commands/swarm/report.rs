//! What a swarm came to: a fold over its log, the models that its nodes hold, and two runs to compare with.

use super::rows;
use crate::failure::{Failure, Result};
use crate::figures::{self, mean_text, privacy_table, sentence};
use crate::output;
use ::report::Folder;
use learn::checkpoint::CheckpointInfo;
use learn::personal::Figures;
use protocol::account::{Account, Summary};
use protocol::config::{Config, Layer};
use protocol::folder::{METRICS, RESULT};
use protocol::judge::{Judge, mean_model};
use protocol::personal::PersonalResult;
use protocol::work::Adjacency;
use protocol::{LogLine, RunEvent, RunResult, Setup};
use serde::Serialize;

/// The result: the same object as that of `murmur sim`, with what it is compared with.
#[derive(Debug, Serialize)]
pub(super) struct Ending {
    #[serde(flatten)]
    pub(super) result: RunResult,
    baselines: Baselines,
    #[serde(skip)]
    model: Vec<f32>,
}

/// Accuracy on the same test set without privacy, and without each other.
#[derive(Debug, Serialize)]
struct Baselines {
    non_private_acc: Option<f64>,
    alone_acc: Option<f64>,
}

/// What only swarms with masks have, and no comparison.
const IN_THE_CLEAR: [&str; 2] = ["privacy.masking=none", "algorithm.exchange=auto"];

/// What the nodes left behind.
pub(super) struct Left<'a> {
    pub(super) setup: &'a Setup,
    pub(super) lines: &'a [LogLine],
    pub(super) models: Vec<Vec<f32>>,
    /// What the nodes say of their own models.
    pub(super) figures: Vec<Figures>,
    pub(super) bytes: u64,
    pub(super) run: String,
    /// Whether to run what it is compared with; nobody waits for that after ctrl-c.
    pub(super) compare: bool,
}

impl Ending {
    /// Folds over the log and judges the models.
    pub(super) fn new(left: &Left<'_>) -> Result<Self> {
        let Left { setup, lines, models, figures, bytes, run, compare } = left;
        let config = &setup.config;
        let private =
            lines.iter().any(|line| matches!(line.event, RunEvent::Run { private_noise: true, .. }));
        let account = Account::new(setup.shape().with_private_noise(private));
        let mut account = account.map_err(|error| Failure::of(error, None))?;
        lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        let privacy = account.summary();
        let all: Vec<&[f32]> = models.iter().map(Vec::as_slice).collect();
        let quality = Judge::new(setup).judge(&all)?;
        // Of a run that was stopped nobody says that it is finished.
        let finished = |line: &LogLine| match line.event {
            RunEvent::Finished { rounds, .. } => Some(rounds),
            RunEvent::RoundDone { round, .. } | RunEvent::Mixed { round, .. } => {
                Some(round.saturating_add(1).min(config.rounds))
            }
            _ => None,
        };
        let result = RunResult {
            algorithm: config.algorithm.kind.name(),
            nodes: config.nodes,
            rounds: config.rounds,
            seed: config.seed,
            run: run.clone(),
            test_acc: quality.test_acc,
            test_loss: quality.test_loss,
            consensus_distance: quality.consensus_distance,
            bytes_per_node: *bytes as f64 / config.nodes as f64,
            broken_rounds: privacy.broken_rounds,
            finished_rounds: lines.iter().filter_map(finished).max().map_or(0, u64::from),
            time: lines.iter().map(|line| line.time.seconds()).fold(0.0, f64::max),
            noise_multiplier: setup.planned.noise_multiplier,
            privacy,
            personal: PersonalResult::of(figures),
            clusters: None,
        };
        let beside = |changes: &[&str]| compare.then(|| accuracy(config, changes)).flatten();
        let baselines = Baselines {
            non_private_acc: beside(match config.privacy.adjacency {
                // The curator samples records; without noise that hides as much as sampling persons does.
                Adjacency::Person => {
                    &["algorithm.kind=central", "privacy.noise_multiplier=0", "privacy.unit=record"]
                }
                _ => &["algorithm.kind=central", "privacy.noise_multiplier=0"],
            }),
            alone_acc: beside(&["algorithm.kind=alone"]),
        };
        Ok(Self { result, baselines, model: if all.is_empty() { Vec::new() } else { mean_model(&all) } })
    }

    /// Writes the files of the run folder.
    pub(super) fn write(&self, left: &Left<'_>, folder: &Folder) -> Result<()> {
        let setup = left.setup;
        folder.write(RESULT, self.json()?.as_bytes())?;
        let rows = rows::of(left, folder.path(), &self.result)?;
        folder.write(METRICS, sim::metrics::csv(&rows).as_bytes())?;
        // Several models have no mean that anybody would use; each node keeps that of its slot.
        if setup.layout.slots > 1
            || self.model.is_empty()
            || !self.model.iter().all(|value| value.is_finite())
        {
            return Ok(());
        }
        let info = CheckpointInfo {
            config_digest: setup.digest.to_string(),
            round: self.result.finished_rounds,
            guarantee: self.guarantee(),
            about: setup.about().entries(),
        };
        Ok(folder.save_model(setup.model.as_ref(), &self.model, &info)?)
    }

    fn guarantee(&self) -> String {
        let privacy = &self.result.privacy;
        if !privacy.private {
            return format!("none: {}", unprotected(privacy));
        }
        sentence(privacy)
    }

    pub(super) fn json(&self) -> Result<String> {
        output::json(self)
    }

    pub(super) fn table(&self, setup: &Setup) -> String {
        let result = &self.result;
        let mut text = String::new();
        let mut row = |name: &str, value: String| text.push_str(&format!("{name:<20}{value}\n"));
        row("run", result.run.clone());
        row(
            "algorithm",
            format!(
                "{}, {} processes, {}",
                result.algorithm,
                result.nodes,
                figures::rounds(result.finished_rounds)
            ),
        );
        let percent = |part: Option<f64>| part.map(|part| format!("{:.1} %", 100.0 * part));
        let rows = [
            ("test accuracy", result.test_acc),
            ("  without privacy", self.baselines.non_private_acc),
            ("  each node alone", self.baselines.alone_acc),
        ];
        for (name, part) in rows {
            if let Some(shown) = percent(part) {
                row(name, shown);
            }
        }
        if let Some(personal) = &result.personal {
            figures::personal_rows(personal).into_iter().for_each(|(name, value)| row(name, value));
        }
        if !setup.config.algorithm.kind.trains() {
            row("mean", mean_text(setup, &self.model));
        }
        row("time of the rounds", format!("{:.1} s", result.time));
        row("sent per node", format!("{:.2} MB", result.bytes_per_node / 1e6));
        row("broken rounds", result.broken_rounds.to_string());
        let privacy = &result.privacy;
        text.push_str(&format!("\n{}", privacy_table(privacy)));
        if !privacy.private {
            let why = unprotected(privacy);
            text.push_str(&format!("\nThis run protects nobody: {why}.\n"));
        }
        text
    }
}

/// Why a run is not private.
fn unprotected(privacy: &Summary) -> &'static str {
    if privacy.local.epsilon.is_finite() { "the noise was seeded" } else { "there was no noise" }
}

/// Test accuracy of the same run with some settings changed; `None` where that cannot be run.
fn accuracy(config: &Config, changes: &[&str]) -> Option<f64> {
    let base = Layer::from_toml(&config.to_toml(), "the run").ok()?;
    let clear = Layer::from_flags("", &IN_THE_CLEAR).ok()?;
    let changed = Config::from_layers([base, clear, Layer::from_flags("", changes).ok()?]).ok()?;
    let setup = Setup::new(changed).ok()?.without_loss();
    let done = sim::run::run(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {}).ok()?;
    done.result.test_acc
}
