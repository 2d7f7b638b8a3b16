//! `murmur topology`: which graph is this, how fast does it mix, and what does it look like?

mod analysis;
mod compare;
mod help;
mod numbers;
mod report;

use crate::output::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::{Analysis, Question};
use topology::files::{write_dot, write_edges, write_json};
use topology::{Built, Drawing, Spec};

use crate::failure::{Failure, Result};
use crate::output;

/// Nodes that a drawing may have; more would be a grey disc of many megabytes.
const MOST_DRAWN: usize = 20_000;

/// Describe a graph and how fast gossip mixes on it, draw it, or compare several
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = help::EXAMPLES,
    after_long_help = help::families(),
)]
pub(crate) struct Args {
    /// The graph: `family:size[,key=value…]`, `file:PATH`, or a built-in name such as `karate`
    #[arg(value_name = "SPEC", required = true)]
    spec: Option<String>,

    #[command(flatten)]
    mixing: MixingArgs,

    /// What to print: `table` for people, `json` for programs, or the graph itself as `edges`, `dot`,
    /// `node-link` (JSON that d3 and networkx read) or `svg` (a drawing)
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(subcommand)]
    command: Option<Subcommand>,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// One row for each of several graphs: size, degree, diameter, gap, rounds and messages until mixed
    Compare(compare::Args),
}

/// Flags that both forms of the command take.
#[derive(Debug, clap::Args)]
struct MixingArgs {
    /// Gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, or file:PATH
    #[arg(long, value_name = "W", default_value = "metropolis")]
    weights: String,

    /// A graph counts as mixed when disagreement has shrunk to this share
    #[arg(long, value_name = "SHARE", default_value_t = 1e-3)]
    tolerance: f64,

    /// Take the largest component and leave the other nodes out, instead of refusing a graph in parts
    #[arg(long)]
    largest_component: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Dot,
    Edges,
    NodeLink,
    Svg,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    if let Some(Subcommand::Compare(compare)) = args.command {
        return compare::run(&compare);
    }
    let text = args.spec.ok_or_else(|| Failure::new("no graph given"))?;
    let question = args.mixing.question()?;
    let (spec, built) = question.build(&text)?;
    let bytes = match args.format {
        Format::Table => report::table(&Analysis::of(&spec, &built, &question)?).into_bytes(),
        Format::Json => report::json(&Analysis::of(&spec, &built, &question)?)?,
        Format::Svg => drawing(&spec, &built)?.into_bytes(),
        Format::Dot => written(&built, write_dot)?,
        Format::Edges => written(&built, write_edges)?,
        Format::NodeLink => written(&built, write_json)?,
    };
    if !matches!(args.format, Format::Table | Format::Json) {
        report::notes(&built).iter().for_each(|note| say!("note: {note}"));
    }
    output::write(args.out.as_deref().map(Path::new), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

impl MixingArgs {
    fn question(&self) -> Result<Question> {
        Question::new(&self.weights, self.tolerance, self.largest_component)
    }
}

type Writer = fn(&topology::Graph, &mut Vec<u8>) -> std::io::Result<()>;

fn written(built: &Built, write: Writer) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&built.graph, &mut bytes)?;
    Ok(bytes)
}

fn drawing(spec: &Spec, built: &Built) -> Result<String> {
    let nodes = built.graph.nodes();
    if nodes > MOST_DRAWN {
        let failure = Failure::new(format!("`{spec}` has {nodes} nodes, too many to draw"));
        return Err(
            failure.hint(format!("up to {MOST_DRAWN} nodes are drawn; `--format edges` writes them all"))
        );
    }
    let places = topology::layout::of_spec(spec, built);
    Ok(Drawing::new(&built.graph).places(places).title(spec.to_string()).to_svg())
}
