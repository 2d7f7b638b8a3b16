//! `murmur privacy …`: one file per subcommand.

use crate::failure::Result;
use std::process::ExitCode;

/// Arguments of `murmur privacy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {}

/// Runs a subcommand.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.command {}
}
