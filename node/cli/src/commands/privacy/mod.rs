//! `murmur privacy …`: one file per subcommand.

mod account;
mod calibrate;
mod compare;
mod convert;
mod event_spec;
mod heat_map;
mod model;
mod numbers;
mod pairwise;
mod path_file;
mod priced;
mod summary;

use crate::failure::Result;
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
        Command::Account(args) => account::run(&args),
        Command::Convert(args) => convert::run(&args),
    }
}
