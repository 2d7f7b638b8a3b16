//! The flags that `pairwise` and `calibrate` share: who speaks with whom, and who watches.

use super::numbers::{count, not_negative, positive, probability, steps};
use super::path_file;
use super::words::one_of;
use crate::failure::{Failure, Result};
use privacy::network::Analysis;
use privacy::network::contractive::Method;
use privacy::network::published::Formula;
use privacy::question::{Noise, Situation};
use std::path::PathBuf;
use topology::Spec;

/// The analyses in the order of `--help`: what is asked for most comes first.
const ANALYSES: [Analysis; 7] = [
    Analysis::Rounds,
    Analysis::Masked,
    Analysis::Contractive,
    Analysis::Linear,
    Analysis::Local,
    Analysis::Walk,
    Analysis::Published,
];

/// Flags that describe the network, the protocol and the watchers.
#[derive(Debug, clap::Args)]
pub(super) struct SituationArgs {
    /// The graph: `family:size[,key=value…]`, `file:PATH`, or a built-in name such as `karate`
    #[arg(long, value_name = "SPEC")]
    topology: Option<String>,

    /// Take the largest component of a graph in parts
    #[arg(long)]
    largest_component: bool,

    /// Instead of a fixed graph, a schedule: doubling, shuffled-doubling, one-peer-exponential, random-matching, or
    /// resampled:SPEC (a fresh graph each round)
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,

    /// Number of nodes, with `--schedule` or `--path`
    #[arg(long, value_name = "N", value_parser = count)]
    nodes: Option<usize>,

    /// Gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, or file:PATH
    #[arg(long, value_name = "W", default_value = "metropolis")]
    weights: String,

    /// Mixing steps after each contribution [default: 1, or what the schedule has]
    #[arg(long, value_name = "K", value_parser = steps, allow_hyphen_values = true)]
    steps: Option<usize>,

    /// Contributions of each node; for `walk` without `--path` and for random-walk-2024, visits of the token
    #[arg(long, value_name = "T", value_parser = count, allow_hyphen_values = true, default_value = "1")]
    rounds: usize,

    /// Which theorem gives the figure
    #[arg(long, value_name = "ANALYSIS", value_parser = one_of(&ANALYSES, Analysis::name, Analysis::summary))]
    analysis: Analysis,

    /// How `contractive` chooses where to absorb: the fastest, a tighter one, or the least (small runs only)
    #[arg(long, value_name = "METHOD", default_value = "boundary", value_parser = one_of(&Method::ALL, Method::name, Method::summary))]
    method: Method,

    /// Lipschitz constant of the local update for `contractive` (1: convex, smooth loss and a step size of at most 2/β)
    #[arg(long, value_name = "ρ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    rho: f64,

    /// The visits of a walk that was made: a file with a node per line, or comma-separated
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,

    /// How the token of a walk that is not made yet will move: simple, lazy or metropolis
    #[arg(long, value_name = "KERNEL", default_value = "metropolis")]
    kernel: String,

    /// Paths to sample for a walk that is not made yet
    #[arg(long, value_name = "P", value_parser = count, default_value = "200")]
    samples: usize,

    /// Seed of sampled paths, and run id of schedules that shuffle
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// Which paper's formula `published` evaluates
    #[arg(long, value_name = "PAPER", default_value = "muffliato-2022", value_parser = one_of(&Formula::ALL, Formula::name, Formula::summary))]
    formula: Formula,

    /// Only these nodes watch, each for itself, by number or by name [default: every node]
    #[arg(long, value_name = "NODE", num_args = 1.., value_delimiter = ',', conflicts_with = "coalition")]
    watcher: Vec<String>,

    /// These nodes pool what they see, by number or by their names in the file of the graph
    #[arg(long, value_name = "i,j,…", value_delimiter = ',')]
    coalition: Vec<String>,

    /// Members that pool what they know in `masked` rounds [default: fewer than a third, at least 1]
    #[arg(long, value_name = "C", conflicts_with_all = ["coalition", "watcher", "topology"])]
    colluders: Option<u64>,

    /// Fresh noise on every message, as a multiple of σ (rounds only)
    #[arg(long, value_name = "τ", value_parser = not_negative, allow_hyphen_values = true, default_value = "0")]
    message_noise: f64,
}

impl SituationArgs {
    /// What the flags say; a path is read from its file.
    pub(super) fn situation(&self) -> Result<Situation> {
        Ok(Situation {
            topology: self.topology.clone(),
            largest_component: self.largest_component,
            schedule: self.schedule.clone(),
            nodes: self.nodes,
            weights: self.weights.clone(),
            steps: self.steps,
            rounds: self.rounds,
            analysis: self.analysis,
            method: self.method,
            rho: self.rho,
            path: self.path.as_deref().map(path_file::read).transpose()?,
            kernel: self.kernel.clone(),
            samples: self.samples,
            seed: self.seed,
            formula: self.formula,
            watcher: self.numbers(&self.watcher)?,
            coalition: self.numbers(&self.coalition)?,
            colluders: self.colluders,
            message_noise: self.message_noise,
        })
    }
}

impl SituationArgs {
    /// Nodes by their numbers; names are looked up in the graph.
    fn numbers(&self, given: &[String]) -> Result<Vec<usize>> {
        if let Some(all) = given.iter().map(|node| node.parse().ok()).collect() {
            return Ok(all);
        }
        let labels = self.labels()?;
        let number = |node: &String| {
            let named = || labels.iter().position(|label| label == node);
            node.parse().ok().or_else(named).ok_or_else(|| unknown(node, &labels))
        };
        given.iter().map(number).collect()
    }

    /// Names of the nodes, where the graph has any.
    fn labels(&self) -> Result<Vec<String>> {
        let Some(spec) = &self.topology else { return Ok(Vec::new()) };
        let spec: Spec = spec.parse()?;
        let built = if self.largest_component { spec.build_largest_component()? } else { spec.build()? };
        Ok(built.graph.labels().map(<[String]>::to_vec).unwrap_or_default())
    }
}

fn unknown(node: &str, labels: &[String]) -> Failure {
    let names: Vec<&str> = labels.iter().map(String::as_str).collect();
    let hint = match (topology::nearest(node, &names), names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "nodes of this graph have no names: they are counted from 0".into(),
        (None, false) => format!(
            "nodes are called {} and so on, or counted from 0",
            names[..names.len().min(3)].join(", ")
        ),
    };
    Failure::new(format!("no node is called `{node}`")).hint(hint)
}

/// [`Noise`] as flags.
#[derive(Debug, clap::Args)]
pub(super) struct NoiseArgs {
    /// Standard deviation of the noise on each coordinate of a contribution
    #[arg(long, value_name = "σ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sigma: f64,

    /// Largest change (L2) of a contribution when the protected data change
    #[arg(long, value_name = "Δ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// δ at which ε is given
    #[arg(long, value_name = "δ", value_parser = probability, allow_hyphen_values = true, default_value = "1e-5")]
    delta: f64,
}

impl NoiseArgs {
    pub(super) fn noise(&self) -> Noise {
        Noise { sigma: self.sigma, sensitivity: self.sensitivity, delta: self.delta }
    }
}
