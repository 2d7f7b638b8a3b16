//! `murmur topology compare`: one row for each graph.

use std::path::PathBuf;
use std::process::ExitCode;

use super::MixingArgs;
use super::analysis::{Analysis, Question};
use super::numbers::{grouped, short, significant};
use super::report::{Record, pretty};
use crate::failure::Result;
use crate::output::{self, Format};
use crate::table::Table;

/// Arguments of the comparison.
#[derive(Debug, clap::Args)]
#[command(after_help = super::help::EXAMPLES)]
pub(super) struct Args {
    /// The graphs, as for `murmur topology`
    #[arg(value_name = "SPEC", required = true)]
    specs: Vec<String>,

    #[command(flatten)]
    mixing: MixingArgs,

    /// What to print: a table for people, or a JSON list with the keys of `murmur topology SPEC --format json`
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let question = args.mixing.question()?;
    // All specs are read before the first graph is made, so that a typing error in the last costs no time.
    for text in &args.specs {
        text.parse::<topology::Spec>()?;
    }
    let mut table = Table::new(HEADING);
    let mut records = Vec::new();
    for text in &args.specs {
        let (spec, built) = question.build(text)?;
        let analysis = Analysis::of(&spec, &built, &question).map_err(|f| f.context(format!("`{text}`")))?;
        table.row(row(&analysis));
        records.push(Record::of(&analysis));
    }
    let bytes = match args.format {
        Format::Table => format!("{}\n{}\n", table.render(), explanation(&question)).into_bytes(),
        Format::Json => pretty(&records)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

const HEADING: [&str; 8] =
    ["graph", "nodes", "edges", "degree", "diameter", "gap", "rounds", "messages/node"];

fn row(a: &Analysis<'_>) -> [String; 8] {
    let never = || "never".to_owned();
    let diameter = match a.distances {
        Some(d) if d.is_diameter_exact() => d.diameter.to_string(),
        Some(d) => format!("{}–{}", d.diameter, d.diameter_at_most),
        None => "infinite".to_owned(),
    };
    [
        a.spec.to_string(),
        grouped(a.built.graph.nodes() as u64),
        grouped(a.built.graph.edges() as u64),
        short(a.degree.mean),
        diameter,
        significant(a.spectrum.spectral_gap),
        a.mixing_rounds.map_or_else(never, grouped),
        a.messages_per_node().map_or_else(never, |messages| grouped(messages.round() as u64)),
    ]
}

fn explanation(question: &Question) -> String {
    format!(
        "Weights {}: rounds until disagreement has shrunk to {}, and the messages that a node sends until then\n\
         (mean degree × rounds). Fewer messages cost less; fewer rounds are over sooner.",
        question.weights, question.tolerance
    )
}
