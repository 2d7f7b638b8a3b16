//! What a sweep leaves on disk: a folder for each run, and `sweep.csv` with a line for each.

use std::path::Path;

use ::report::Folder;
use protocol::{LogLine, RunResult, Setup};
use sim::run::Done;
use sim::sweep::{Keeper, Planned, Sweep, SweepError};

use super::single::write_folder;
use crate::failure::{Failure, Result};

/// Name of the table.
const TABLE: &str = "sweep.csv";
/// Characters of the values in the name of a run's folder.
const LONGEST: usize = 80;

/// Keeps every run in a folder of its own; `told` hears of every end.
pub(super) struct Folders<'a, F> {
    pub(super) parent: &'a Path,
    pub(super) sweep: &'a Sweep,
    pub(super) told: F,
}

/// An error on its way out of the threads: the first one is told.
pub(super) struct Stopped(pub(super) Failure);

impl From<SweepError> for Stopped {
    fn from(error: SweepError) -> Self {
        Self(error.into())
    }
}

impl<F: Fn() + Sync> Keeper for Folders<'_, F> {
    type Kept = Folder;
    type Error = Stopped;

    fn begin(&self, at: usize, planned: &Planned, setup: &Setup) -> std::result::Result<Folder, Stopped> {
        let digits = self.sweep.runs.len().to_string().len();
        let name = format!("{:0digits$}-{}", at + 1, plain(&self.sweep.points[planned.point].to_string()));
        let name = format!("{name}-seed={}", planned.config.seed);
        Folder::create(self.parent, &name, &setup.config.to_toml()).map_err(|error| Stopped(error.into()))
    }

    fn line(&self, folder: &mut Folder, line: &LogLine) {
        folder.append(line);
    }

    fn end(&self, mut folder: Folder, setup: &Setup, done: Done) -> std::result::Result<RunResult, Stopped> {
        let result = RunResult { run: folder.path().display().to_string(), ..done.result.clone() };
        write_folder(&mut folder, setup, &done, &result).map_err(Stopped)?;
        (self.told)();
        Ok(result)
    }
}

/// A name that every file system takes.
fn plain(text: &str) -> String {
    let letter =
        |letter: char| if letter.is_alphanumeric() || "._=-".contains(letter) { letter } else { '_' };
    text.chars().map(letter).take(LONGEST).collect()
}

/// Writes the table: one line per run, numbers as numbers, `inf` where nothing is promised, nothing where there is no figure.
pub(super) fn write_table(parent: &Path, sweep: &Sweep, results: &[RunResult]) -> Result<()> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let keys =
        sweep.points.first().map(|point| point.0.iter().map(|(key, _)| key.as_str())).into_iter().flatten();
    let failed = |error: csv::Error| Failure::of(error, None);
    table.write_record(keys.chain(COLUMNS)).map_err(failed)?;
    for (planned, result) in sweep.runs.iter().zip(results) {
        let values =
            sweep.points[planned.point].0.iter().map(|(_, value)| value.trim_matches(['"', '\'']).to_owned());
        table.write_record(values.chain(figures(result))).map_err(failed)?;
    }
    let bytes = table.into_inner().map_err(|error| Failure::new(error.to_string()))?;
    crate::output::write(Some(&parent.join(TABLE)), &bytes)
}

const COLUMNS: [&str; 17] = [
    "seed",
    "algorithm",
    "nodes",
    "rounds",
    "test_acc",
    "test_loss",
    "consensus_distance",
    "bytes_per_node",
    "broken_rounds",
    "finished_rounds",
    "noise_multiplier",
    "delta",
    "epsilon_worst",
    "epsilon_mean",
    "epsilon_local",
    "analysis",
    "run",
];

fn figures(result: &RunResult) -> [String; 17] {
    let maybe = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let privacy = &result.privacy;
    [
        result.seed.to_string(),
        result.algorithm.into(),
        result.nodes.to_string(),
        result.rounds.to_string(),
        maybe(result.test_acc),
        maybe(result.test_loss),
        maybe(result.consensus_distance),
        result.bytes_per_node.to_string(),
        result.broken_rounds.to_string(),
        result.finished_rounds.to_string(),
        result.noise_multiplier.to_string(),
        privacy.delta.to_string(),
        privacy.worst.epsilon.to_string(),
        privacy.mean.epsilon.to_string(),
        privacy.local.epsilon.to_string(),
        privacy.worst.analysis.clone(),
        result.run.clone(),
    ]
}
