//! `murmur`: one binary, one file per command. stdout is data, stderr is for people.
//!
//! Exit codes: 0 done, 1 ended for a reason that the user set (a budget spent, a comparison failed), 2 error.

mod commands;
mod failure;
mod figures;
mod output;
mod progress;
mod table;

use clap::Parser;
use commands::Command;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur topology karate                                  which graph is this, and how fast does it mix?
  murmur topology compare ring:64 torus:8x8 hypercube:64  which graph should we use?
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds
                                                          who learns how much about whom?
  murmur privacy account --event gaussian:sigma=1,rate=0.01,count=1000 --delta 1e-5

Exit codes: 0 done, 1 ended for a reason that you set, 2 error.";

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
            eprint!("{failure}");
            ExitCode::from(2)
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
