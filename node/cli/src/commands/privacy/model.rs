//! What is to be priced: the flags that `pairwise` and `calibrate` share, made into a model that is known to be valid.

use super::numbers::{count, not_negative, positive, steps};
use crate::failure::{Failure, Result};
use ::privacy::network::contractive::{Method, Update};
use ::privacy::network::message_noise::Sender;
use ::privacy::network::{Analysis, Pricing, Run, Watchers};
use clap::ValueEnum;
use std::path::PathBuf;
use std::sync::Arc;
use topology::schedule::RunKey;
use topology::{Built, Graph, MixingMatrix, Schedule, ScheduleSpec, Spec, WalkKernel, Weights};

/// Flags that describe the network, the protocol and the watchers.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// The graph: `family:size[,key=value…]`, `file:PATH`, or a built-in name such as `karate`
    #[arg(long, value_name = "SPEC")]
    pub(super) topology: Option<String>,

    /// Take the largest component of a graph in parts
    #[arg(long)]
    pub(super) largest_component: bool,

    /// Instead of a fixed graph, a schedule: doubling, shuffled-doubling, one-peer-exponential, random-matching, or
    /// resampled:SPEC (a fresh graph each round)
    #[arg(long, value_name = "NAME")]
    pub(super) schedule: Option<String>,

    /// Number of nodes, with `--schedule` or `--path`
    #[arg(long, value_name = "N", value_parser = count)]
    pub(super) nodes: Option<usize>,

    /// Gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, or file:PATH
    #[arg(long, value_name = "W", default_value = "metropolis")]
    pub(super) weights: String,

    /// Mixing steps after each contribution [default: 1, or what the schedule has]
    #[arg(long, value_name = "K", value_parser = steps, allow_hyphen_values = true)]
    pub(super) steps: Option<usize>,

    /// Contributions of each node; for `walk` without `--path` and for random-walk-2024, visits of the token
    #[arg(long, value_name = "T", value_parser = count, allow_hyphen_values = true, default_value = "1")]
    pub(super) rounds: usize,

    /// Which theorem gives the figure
    #[arg(long, value_enum, value_name = "ANALYSIS")]
    pub(super) analysis: AnalysisArg,

    /// How `contractive` chooses where to absorb: the fastest, a tighter one, or the least (small runs only)
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodArg::Boundary)]
    pub(super) method: MethodArg,

    /// Lipschitz constant of the local update for `contractive` (1: convex, smooth loss and a step size of at most 2/β)
    #[arg(long, value_name = "ρ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    pub(super) rho: f64,

    /// The visits of a walk that was made: a file with a node per line, or comma-separated
    #[arg(long, value_name = "FILE")]
    pub(super) path: Option<PathBuf>,

    /// How the token of a walk that is not made yet will move: simple, lazy or metropolis
    #[arg(long, value_name = "KERNEL", default_value = "metropolis")]
    pub(super) kernel: String,

    /// Paths to sample for a walk that is not made yet
    #[arg(long, value_name = "P", value_parser = count, default_value = "200")]
    pub(super) samples: usize,

    /// Seed of sampled paths, and run id of schedules that shuffle
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(super) seed: u64,

    /// Which paper's formula `published` evaluates
    #[arg(long, value_enum, value_name = "PAPER", default_value_t = Formula::Muffliato2022)]
    pub(super) formula: Formula,

    /// Only these nodes watch, each for itself [default: every node]
    #[arg(long, value_name = "NODE", num_args = 1.., value_delimiter = ',', conflicts_with = "coalition")]
    pub(super) watcher: Vec<usize>,

    /// These nodes pool what they see
    #[arg(long, value_name = "i,j,…", value_delimiter = ',')]
    pub(super) coalition: Vec<usize>,

    /// Fresh noise on every message, as a multiple of σ (rounds only)
    #[arg(long, value_name = "τ", value_parser = not_negative, allow_hyphen_values = true, default_value = "0")]
    pub(super) message_noise: f64,
}

/// [`Analysis`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AnalysisArg {
    /// Exact for one averaging round, and for rounds that end in consensus
    Rounds,
    /// Sound for gossip SGD without consensus
    Contractive,
    /// Exact for contributions that do not depend on messages; for SGD not a guarantee
    Linear,
    /// Everybody sees everything
    Local,
    /// A token that walks over the graph
    Walk,
    /// What papers print, which can lie below the truth
    Published,
}

