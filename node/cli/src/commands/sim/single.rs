//! One run: progress on stderr, a folder on disk, and the result on stdout.

use crate::output::say;
use std::path::Path;
use std::process::ExitCode;

use ::report::Folder;
use learn::checkpoint::CheckpointInfo;
use privacy::number::{Precision, up};
use protocol::config::Config;
use protocol::folder::{METRICS, RESULT};
use protocol::{LogLine, RunEvent, RunResult, Setup};
use sim::Options;
use sim::metrics::{self, Row};
use sim::run::Done;

use super::{Args, Format, report};
use crate::commands::warnings;
use crate::failure::{Failure, Result};
use crate::output;
use crate::progress;

/// Nodes up to which a simulation ends with a report; `murmur report` makes it of any run.
const MOST_REPORTED: usize = 64;

pub(super) fn run(args: &Args, config: Config) -> Result<ExitCode> {
    if args.format == Format::Svg {
        let hint = "`--sweep privacy.epsilon=1,2,4 --seeds 3` makes one";
        return Err(Failure::new("`--format svg` draws a sweep, and this is one run").hint(hint));
    }
    let setup = Setup::new(config)?;
    warnings::say(&warnings::about(&setup));
    let parent = args.out.as_deref().unwrap_or(Path::new("runs"));
    let mut folder = Folder::create(parent, &setup.config.name, &setup.config.to_toml())?;
    let done = with_progress(args, &setup, &mut folder)?;
    let result = RunResult { run: folder.path().display().to_string(), ..done.result.clone() };
    write_folder(&mut folder, &setup, &done, &result)?;
    // A report of thousands takes longer than their run, and a comparison has nobody to report about.
    if setup.config.nodes <= MOST_REPORTED && !setup.config.algorithm.kind.is_comparison() {
        crate::commands::report::write_for(folder.path())?;
    }
    let text = match args.format {
        Format::Table => report::table(&setup, &result, &done.model),
        Format::Json | Format::Svg => output::json(&result)?,
    };
    output::write(None, text.as_bytes())?;
    if !done.reached {
        eprintln!(
            "note: the run ended before its last round: no node came to the end; the last lines of its log say why"
        );
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn with_progress(args: &Args, setup: &Setup, folder: &mut Folder) -> Result<Done> {
    let bar = progress::bar(u64::from(setup.config.rounds), "rounds");
    let options = Options { threads: args.threads, ..Options::default() };
    let observe = &mut |row: &Row| {
        bar.set_position(u64::from(row.round) + 1);
        bar.set_message(so_far(row));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build();
    let pool = pool.map_err(|error| Failure::of(error, Some("use `--threads 1`".into())))?;
    let mut missing = 0;
    let mut sink = |line: &LogLine| {
        missing += missing_in(line);
        folder.append(line);
    };
    let mut run = || sim::run::run(setup, &options, &mut sink, observe);
    // Comparisons work on the threads that they are called from.
    let done = if setup.config.algorithm.kind.is_comparison() { pool.install(&mut run) } else { run() };
    bar.finish_and_clear();
    if setup.config.algorithm.accelerate && missing > 0 {
        say!(
            "note: {missing} messages were missing; acceleration carries on what is lost, so the nodes may agree on a wrong mean: without `algorithm.accelerate` they come nearer"
        );
    }
    Ok(done?)
}

/// Messages that a node mixed without.
fn missing_in(line: &LogLine) -> usize {
    match &line.event {
        RunEvent::Mixed { missing, .. } => missing.len(),
        _ => 0,
    }
}

/// Loss and ε, as far as they are known.
fn so_far(row: &Row) -> String {
    let loss = row.train_loss.or(row.quality.test_loss).map(|loss| format!("loss {loss:.3}"));
    let epsilon = row.epsilon_worst.map(|epsilon| format!("ε {}", up(epsilon, Precision::Decimals(3))));
    let parts = [Some("rounds".to_owned()), loss, epsilon];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// Writes what is known once the run is over.
pub(super) fn write_folder(
    folder: &mut Folder,
    setup: &Setup,
    done: &Done,
    result: &RunResult,
) -> Result<()> {
    folder.finish_log()?;
    folder.write(METRICS, metrics::csv(&done.rows).as_bytes())?;
    folder.write(RESULT, output::json(result)?.as_bytes())?;
    if done.model.is_empty() {
        say!("note: no node was left at the end, so there is no model to save");
    } else if setup.layout.slots > 1 {
        say!("note: of several models each node uses one, so none is saved as that of the run");
    } else if done.model.iter().all(|value| value.is_finite()) {
        let info = CheckpointInfo {
            config_digest: setup.digest.to_string(),
            round: result.finished_rounds,
            guarantee: report::guarantee(result),
            about: setup.about().entries(),
        };
        folder.save_model(setup.model.as_ref(), &done.model, &info)?;
    } else {
        say!("note: the models are not finite, so none was saved; a smaller `learning_rate` may help");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::judge::Quality;

    #[test]
    fn the_bar_never_shows_a_loss_below_itself() {
        let row = Row {
            round: 3,
            time: 0.0,
            train_loss: Some(0.25),
            quality: Quality::default(),
            bytes: Some(0),
            epsilon_worst: Some(2.44441),
            epsilon_mean: None,
            epsilon_local: None,
        };
        assert_eq!(so_far(&row), "rounds  loss 0.250  ε 2.445");
    }
}
