//! `murmur privacy compare`: which graph, for the same final error?
//!
//! Every graph gets as many gossip steps as it needs to come within the same tolerance of the mean, and the exact loss of these steps
//! (analysis `rounds`, one contribution) is shown beside what they cost in messages. Recursive doubling over as many nodes, which reaches
//! the mean exactly, stands below for comparison.

use super::model::{Model, Network, Protocol};
use super::numbers::{plain, probability, rounded_up};
use super::priced::{Noise, NoiseArgs};
use super::summary::{Spread, Summary};
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use crate::table::Table;
use ::privacy::network::{Analysis, Pricing, Run, Step, Watchers};
use std::path::PathBuf;
use std::process::ExitCode;
use topology::{Schedule, Spec, Spectrum, Weights};

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

/// One line of the comparison.
struct Row {
    name: String,
    nodes: usize,
    steps: usize,
    messages: f64,
    watchers: usize,
    summary: Summary,
}

/// Compares and prints.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let noise = args.noise.noise();
    let mut rows =
        args.specs.iter().map(|text| graph_row(args, text, noise)).collect::<Result<Vec<Row>>>()?;
    let mut sizes: Vec<usize> = rows.iter().map(|row| row.nodes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for nodes in sizes {
        rows.push(doubling_row(args, nodes, noise)?);
    }
    let text = match args.format {
        Format::Table => table(args, &rows, noise),
        Format::Json => json(args, &rows, noise)?,
    };
    output::write(args.out.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn graph_row(args: &Args, text: &str, noise: Noise) -> Result<Row> {
    let spec: Spec = text.parse()?;
    let built = if args.largest_component { spec.build_largest_component()? } else { spec.build()? };
    let matrix = args.weights.parse::<Weights>()?.matrix(&built.graph)?;
    let spectrum = Spectrum::of(&matrix)?;
    let found = if args.accelerated {
        spectrum.chebyshev_rounds(args.tolerance)?
    } else {
        spectrum.mixing_rounds(args.tolerance)?
    };
    let steps = found.ok_or_else(|| {
        Failure::new(format!("gossip on `{text}` with {} weights never mixes", args.weights))
            .hint("try --weights lazy-metropolis")
    })? as usize;
    let messages = steps as f64 * 2.0 * built.graph.edges() as f64 / built.graph.nodes() as f64;
    let run = Run::on_graph(matrix, steps, 1)?;
    priced_row(args, (text.to_owned(), messages), run, Some(Network::built(spec, built)), noise)
}

fn doubling_row(args: &Args, nodes: usize, noise: Noise) -> Result<Row> {
    let run = Run::on_schedule(&Schedule::Doubling, nodes, 1)?;
    let heard = |step: &Step| (0..nodes).map(|node| step.matrix().heard_by(node).count()).sum::<usize>();
    let heard: usize = run.phase(0).steps().iter().map(heard).sum();
    priced_row(args, (format!("doubling of {nodes}"), heard as f64 / nodes as f64), run, None, noise)
}

fn priced_row(
    args: &Args,
    (name, messages): (String, f64),
    run: Run,
    network: Option<Network>,
    noise: Noise,
) -> Result<Row> {
    let nodes = run.nodes();
    let watchers = args.watchers.min(nodes);
    let spread = (0..watchers).map(|at| Ok(Watchers::new(&[at * nodes / watchers], nodes)?));
    let (steps, rounds) = (run.phase(0).steps().len(), run.rounds());
    let model = Model {
        analysis: Analysis::Rounds,
        method: None,
        nodes,
        steps,
        rounds,
        message_noise: 0.0,
        coalitions: spread.collect::<Result<Vec<_>>>()?,
        protocol: Protocol::Mixing { run, pricing: Pricing::Rounds },
        network,
    };
    let summary = Summary::of(&model, &model.priced(noise)?);
    Ok(Row { name, nodes, steps, messages, watchers, summary })
}

fn table(args: &Args, rows: &[Row], noise: Noise) -> String {
    let mut table = Table::new([
        "graph", "nodes", "steps", "messages", "ε mean", "ε worst", "ε at 1", "ε at 2", "ε at 3+",
    ]);
    for row in rows {
        let near = |distance: u32| {
            row.summary
                .by_distance
                .get(&Some(distance))
                .map_or("–".into(), |spread| rounded_up(spread.mean()))
        };
        let far = row.summary.by_distance.iter().filter(|(distance, _)| distance.is_some_and(|d| d > 2));
        let (sum, count) =
            far.fold((0.0, 0), |(sum, count), (_, s)| (sum + s.mean() * s.count as f64, count + s.count));
        table.row([
            row.name.clone(),
            row.nodes.to_string(),
            row.steps.to_string(),
            format!("{:.1}", row.messages),
            rounded_up(row.summary.all.mean()),
            rounded_up(row.summary.all.most),
            near(1),
            near(2),
            if count == 0 { "–".into() } else { rounded_up(sum / f64::from(count as u32)) },
        ]);
    }
    let thinned: Vec<String> = rows
        .iter()
        .filter(|row| row.watchers < row.nodes)
        .map(|row| format!("{} of {}", row.watchers, row.name))
        .collect();
    let note =
        if thinned.is_empty() { String::new() } else { format!("Watchers: {}.\n", thinned.join(", ")) };
    format!(
        "{}\nOne contribution with σ = {}, Δ = {}, then gossip until disagreement is below {}; messages are per node.\n\
         ε at δ = {} by the analysis rounds (exact), mean over pairs at each distance; doubling ends in the exact mean.\n{note}",
        table.render(),
        plain(noise.sigma),
        plain(noise.sensitivity),
        plain(args.tolerance),
        plain(noise.delta),
    )
}

fn json(args: &Args, rows: &[Row], noise: Noise) -> Result<String> {
    let distance = |(distance, spread): (&Option<u32>, &Spread)| serde_json::json!({"distance": distance, "pairs": spread.count, "epsilon": {"min": spread.least, "mean": spread.mean(), "max": spread.most}});
    let row = |row: &Row| {
        serde_json::json!({
            "graph": row.name, "nodes": row.nodes, "steps": row.steps, "messages_per_node": row.messages, "watchers": row.watchers,
            "epsilon": {"mean": row.summary.all.mean(), "worst": row.summary.all.most}, "analysis": "rounds",
            "by_distance": row.summary.by_distance.iter().map(distance).collect::<Vec<_>>(),
        })
    };
    let value = serde_json::json!({
        "tolerance": args.tolerance, "sigma": noise.sigma, "sensitivity": noise.sensitivity, "delta": noise.delta,
        "guarantee": Analysis::Rounds.guarantee(), "assumes": Analysis::Rounds.assumes(),
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    });
    output::json(&value)
}
