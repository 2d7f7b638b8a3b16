//! `murmur privacy convert`: μ, Rényi, zCDP and (ε, δ) into each other.

use super::numbers::{number, number_down};
use super::sorted_json;
use super::words::one_of;
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use privacy::question::convert::{Answer, Kind, Outcome, Question, Source, Target};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur privacy convert --mu 1 --delta 1e-5
  murmur privacy convert --rho 0.5 --delta 1e-6 --to approximate
  murmur privacy convert --renyi-alpha 8 --renyi-epsilon 0.5 --delta 1e-5
  murmur privacy convert --epsilon 1 --delta 1e-5          which Gaussian has exactly this point?
  murmur privacy convert --epsilon 1                       pure ε-DP";

/// Arguments of `murmur privacy convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("from").required(true).args(["mu", "renyi_epsilon", "rho", "epsilon"]))]
pub(super) struct Args {
    /// From Gaussian DP: μ, sensitivity over noise
    #[arg(long, allow_negative_numbers = true)]
    mu: Option<f64>,

    /// From a Rényi bound at one order: the divergence (with --renyi-alpha)
    #[arg(long, value_name = "R", requires = "renyi_alpha", allow_negative_numbers = true)]
    renyi_epsilon: Option<f64>,

    /// The order of --renyi-epsilon, above 1
    #[arg(long, value_name = "ALPHA", requires = "renyi_epsilon", allow_negative_numbers = true)]
    renyi_alpha: Option<f64>,

    /// From zero-concentrated DP: ρ
    #[arg(long, allow_negative_numbers = true)]
    rho: Option<f64>,

    /// From (ε, δ) with --delta, or from pure ε-DP without
    #[arg(long, allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// The δ of --epsilon; for the other inputs, the δ at which ε is given (default 1e-5)
    #[arg(long, allow_negative_numbers = true)]
    delta: Option<f64>,

    /// The order at which Rényi results are given
    #[arg(long, default_value_t = 2.0, allow_negative_numbers = true)]
    alpha: f64,

    /// Only this result; one that cannot be had is an error
    #[arg(long, value_parser = one_of(&Target::ALL, word, help))]
    to: Option<Target>,

    /// What to print: a table for people, or JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn word(target: Target) -> &'static str {
    match target {
        Target::Mu => "mu",
        Target::Renyi => "renyi",
        Target::Zcdp => "zcdp",
        Target::Approximate => "approximate",
    }
}

fn help(target: Target) -> &'static str {
    match target {
        Target::Mu => "Gaussian DP",
        Target::Renyi => "Rényi divergence at --alpha",
        Target::Zcdp => "zero-concentrated DP",
        Target::Approximate => "(ε, δ)",
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let delta = args.delta.unwrap_or(1e-5);
    let question = Question { from: source(args)?, delta, alpha: args.alpha, to: args.to };
    let answer = question.answer()?;
    let bytes = match args.format {
        Format::Table => table(&answer).into_bytes(),
        Format::Json => sorted_json(&answer)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// What was given.
fn source(args: &Args) -> Result<Source> {
    let renyi = args.renyi_alpha.zip(args.renyi_epsilon);
    Ok(match (args.mu, args.rho, renyi, args.epsilon) {
        (Some(mu), ..) => Source::Mu { mu },
        (_, Some(rho), ..) => Source::Zcdp { rho },
        (_, _, Some((alpha, epsilon)), _) => Source::Renyi { alpha, epsilon },
        (.., Some(epsilon)) => match args.delta {
            Some(delta) => Source::Approximate { epsilon, delta },
            None => Source::Pure { epsilon },
        },
        _ => return Err(Failure::new("nothing to convert").hint("give --mu, --rho or --epsilon")),
    })
}

fn table(answer: &Answer) -> String {
    let from = answer.from.name();
    let mut text = format!("from {from}\n\n{:<12}  {:<28}  {:<7}  analysis\n", "to", "value", "kind");
    for outcome in &answer.results {
        let (to, value, kind) = (outcome.to.name(), value(outcome), outcome.kind.name());
        text.push_str(&format!("{to:<12}  {value:<28}  {kind:<7}  {}\n", outcome.analysis));
    }
    text
}

fn value(outcome: &Outcome) -> String {
    // A loss is rounded up; a target is what a mechanism may have at most.
    let number = if outcome.kind == Kind::Target { number_down } else { number };
    match (outcome.mu, outcome.rho, outcome.epsilon, outcome.alpha, outcome.delta) {
        (Some(mu), ..) => format!("μ = {}", number(mu)),
        (_, Some(rho), ..) => format!("ρ = {}", number(rho)),
        (_, _, Some(epsilon), Some(alpha), _) => format!("D = {} at α = {alpha}", number(epsilon)),
        (_, _, Some(epsilon), None, Some(delta)) => format!("ε = {} at δ = {delta:e}", number(epsilon)),
        _ => "—".to_owned(),
    }
}
