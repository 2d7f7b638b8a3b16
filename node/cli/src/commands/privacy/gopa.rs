//! `murmur privacy gopa`: what does pairwise noise that nearly cancels hide?

use super::numbers::{not_negative, positive, rounded_up};
use super::sorted_json;
use crate::failure::Result;
use crate::output;
use privacy::question::gopa::{Answer, Question};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur privacy gopa --topology complete:8 --sigma-eta 1 --sigma-delta 3
  murmur privacy gopa --topology ring:6 --sigma-eta 1 --sigma-delta 3 --coalition 4 --dropped 0 --repaired --format json
  murmur privacy gopa --topology complete:8 --sigma-eta 1 --sigma-delta 1 --coalition 5 --rows \"4;6,7;0,1,2,3\"";

/// Arguments of `murmur privacy gopa`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Who shares noise with whom: family:size[,key=value…], file:PATH, or a built-in name such as karate
    #[arg(long, value_name = "SPEC")]
    topology: String,

    /// Deviation of a node's own noise
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true)]
    sigma_eta: f64,

    /// Deviation of the noise that two neighbours share with opposite signs
    #[arg(long, value_name = "S", value_parser = not_negative, allow_hyphen_values = true)]
    sigma_delta: f64,

    /// Nodes that pool what they know, such as 0,3
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    coalition: Vec<usize>,

    /// Nodes that agreed on noise and then published nothing
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    dropped: Vec<usize>,

    /// The others took the noise of the dropped out again
    #[arg(long)]
    repaired: bool,

    /// Of the dropped out, those whose values came late, after the repair: nothing but their own noise hides them
    #[arg(long, value_name = "NODES", value_delimiter = ',', requires = "repaired")]
    late: Vec<usize>,

    /// Only these sums of what was published were seen, each by the nodes in it, such as "4;6,7;0,1,2,3" [default: all that was published]
    #[arg(long, value_name = "SUMS", value_parser = sums, alias = "row")]
    rows: Vec<Sums>,

    /// What to print: a table for people, or JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Sums, each by the nodes in it.
#[derive(Debug, Clone)]
struct Sums(Vec<Vec<usize>>);

fn sums(text: &str) -> std::result::Result<Sums, String> {
    let node = |text: &str| {
        let shown = text.trim();
        shown.parse::<usize>().map_err(|_| format!("`{shown}` is no node; write sums as 4;6,7;0,1,2,3"))
    };
    let sum = |text: &str| text.split(',').map(node).collect::<std::result::Result<Vec<_>, _>>();
    text.split(';').map(sum).collect::<std::result::Result<_, _>>().map(Sums)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let question = Question {
        topology: args.topology.clone(),
        sigma_eta: args.sigma_eta,
        sigma_delta: args.sigma_delta,
        coalition: args.coalition.clone(),
        dropped: args.dropped.clone(),
        repaired: args.repaired,
        rows: args.rows.iter().flat_map(|Sums(sums)| sums.clone()).collect(),
        late: args.late.clone(),
    };
    let answer = question.answer()?;
    let bytes = match args.format {
        Format::Table => table(&answer).into_bytes(),
        Format::Json => sorted_json(&answer)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn table(answer: &Answer) -> String {
    let mut text = format!("μ² for a change of length 1 (analysis {})\n", answer.analysis);
    for (node, loss) in answer.loss.iter().enumerate() {
        text.push_str(&format!("{node:>6}  {}\n", rounded_up(*loss)));
    }
    if answer.residual_variance > 0.0 {
        let left = rounded_up(answer.residual_variance);
        text.push_str(&format!("the sum keeps a variance of {left} from those who dropped out\n"));
    }
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", answer.guarantee, answer.assumes));
    text
}