/// [`Method`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodArg {
    /// At seen messages only: fastest
    Boundary,
    /// Clipped linear feedback on a ball around the watcher: tighter
    Riccati,
    /// Non-negative least squares: the least bound, for small runs
    Optimum,
}

/// A published formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Formula {
    /// Per-message sum of Muffliato, NeurIPS 2022
    #[value(name = "muffliato-2022")]
    Muffliato2022,
    /// Closed form for random walks, ICML 2024
    #[value(name = "random-walk-2024")]
    RandomWalk2024,
    /// Sum over pairs of contributions of the paper on matrix factorisation, ICLR 2026
    #[value(name = "matrix-factorisation-2026")]
    MatrixFactorisation2026,
}

/// A question to the accountant, with everything that was named checked.
pub(super) struct Model {
    pub(super) analysis: Analysis,
    pub(super) method: Option<String>,
    pub(super) nodes: usize,
    pub(super) steps: usize,
    pub(super) rounds: usize,
    pub(super) message_noise: f64,
    pub(super) coalitions: Vec<Watchers>,
    pub(super) protocol: Protocol,
    pub(super) network: Option<Network>,
}

/// The graph that the nodes sit on, for distances and drawings.
pub(super) enum Network {
    /// As described.
    Built(Spec, Built),
    /// Who speaks with whom in the first round of a schedule.
    Exchanges(Graph),
}

impl Network {
    pub(super) fn built(spec: Spec, built: Built) -> Self {
        Self::Built(spec, built)
    }

    pub(super) fn graph(&self) -> &Graph {
        match self {
            Self::Built(_, built) => &built.graph,
            Self::Exchanges(graph) => graph,
        }
    }
}

/// What happens between the nodes.
pub(super) enum Protocol {
    Mixing { run: Run, pricing: Pricing },
    WalkedPath(Vec<usize>),
    PlannedWalk { kernel: MixingMatrix, visits: usize, samples: usize, seed: u64 },
    MuffliatoSum { matrix: MixingMatrix, steps: usize },
    RandomWalkClosedForm { matrix: MixingMatrix, visits: usize },
    MatrixFactorisationSum { matrix: MixingMatrix, rounds: usize },
}

impl ModelArgs {
    /// Builds graph, schedule and watchers.
    pub(super) fn model(&self) -> Result<Model> {
        self.refuse_what_does_not_apply()?;
        let network = self.network()?;
        let (protocol, nodes, steps, rounds) = match self.analysis {
            AnalysisArg::Walk => self.walk(network.as_ref())?,
            AnalysisArg::Published => self.published(network.as_ref())?,
            _ => self.mixing(network.as_ref())?,
        };
        let network = match (&protocol, network) {
            // Where every round has exchanges of its own, no distance means anything.
            (Protocol::Mixing { run, .. }, None) if run.rounds() == 1 || run.repeats() => {
                Some(Network::Exchanges(graph_of_first_round(run)?))
            }
            (_, network) => network,
        };
        let coalitions = self.coalitions(nodes)?;
        let method = self.method_name();
        let analysis = self.analysis.analysis();
        let message_noise = self.message_noise;
        Ok(Model { analysis, method, nodes, steps, rounds, message_noise, coalitions, protocol, network })
    }

    fn refuse_what_does_not_apply(&self) -> Result<()> {
        let given = self.topology.is_some() || self.schedule.is_some() || self.path.is_some();
        if !given {
            return Err(Failure::new("nothing says who speaks with whom")
                .hint("give --topology SPEC, or --schedule NAME --nodes N, or --path FILE for a walk"));
        }
        if self.path.is_some() && self.analysis != AnalysisArg::Walk {
            return Err(Failure::new(format!(
                "--path is for a walk, not for `{}`",
                self.analysis.analysis()
            ))
            .hint("use --analysis walk"));
        }
        if self.message_noise > 0.0 && self.analysis != AnalysisArg::Rounds {
            let analysis = self.analysis.analysis();
            return Err(Failure::new(format!("`{analysis}` does not count message noise"))
                .hint("message noise is priced by --analysis rounds; leaving it out of the others is on the safe side"));
        }
        if self.method != MethodArg::Boundary && self.analysis != AnalysisArg::Contractive {
            return Err(Failure::new(format!(
                "--method belongs to `contractive`, not to `{}`",
                self.analysis.analysis()
            )));
        }
        if self.schedule.is_some() && matches!(self.analysis, AnalysisArg::Walk | AnalysisArg::Published) {
            let analysis = self.analysis.analysis();
            return Err(Failure::new(format!("`{analysis}` needs a graph, not a schedule"))
                .hint("give --topology SPEC"));
        }
        Ok(())
    }

