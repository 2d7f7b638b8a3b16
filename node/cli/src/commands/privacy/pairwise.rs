//! `murmur privacy pairwise`: who learns how much about whom?

use super::situation::{NoiseArgs, SituationArgs};
use super::{heat_map, summary, watched};
use crate::failure::{Failure, Result};
use crate::output;
use privacy::question::pairwise::{Answer, Question};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur privacy pairwise`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    situation: SituationArgs,

    #[command(flatten)]
    noise: NoiseArgs,

    /// `table` sums up by distance; `json` and `csv` have every pair; `npy` is the matrix of μ² (watchers × nodes, NaN for oneself);
    /// `svg` is a heat map, or with one watcher the graph coloured by ε
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds --message-noise 0.1
  murmur privacy pairwise --schedule shuffled-doubling --nodes 64 --rounds 100 --sigma 5 --analysis rounds
  murmur privacy pairwise --topology hypercube:64 --rounds 20 --analysis contractive --method riccati --watcher 0
  murmur privacy pairwise --topology karate --analysis rounds --steps 3 --coalition 0,33 --format svg --out pairs.svg";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Npy,
    Svg,
}

/// Prices every pair and prints it.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let question = Question { situation: args.situation.situation()?, noise: args.noise.noise() };
    let pairs = watched(|waiting| question.answer(waiting))?;
    let bytes = match args.format {
        Format::Table => summary::table(&pairs).into_bytes(),
        Format::Json => json(&pairs)?,
        Format::Csv => csv(&pairs)?,
        Format::Npy => npy(&pairs),
        Format::Svg => heat_map::picture(&pairs)?.into_bytes(),
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn json(pairs: &Answer) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(pairs).map_err(|error| Failure::of(error, None))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn csv(pairs: &Answer) -> Result<Vec<u8>> {
    let mut bytes = b"watcher,source,distance,mu2,epsilon,analysis\n".to_vec();
    let analysis = pairs.analysis;
    for (row, watchers) in pairs.coalitions.iter().enumerate() {
        let names: Vec<String> = watchers.members().iter().map(usize::to_string).collect();
        let name = names.join("+");
        let distances = pairs.distances(row);
        for node in (0..pairs.nodes).filter(|&node| !watchers.contains(node)) {
            let distance = distances
                .as_ref()
                .and_then(|distances| distances[node])
                .map_or(String::new(), |d| d.to_string());
            let (mu2, epsilon) = (pairs.mu2[[row, node]], pairs.epsilon[[row, node]]);
            writeln!(bytes, "{name},{node},{distance},{mu2:?},{epsilon:?},{analysis}")?;
        }
    }
    Ok(bytes)
}

/// NumPy's format 1.0: a magic number, a padded header, the values.
fn npy(pairs: &Answer) -> Vec<u8> {
    let shape = pairs.mu2.dim();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", shape.0, shape.1);
    let padding = 64 - (10 + header.len() + 1) % 64;
    let length = (header.len() + padding % 64 + 1) as u16;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(std::iter::repeat_n(b' ', padding % 64));
    bytes.push(b'\n');
    pairs.mu2.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}
