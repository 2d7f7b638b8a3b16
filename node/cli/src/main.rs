//! `murmur`: one binary, one file per command. stdout is data, stderr is for people.
//!
//! Exit codes: 0 done, a run reached its end; 1 ended before, for a reason that the user set (a budget, a limit, `give_up`, a comparison that failed);
//! 2 error; 130 after ctrl-c, 143 after SIGTERM.

mod commands;
mod failure;
mod figures;
mod narrow;
mod output;
mod progress;
mod table;

use clap::Parser;
use commands::Command;
use output::say;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur swarm                                 eight processes learn together, on this machine
  murmur sim                                   the same in simulation, with 64 nodes
  murmur swarm init --nodes 4 --set batch_size=32 --out clinic.toml
                                               a swarm file for four machines
  murmur node --swarm clinic.toml --data patients.csv:label=sick --name Zürich
                                               one of them takes part
  murmur report murmur-state                   what it cost, for people to sign
  murmur ledger                                what was spent on each data set
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds
                                               who learns how much about whom?

Exit codes: 0 done, 1 ended before for a reason that you set, 2 error, 130 after ctrl-c, 143 after SIGTERM.";

/// Peer-to-peer learning with provable privacy.
#[derive(Debug, Parser)]
#[command(name = "murmur", version = VERSION, after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("MURMUR_COMMIT"), ")");

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match commands::run(Cli::parse().command) {
        Ok(code) => code,
        Err(failure) => {
            say!("{failure}");
            ExitCode::from(failure.code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
