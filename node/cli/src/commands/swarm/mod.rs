//! `murmur swarm`: real node processes on this machine, and the file that lets nodes on many machines find each other.

pub(crate) mod check;
mod child;
mod ended;
mod export;
mod init;
mod live;
mod merge;
mod renew;
mod report;
mod rows;
mod run;

use crate::failure::Result;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur swarm                                         eight processes train on handwritten digits
  murmur swarm --http 7070                             the same with a live page at http://127.0.0.1:7070/
  murmur swarm run.toml --nodes 16 --set rounds=50
  murmur swarm init --name clinic --nodes 3 --set privacy.epsilon=4 --out clinic.toml
  murmur swarm renew clinic.toml --without Basel --state murmur-state --out clinic-2.toml     a machine died for good

`murmur swarm` is for one machine. For several: `murmur swarm init` on one, copy the file, `murmur node` on each.";

/// Arguments of `murmur swarm`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    run: run::RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Write a swarm file: what every member needs to join
    Init(init::Args),
    /// Take a machine out, replace it, let a member in or change settings on the way: a renewed swarm file, which its members accept one by one
    Renew(renew::Args),
    /// Write what an engine needs to run the swarm over many machines
    Export(export::Args),
}

/// Runs a swarm, or prepares one.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(Sub::Init(args)) => init::run(args),
        Some(Sub::Renew(args)) => renew::run(args),
        Some(Sub::Export(args)) => export::run(args),
        None => run::run(&args.run),
    }
}
