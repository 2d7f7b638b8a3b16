//! `murmur man --out DIR`: a manual page for every command.

use crate::failure::{Failure, Result};
use clap::CommandFactory;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder for the pages; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the pages: `murmur.1`, `murmur-node.1`, and so on.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let write = || {
        std::fs::create_dir_all(&args.out)?;
        clap_mangen::generate_to(crate::Cli::command(), &args.out)
    };
    write().map_err(|error| {
        Failure::from(error).context(format!("cannot write manual pages to `{}`", args.out.display()))
    })?;
    Ok(ExitCode::SUCCESS)
}
