//! `murmur sim`: many participants in one process, in virtual time.

mod help;
mod kept;
mod plot;
mod report;
mod single;
mod sweep;

use std::path::PathBuf;
use std::process::ExitCode;

use protocol::config::{Config, Layer};
use sim::sweep::Axis;

use crate::failure::{Failure, Result};
use crate::output;

/// Simulate a swarm: learning, faults and what everybody learns about everybody else
#[derive(Debug, clap::Args)]
#[command(after_help = help::EXAMPLES, after_long_help = help::long())]
pub(crate) struct Args {
    /// A configuration file in TOML; without one, the built-in story of 64 nodes that learn digits
    #[arg(value_name = "CONFIG")]
    config: Option<PathBuf>,

    /// Set a key: `--set privacy.epsilon=2 --set topology=ring`; `--help` lists the keys
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Run once for each value: `--sweep privacy.epsilon=1,2,4`; several flags make the product
    #[arg(long, value_name = "KEY=A,B,C")]
    sweep: Vec<String>,

    /// Run with so many seeds, counting on from `seed`, and give mean ± spread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,

    /// Short for `--set seed=SEED`
    #[arg(long)]
    seed: Option<u64>,

    /// Threads [default: as many as there are cores]; the result does not depend on it
    #[arg(long, value_name = "T", default_value_t = 0, hide_default_value = true, value_parser = threads)]
    threads: usize,

    /// Folder in which the run gets a folder of its own [default: runs]; with a sweep every run does, and `sweep.csv` has a line for each
    /// [default: none]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// What to print: a table for people, one JSON object at the end, or for a sweep a picture of accuracy against ε
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Print the effective configuration and end
    #[arg(long)]
    dump_config: bool,
}

/// In which form the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
    /// Of a sweep: accuracy against ε, with spread
    Svg,
}

/// More threads than any machine has cores are a mistake, and starting them takes longer than most runs.
fn threads(text: &str) -> std::result::Result<usize, String> {
    const MOST: usize = 1_024;
    let threads: usize = text.parse().map_err(|_| "must be a whole number".to_owned())?;
    if threads > MOST { Err(format!("at most {MOST} threads are started")) } else { Ok(threads) }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let layers = layers(args)?;
    let axes = args.sweep.iter().map(|text| Axis::parse(text)).collect::<std::result::Result<Vec<_>, _>>()?;
    if args.dump_config {
        let config = Config::from_layers(layers)?;
        output::write(None, config.to_toml().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if axes.is_empty() && args.seeds.is_none() {
        single::run(args, Config::from_layers(layers)?)
    } else {
        sweep::run(args, &layers, &axes)
    }
}

/// The file, then the flags. Without a file it is the run of the program itself, with masks as `murmur swarm` has them; a file says what it wants.
fn layers(args: &Args) -> Result<Vec<Layer>> {
    let mut layers = Vec::new();
    if args.config.is_none() {
        layers.push(Layer::with_masks()?);
    }
    if let Some(path) = &args.config {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::from(error)
                .context(format!("cannot read `{shown}`"))
                .hint("`murmur sim --dump-config` prints a configuration to begin with")
        })?;
        layers.push(Layer::from_toml(&text, &shown)?);
    }
    layers.push(Layer::from_flags("--set", &args.set)?);
    if let Some(seed) = args.seed {
        layers.push(Layer::from_flags("--seed", &[format!("seed={seed}")])?);
    }
    Ok(layers)
}
