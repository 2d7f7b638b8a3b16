//! `murmur completions SHELL`.

use crate::failure::Result;
use crate::output;
use clap::CommandFactory;
use clap_complete::Shell;
use std::process::ExitCode;

/// Arguments of `murmur completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell to write the script for
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "murmur", &mut script);
    output::write(None, &script)?;
    Ok(ExitCode::SUCCESS)
}
