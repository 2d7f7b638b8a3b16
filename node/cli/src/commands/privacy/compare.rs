//! `murmur privacy compare`: which graph, for the same final error?

use super::numbers::{plain, probability, rounded_up};
use super::situation::NoiseArgs;
use super::{sorted_json, watched};
use crate::failure::Result;
use crate::output::{self, Format};
use crate::table::Table;
use privacy::question::compare::{Answer, Question};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur privacy compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The graphs to compare
    #[arg(value_name = "SPEC", required = true)]
    specs: Vec<String>,

    /// Take the largest component of graphs in parts
    #[arg(long)]
    largest_component: bool,

    /// Gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, or file:PATH
    #[arg(long, value_name = "W", default_value = "metropolis")]
    weights: String,

    /// Every graph mixes until disagreement has shrunk to this share
    #[arg(long, value_name = "SHARE", value_parser = probability, default_value = "1e-3")]
    tolerance: f64,

    /// Chebyshev-accelerated gossip: fewer steps, and so fewer messages to learn from
    #[arg(long)]
    accelerated: bool,

    #[command(flatten)]
    noise: NoiseArgs,

    /// Watchers per graph; they are spread evenly over the nodes where there are more nodes
    #[arg(long, value_name = "N", value_parser = super::numbers::count, default_value = "128")]
    watchers: usize,

    /// What to print: `table` for people, `json` for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  murmur privacy compare ring:64 torus:8x8 hypercube:64 regular:64,degree=4
  murmur privacy compare karate florentine --accelerated";

/// Compares and prints.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let question = Question {
        graphs: args.specs.clone(),
        largest_component: args.largest_component,
        weights: args.weights.clone(),
        tolerance: args.tolerance,
        accelerated: args.accelerated,
        noise: args.noise.noise(),
        watchers: args.watchers,
    };
    let answer = watched(|waiting| question.answer(waiting))?;
    let bytes = match args.format {
        Format::Table => table(&answer).into_bytes(),
        Format::Json => sorted_json(&answer)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn table(answer: &Answer) -> String {
    let mut table = Table::new([
        "graph", "nodes", "steps", "messages", "ε mean", "ε worst", "ε at 1", "ε at 2", "ε at 3+",
    ]);
    for row in &answer.rows {
        let near = |distance: u32| {
            let found = row.by_distance.iter().find(|pairs| pairs.distance == Some(distance));
            found.map_or("–".into(), |pairs| rounded_up(pairs.epsilon.mean))
        };
        let far = row.by_distance.iter().filter(|pairs| pairs.distance.is_some_and(|d| d > 2));
        let (sum, count) = far.fold((0.0, 0), |(sum, count), pairs| {
            (sum + pairs.epsilon.mean * pairs.pairs as f64, count + pairs.pairs)
        });
        table.row([
            row.graph.clone(),
            row.nodes.to_string(),
            row.steps.to_string(),
            format!("{:.1}", row.messages_per_node),
            rounded_up(row.epsilon.mean),
            rounded_up(row.epsilon.worst),
            near(1),
            near(2),
            if count == 0 { "–".into() } else { rounded_up(sum / f64::from(count as u32)) },
        ]);
    }
    let thinned = answer.rows.iter().filter(|row| row.watchers < row.nodes);
    let thinned: Vec<String> = thinned.map(|row| format!("{} of {}", row.watchers, row.graph)).collect();
    let note =
        if thinned.is_empty() { String::new() } else { format!("Watchers: {}.\n", thinned.join(", ")) };
    format!(
        "{}\nOne contribution with σ = {}, Δ = {}, then gossip until disagreement is below {}; messages are per node.\n\
         ε at δ = {} by the analysis rounds (exact), mean over pairs at each distance; doubling ends in the exact mean, and masked is the same exchange with masks (analysis masked).\n{note}",
        table.render(),
        plain(answer.noise.sigma),
        plain(answer.noise.sensitivity),
        plain(answer.tolerance),
        plain(answer.noise.delta),
    )
}
