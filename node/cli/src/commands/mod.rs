//! The commands: one file each, `run(args) -> Result<ExitCode>`.

mod completions;
mod privacy;

use crate::failure::Result;
use std::process::ExitCode;

/// What `murmur` can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Account for privacy: between the nodes of a network, or for one releasing party
    Privacy(privacy::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Privacy(args) => privacy::run(args),
        Command::Completions(args) => completions::run(&args),
    }
}