    fn network(&self) -> Result<Option<Network>> {
        let Some(text) = &self.topology else { return Ok(None) };
        let spec: Spec = text.parse()?;
        let built = if self.largest_component { spec.build_largest_component()? } else { spec.build()? };
        if let Some(nodes) = self.nodes.filter(|&nodes| nodes != built.graph.nodes()) {
            let found = built.graph.nodes();
            return Err(Failure::new(format!("--nodes {nodes}, but `{text}` has {found} nodes"))
                .hint("leave --nodes out: the graph says how many there are"));
        }
        Ok(Some(Network::built(spec, built)))
    }

    fn weights(&self) -> Result<Weights> {
        Ok(self.weights.parse()?)
    }

    fn mixing(&self, network: Option<&Network>) -> Result<(Protocol, usize, usize, usize)> {
        let run = match &self.schedule {
            None => {
                let graph = network.expect("refused before where neither is given").graph();
                Run::on_graph(self.weights()?.matrix(graph)?, self.steps.unwrap_or(1), self.rounds)?
            }
            Some(name) => self.scheduled(name, network)?,
        };
        let sender = if self.schedule.is_some() { Sender::Adopts } else { Sender::KeepsClean };
        let pricing = match self.analysis {
            AnalysisArg::Rounds if self.message_noise > 0.0 => {
                Pricing::NoisyRounds(self.message_noise, sender)
            }
            AnalysisArg::Rounds => Pricing::Rounds,
            AnalysisArg::Contractive => {
                Pricing::Contractive(self.method.method(), Update::lipschitz(self.rho)?)
            }
            AnalysisArg::Linear => Pricing::Linear,
            AnalysisArg::Local | AnalysisArg::Walk | AnalysisArg::Published => Pricing::Local,
        };
        let (nodes, steps, rounds) = (run.nodes(), run.phase(0).steps().len(), run.rounds());
        Ok((Protocol::Mixing { run, pricing }, nodes, steps, rounds))
    }

    fn scheduled(&self, name: &str, network: Option<&Network>) -> Result<Run> {
        let schedule = self.named_schedule(name.parse()?, network)?;
        let nodes = match (network, self.nodes) {
            (Some(network), _) => network.graph().nodes(),
            (None, Some(nodes)) => nodes,
            (None, None) => return Err(Failure::new(format!("--schedule {name} needs --nodes N"))),
        };
        Ok(Run::on_schedule(&schedule, nodes, self.rounds)?)
    }

    fn named_schedule(&self, spec: ScheduleSpec, network: Option<&Network>) -> Result<Schedule> {
        let key = RunKey::new(&self.seed.to_string());
        let steps = self.steps.unwrap_or(1);
        let needs_no_steps = matches!(
            spec,
            ScheduleSpec::Doubling | ScheduleSpec::ShuffledDoubling | ScheduleSpec::OnePeerExponential
        );
        if needs_no_steps && self.steps.is_some() {
            return Err(
                Failure::new(format!("`{spec}` has its own number of steps")).hint("leave --steps out")
            );
        }
        let graph = || network.map(|network| Arc::new(network.graph().clone()));
        Ok(match spec {
            ScheduleSpec::Doubling => Schedule::Doubling,
            ScheduleSpec::OnePeerExponential => Schedule::OnePeerExponential,
            ScheduleSpec::ShuffledDoubling => Schedule::ShuffledDoubling { key },
            ScheduleSpec::RandomMatching => Schedule::RandomMatching { graph: graph(), key, steps },
            ScheduleSpec::Resampled(spec) => {
                Schedule::Resampled { spec, weights: self.weights()?, key, steps }
            }
            ScheduleSpec::Fixed => {
                let graph = graph().ok_or_else(|| Failure::new("--schedule fixed needs --topology SPEC"))?;
                Schedule::fixed(graph, &self.weights()?, steps)?
            }
        })
    }

