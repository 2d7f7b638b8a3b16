//! `murmur privacy …`: one file per subcommand. Each parses its flags into a question of [`privacy::question`], asks and prints.

mod account;
mod calibrate;
mod compare;
mod convert;
mod event_spec;
mod gopa;
mod heat_map;
mod masked;
mod numbers;
mod pairwise;
mod path_file;
mod rows;
mod situation;
mod summary;
mod words;

use crate::failure::{Failure, Result};
use crate::{output, progress};
use privacy::network::Waiting;
use serde::Serialize;
use std::process::ExitCode;

/// Arguments of `murmur privacy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// How much each node can learn about each other node
    Pairwise(Box<pairwise::Args>),
    /// How much noise for a target (ε, δ)
    Calibrate(Box<calibrate::Args>),
    /// Which graph: ε, rounds and messages for the same final error
    Compare(compare::Args),
    /// What masked rounds cost, against members that pool what they know
    Masked(masked::Args),
    /// What noise that neighbours share with opposite signs hides
    Gopa(gopa::Args),
    /// What a series of releases reveals, by every accountant side by side
    Account(account::Args),
    /// Convert μ, Rényi, zCDP and (ε, δ) into each other
    Convert(convert::Args),
}

/// Runs a subcommand.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Pairwise(args) => pairwise::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Masked(args) => masked::run(&args),
        Command::Gopa(args) => gopa::run(&args),
        Command::Account(args) => account::run(&args),
        Command::Convert(args) => convert::run(&args),
    }
}

/// Asks with a bar that counts watchers.
fn watched<T, E: Into<Failure>>(ask: impl FnOnce(&Waiting<'_>) -> std::result::Result<T, E>) -> Result<T> {
    let bar = progress::bar(0, "watchers");
    let tell = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.inc(done as u64);
        if bar.position() >= all as u64 {
            bar.reset();
        }
    };
    let answer = ask(&Waiting::new(&tell));
    bar.finish_and_clear();
    answer.map_err(Into::into)
}

/// JSON for programs: keys in alphabetical order, as they always were.
fn sorted_json(answer: &impl Serialize) -> Result<Vec<u8>> {
    let value = serde_json::to_value(answer).map_err(|error| Failure::of(error, None))?;
    pretty_json(&value)
}

/// JSON for programs, with a newline at its end.
fn pretty_json(answer: &impl Serialize) -> Result<Vec<u8>> {
    Ok(output::json(answer)?.into_bytes())
}
