//! `murmur privacy pairwise`: who learns how much about whom?

use super::situation::{NoiseArgs, SituationArgs};
use super::{heat_map, rows, summary, watched};
use crate::failure::{Failure, Result};
use crate::output;
use privacy::question::pairwise::{Answer, Question};
use privacy::question::streamed::Row;
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
    let stream = question.stream()?;
    let out = args.out.as_deref();
    match args.format {
        Format::Json if stream.has_rows() => output::stream(out, |to| rows::json(&stream, to))?,
        Format::Csv if stream.has_rows() => output::stream(out, |to| rows::csv(&stream, to))?,
        Format::Npy if stream.has_rows() => output::stream(out, |to| rows::npy(&stream, to))?,
        _ => output::write(out, &whole(args.format, &watched(|waiting| stream.whole(waiting))?)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What needs all pairs at once, and paths that were sampled.
fn whole(format: Format, pairs: &Answer) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match format {
        Format::Table => bytes = summary::table(pairs).into_bytes(),
        Format::Svg => bytes = heat_map::picture(pairs)?.into_bytes(),
        Format::Json => {
            serde_json::to_writer(&mut bytes, pairs).map_err(|error| Failure::of(error, None))?;
            bytes.push(b'\n');
        }
        Format::Npy => {
            rows::npy_header(pairs.mu2.dim(), &mut bytes)?;
            pairs.mu2.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        Format::Csv => {
            rows::csv_header(&mut bytes)?;
            for (number, watchers) in pairs.coalitions.iter().enumerate() {
                let (mu2, epsilon) = (pairs.mu2.row(number).to_vec(), pairs.epsilon.row(number).to_vec());
                let row = Row { number, watchers, mu2: &mu2, epsilon: &epsilon };
                rows::csv_row(&row, pairs.distances(number).as_deref(), pairs.analysis, &mut bytes)?;
            }
        }
    }
    Ok(bytes)
}