    fn walk(&self, network: Option<&Network>) -> Result<(Protocol, usize, usize, usize)> {
        if let Some(file) = &self.path {
            let path = super::path_file::read(file)?;
            let largest = path.iter().max().map_or(0, |&node| node + 1);
            let nodes = network.map_or(self.nodes.unwrap_or(largest), |network| network.graph().nodes());
            let rounds = path.len();
            return Ok((Protocol::WalkedPath(path), nodes, 1, rounds));
        }
        let graph = network.expect("refused before where there is neither graph nor path").graph();
        let kernel = self.kernel.parse::<WalkKernel>()?.matrix(graph)?;
        let (visits, samples, seed) = (self.rounds, self.samples, self.seed);
        Ok((Protocol::PlannedWalk { kernel, visits, samples, seed }, graph.nodes(), 1, visits))
    }

    fn published(&self, network: Option<&Network>) -> Result<(Protocol, usize, usize, usize)> {
        let network = network.ok_or_else(|| Failure::new("`published` needs --topology SPEC"))?;
        let matrix = self.weights()?.matrix(network.graph())?;
        let nodes = matrix.nodes();
        match self.formula {
            Formula::RandomWalk2024 => {
                Ok((Protocol::RandomWalkClosedForm { matrix, visits: self.rounds }, nodes, 1, self.rounds))
            }
            Formula::MatrixFactorisation2026 if self.coalition.len() > 1 => {
                Err(Failure::new("the formula of matrix factorisation is for single watchers here")
                    .hint("`--analysis linear` prices coalitions"))
            }
            Formula::MatrixFactorisation2026 => {
                Ok((Protocol::MatrixFactorisationSum { matrix, rounds: self.rounds }, nodes, 1, self.rounds))
            }
            Formula::Muffliato2022 if self.rounds > 1 => {
                Err(Failure::new("the formula of Muffliato is for one contribution")
                    .hint("leave --rounds out"))
            }
            Formula::Muffliato2022 if self.coalition.len() > 1 => {
                Err(Failure::new("the formula of Muffliato is for single watchers, not for coalitions"))
            }
            Formula::Muffliato2022 => {
                let steps = self.steps.unwrap_or(1);
                Ok((Protocol::MuffliatoSum { matrix, steps }, nodes, steps, 1))
            }
        }
    }

    fn coalitions(&self, nodes: usize) -> Result<Vec<Watchers>> {
        if !self.coalition.is_empty() {
            return Ok(vec![Watchers::new(&self.coalition, nodes)?]);
        }
        let alone = |node: usize| Ok(Watchers::new(&[node], nodes)?);
        if self.watcher.is_empty() {
            (0..nodes).map(alone).collect()
        } else {
            self.watcher.iter().copied().map(alone).collect()
        }
    }

    fn method_name(&self) -> Option<String> {
        let value = match self.analysis {
            AnalysisArg::Contractive => self.method.to_possible_value(),
            AnalysisArg::Published => self.formula.to_possible_value(),
            AnalysisArg::Walk => {
                return Some(if self.path.is_some() { "taut-string" } else { "monte-carlo" }.into());
            }
            AnalysisArg::Rounds | AnalysisArg::Linear | AnalysisArg::Local => None,
        };
        value.map(|value| value.get_name().to_owned())
    }
}

impl AnalysisArg {
    pub(super) fn analysis(self) -> Analysis {
        match self {
            Self::Rounds => Analysis::Rounds,
            Self::Contractive => Analysis::Contractive,
            Self::Linear => Analysis::Linear,
            Self::Local => Analysis::Local,
            Self::Walk => Analysis::Walk,
            Self::Published => Analysis::Published,
        }
    }
}

impl MethodArg {
    fn method(self) -> Method {
        match self {
            Self::Boundary => Method::Boundary,
            Self::Riccati => Method::Riccati,
            Self::Optimum => Method::Optimum,
        }
    }
}

/// Who speaks with whom in the first round of a schedule: the graph that distances are measured on.
fn graph_of_first_round(run: &Run) -> Result<Graph> {
    let mut edges = Vec::new();
    for step in run.phase(0).steps() {
        for node in 0..run.nodes() {
            edges.extend(step.matrix().heard_by(node).map(|from| (node as u32, from as u32)));
        }
    }
    Ok(Graph::from_edges(run.nodes(), &edges)?.0)
}
