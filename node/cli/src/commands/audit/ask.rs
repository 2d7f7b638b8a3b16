//! `murmur audit ask`: attacks on a question.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use audit::{AskRequest, AskSabotage};
use protocol::work::question::Ask;
use questions::noise::{Trust, Unit};

use crate::commands::ask::declared_columns;
use crate::failure::Result;
use crate::output::Format;
use crate::progress;

const EXAMPLES: &str = "\
Examples:
  murmur audit ask \"SELECT count(*), mean(age) FROM swarm\" --column age:bounds=0..110
  murmur audit ask \"SELECT median(age) FROM swarm\" --schema schema.toml --break noise-halved

Attacks: `canary`, whether the total holds the record that moves it most; `liars`, the same by members that add no noise and lie within their bounds;
`differencing`, the same question twice, once without the record. Every word is made by the code of real members.";

/// Arguments of `murmur audit ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// One SELECT of aggregates FROM swarm
    question: String,
    /// Declare a column, as for `murmur ask`
    #[arg(long, value_name = "NAME:KEYS")]
    column: Vec<String>,
    /// A schema.toml that declares columns
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// ε of the question
    #[arg(long, default_value_t = 1.0)]
    epsilon: f64,
    /// δ of the question
    #[arg(long, default_value_t = 1e-5)]
    delta: f64,
    /// Members
    #[arg(long, default_value_t = 8)]
    nodes: usize,
    /// Members that pool what they know, and lie
    #[arg(long, default_value_t = 2)]
    colluders: usize,
    /// Totals with the record, and as many without
    #[arg(long, value_name = "N", default_value_t = audit::TRIALS)]
    trials: usize,
    /// Probability that all deciding lower bounds hold at once
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    confidence: f64,
    /// Seed of all noise
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// What to print: a table for people, or one JSON object
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Folder for audit.json, audit.svg and audit.md; made if it does not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// FOR DEMONSTRATION: break something (noise-halved, liars-counted-on, noise-reused, record-twice) and see the audit fail
    #[arg(long = "break", value_name = "WHAT", value_parser = sabotage)]
    sabotage: Option<AskSabotage>,
}

/// Exit code 1 where a lower bound is above what the question is charged for.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let ask = Ask {
        question: args.question.clone(),
        epsilon: args.epsilon,
        delta: args.delta,
        unit: Unit::Record,
        records: 1000,
        trust: Trust::Masked,
        model: None,
    };
    let request = AskRequest {
        ask,
        columns: Arc::new(declared_columns(args.schema.as_deref(), &args.column)?),
        nodes: args.nodes,
        colluders: args.colluders,
        trials: args.trials,
        confidence: args.confidence,
        seed: args.seed,
        sabotage: args.sabotage,
    };
    let bar = progress::bar(6 * args.trials as u64, "totals");
    let report = audit::ask(&request, &|totals| bar.inc(totals));
    bar.finish_and_clear();
    super::show(&report?, args.format, args.out.as_deref())
}

fn sabotage(text: &str) -> std::result::Result<AskSabotage, String> {
    super::named(text, &AskSabotage::ALL)
}
