//! `murmur privacy calibrate`: how much noise for a target?

use super::numbers::{not_negative, plain, positive, probability, rounded_up};
use super::situation::SituationArgs;
use super::{sorted_json, watched};
use crate::failure::Result;
use crate::output::{self, Format};
use privacy::network::calibrate::Target;
use privacy::question::calibrate::{Answer, Question};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur privacy calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The ε to meet
    #[arg(long, value_name = "E", value_parser = not_negative, allow_hyphen_values = true)]
    epsilon: f64,

    /// The δ to meet it at
    #[arg(long, value_name = "D", value_parser = probability, allow_hyphen_values = true)]
    delta: f64,

    /// Which loss is to meet it: worst, mean, pNN (a quantile such as p95), or pair:u,v (what v learns about u)
    #[arg(long, value_name = "WHICH", default_value = "worst", value_parser = of)]
    of: String,

    /// Noise for each node of its own, so that those who are seen less add less (rounds only, worst pair)
    #[arg(long)]
    per_node: bool,

    #[command(flatten)]
    situation: SituationArgs,

    /// Largest change (L2) of a contribution when the protected data change
    #[arg(long, value_name = "Δ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// What to print: `table` for people, `json` for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  murmur privacy calibrate --epsilon 1 --delta 1e-5 --schedule shuffled-doubling --nodes 64 --rounds 100 --analysis rounds
  murmur privacy calibrate --epsilon 1 --delta 1e-5 --of mean --topology torus:8x8 --rounds 50 --analysis contractive
  murmur privacy calibrate --epsilon 2 --delta 1e-6 --of pair:3,0 --topology karate --steps 4 --analysis rounds";

/// Which loss, in words that mean something.
fn of(text: &str) -> std::result::Result<String, &'static str> {
    text.parse::<Target>().map(|_| text.to_owned())
}

/// Finds the noise and prints it.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let question = Question {
        situation: args.situation.situation()?,
        epsilon: args.epsilon,
        delta: args.delta,
        of: args.of.clone(),
        per_node: args.per_node,
        sensitivity: args.sensitivity,
    };
    let answer = watched(|waiting| question.answer(waiting))?;
    let bytes = match args.format {
        Format::Json => sorted_json(&answer)?,
        Format::Table => table(&answer).into_bytes(),
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn table(answer: &Answer) -> String {
    let mut text = format!(
        "σ = {} for ε = {} at δ = {} of {} (analysis {}, Δ = {})\nwith it  worst pair ε = {}, mean ε = {}\n",
        rounded_up(answer.sigma),
        plain(answer.epsilon),
        plain(answer.delta),
        answer.of,
        answer.analysis,
        plain(answer.sensitivity),
        rounded_up(answer.worst.unwrap_or(0.0)),
        rounded_up(answer.mean),
    );
    if let Some(sigmas) = &answer.sigmas {
        let shown: Vec<String> = sigmas.iter().map(|sigma| rounded_up(*sigma)).collect();
        text.push_str(&format!("σ per node instead: {}\n", shown.join(" ")));
    }
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", answer.guarantee, answer.assumes));
    text
}
