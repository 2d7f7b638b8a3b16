//! `murmur privacy masked`: what do masked rounds cost?

use super::numbers::{plain, positive, probability, rounded_up};
use super::sorted_json;
use crate::failure::Result;
use crate::output;
use privacy::question::masked::{Answer, Inspect, Question};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur privacy masked --nodes 64 --rounds 160 --noise-multiplier 9.24 --delta 1e-5
  murmur privacy masked --nodes 64 --rounds 1000 --noise-multiplier 1 --rate 0.05 --delta 1e-5 --colluders 1
  murmur privacy masked --nodes 8 --rounds 160 --noise-multiplier 17 --delta 1e-5 --inspect 0.02 --parameters 100000";

/// Arguments of `murmur privacy masked`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// How many members take part
    #[arg(long, value_name = "N")]
    nodes: u64,

    /// Rounds in which data are added
    #[arg(long, value_name = "T")]
    rounds: u64,

    /// Noise of a contribution over its sensitivity (at node level: half of privacy.noise_multiplier, which is over the clip norm)
    #[arg(long, value_name = "Z", value_parser = positive, allow_hyphen_values = true)]
    noise_multiplier: f64,

    /// Share of the records that a round samples (Poisson)
    #[arg(long, value_name = "Q", default_value_t = 1.0, allow_hyphen_values = true)]
    rate: f64,

    /// Members that pool what they know [default: fewer than a third, at least 1]
    #[arg(long, value_name = "C")]
    colluders: Option<u64>,

    /// Look into this share of the rounds, by a public coin; the plan also has room for inspections after void rounds
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    inspect: Option<f64>,

    /// Numbers in a contribution, on which the price of an inspection depends
    #[arg(long, value_name = "D", default_value_t = 10_000, requires = "inspect")]
    parameters: u64,

    /// The δ at which ε is given
    #[arg(long, value_name = "D", value_parser = probability, allow_hyphen_values = true)]
    delta: f64,

    /// What to print: a table for people, or JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let inspect = args.inspect.map(|rate| Inspect { rate, parameters: args.parameters });
    let question = Question {
        nodes: args.nodes,
        rounds: args.rounds,
        noise_multiplier: args.noise_multiplier,
        delta: args.delta,
        rate: args.rate,
        colluders: args.colluders,
        inspect,
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
    let together = match answer.colluders {
        0 => "somebody who sees all traffic".to_owned(),
        1 => "one member".to_owned(),
        many => format!("{many} members together"),
    };
    let mut text = format!(
        "ε = {} at δ = {} against {together} (analysis {}; honest members: {})\n",
        rounded_up(answer.epsilon),
        plain(answer.delta),
        answer.analysis,
        answer.honest,
    );
    if answer.colluders != 1 {
        text.push_str(&format!("against one member  ε = {}\n", rounded_up(answer.one_member)));
    }
    text.push_str(&format!("without masks (local)  ε = {}\n", rounded_up(answer.local)));
    if let Some(inspections) = answer.inspections {
        text.push_str(&format!(
            "{} inspections of {} parameters are in it, each {} of a full charge\n",
            inspections.planned,
            inspections.parameters,
            rounded_up(inspections.share),
        ));
    }
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", answer.guarantee, answer.assumes));
    text
}
