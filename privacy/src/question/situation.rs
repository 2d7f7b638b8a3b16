//! A network, a protocol and its watchers, as they are named; [`Situation::posed`] checks and builds what the names mean.

use super::error::{MATRIX_FACTORISATION, QuestionError, not_negative, positive};
use super::posed::{Network, Posed, Protocol};
use crate::network::contractive::{Method, Update};
use crate::network::message_noise::Sender;
use crate::network::published::Formula;
use crate::network::{Analysis, NetworkError, Pricing, Run, Watchers};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use topology::schedule::Setting;
use topology::{Graph, ScheduleSpec, Spec, WalkKernel, Weights};

/// Who speaks with whom, how often, and who watches. Unnamed means the default, and without another analysis everybody sees everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Situation {
    /// The graph: `family:size[,key=value…]`, `file:PATH`, or a built-in name such as `karate`.
    pub topology: Option<String>,
    /// Take the largest component of a graph in parts.
    pub largest_component: bool,
    /// Instead of a fixed graph, a schedule by name.
    pub schedule: Option<String>,
    /// Number of nodes, with `schedule` or `path`.
    pub nodes: Option<usize>,
    /// Gossip weights by name.
    pub weights: String,
    /// Mixing steps after each contribution; 1, or what the schedule has.
    pub steps: Option<usize>,
    /// Contributions of each node, or visits of a token that has not walked yet.
    pub rounds: usize,
    /// Which theorem gives the figure.
    pub analysis: Analysis,
    /// How `contractive` chooses where to absorb.
    pub method: Method,
    /// Lipschitz constant of the local update for `contractive`.
    pub rho: f64,
    /// The visits of a walk that was made.
    pub path: Option<Vec<usize>>,
    /// How the token of a walk that is not made yet will move.
    pub kernel: String,
    /// Paths to sample for a walk that is not made yet.
    pub samples: usize,
    /// Seed of sampled paths, and run id of schedules that shuffle.
    pub seed: u64,
    /// Which paper's formula `published` evaluates.
    pub formula: Formula,
    /// Only these nodes watch, each for itself; nobody named is every node.
    pub watcher: Vec<usize>,
    /// These nodes pool what they see.
    pub coalition: Vec<usize>,
    /// Fresh noise on every message, as a multiple of σ (`rounds` only).
    pub message_noise: f64,
}

impl Default for Situation {
    fn default() -> Self {
        Self {
            topology: None,
            largest_component: false,
            schedule: None,
            nodes: None,
            weights: "metropolis".into(),
            steps: None,
            rounds: 1,
            analysis: Analysis::Local,
            method: Method::Boundary,
            rho: 1.0,
            path: None,
            kernel: "metropolis".into(),
            samples: 200,
            seed: 0,
            formula: Formula::Muffliato2022,
            watcher: Vec::new(),
            coalition: Vec::new(),
            message_noise: 0.0,
        }
    }
}

/// A protocol as it is laid out, with how many nodes take part, mixing steps and contributions.
type Laid = (Protocol, usize, usize, usize);

impl Situation {
    /// Builds graph, schedule and watchers.
    ///
    /// # Errors
    /// Names that mean nothing, and options that do not go together.
    pub fn posed(&self) -> Result<Posed, QuestionError> {
        let network = match &self.topology {
            Some(text) => {
                let spec: Spec = text.parse()?;
                let built =
                    if self.largest_component { spec.build_largest_component()? } else { spec.build()? };
                Some(Network::Built(Box::new((spec, built))))
            }
            None => None,
        };
        self.posed_with(network)
    }

    /// As [`Situation::posed`], on a graph that is at hand; `topology`, if there is one, is its name.
    ///
    /// # Errors
    /// As [`Situation::posed`].
    pub fn posed_on(&self, graph: Graph) -> Result<Posed, QuestionError> {
        self.posed_with(Some(Network::Given(graph)))
    }

    fn posed_with(&self, network: Option<Network>) -> Result<Posed, QuestionError> {
        let graph = network.as_ref().map(Network::graph);
        self.refuse_what_does_not_apply(graph)?;
        let (protocol, nodes, steps, rounds) = match self.analysis {
            Analysis::Walk => self.walk(graph)?,
            Analysis::Published => self.published(graph)?,
            Analysis::Rounds => {
                let noisy = self.message_noise > 0.0;
                let sender = if self.schedule.is_some() { Sender::Adopts } else { Sender::KeepsClean };
                let noisily = Pricing::NoisyRounds(self.message_noise, sender);
                self.mixing(graph, if noisy { noisily } else { Pricing::Rounds })?
            }
            Analysis::Contractive => {
                self.mixing(graph, Pricing::Contractive(self.method, Update::lipschitz(self.rho)?))?
            }
            Analysis::Linear => self.mixing(graph, Pricing::Linear)?,
            Analysis::Local => self.mixing(graph, Pricing::Local)?,
        };
        let network = match network {
            Some(network) => Some(network),
            None => protocol.exchanges()?.map(Network::Exchanges),
        };
        Ok(Posed {
            analysis: self.analysis,
            method: self.method_name(),
            nodes,
            steps,
            rounds,
            message_noise: self.message_noise,
            coalitions: self.coalitions(nodes)?,
            protocol,
            network,
        })
    }

    fn refuse_what_does_not_apply(&self, graph: Option<&Graph>) -> Result<(), QuestionError> {
        let analysis = self.analysis;
        if graph.is_none() && self.schedule.is_none() && self.path.is_none() {
            return Err(QuestionError::NobodySpeaks);
        }
        if self.path.is_some() && analysis != Analysis::Walk {
            return Err(QuestionError::PathOfNoWalk(analysis));
        }
        not_negative("--message-noise", self.message_noise)?;
        if self.message_noise > 0.0 && analysis != Analysis::Rounds {
            return Err(QuestionError::MessageNoise(analysis));
        }
        if self.method != Method::Boundary && analysis != Analysis::Contractive {
            return Err(QuestionError::MethodOf(analysis));
        }
        if self.schedule.is_some() && matches!(analysis, Analysis::Walk | Analysis::Published) {
            return Err(QuestionError::NeedsGraph(analysis));
        }
        positive("--rounds", self.rounds as f64)?;
        match (graph.map(Graph::nodes), self.nodes) {
            (Some(found), Some(asked)) if found != asked => Err(QuestionError::NodesDiffer {
                asked,
                graph: self.topology.clone().unwrap_or_else(|| "the graph".into()),
                found,
            }),
            _ => Ok(()),
        }
    }

    fn mixing(&self, graph: Option<&Graph>, pricing: Pricing) -> Result<Laid, QuestionError> {
        let run = match (&self.schedule, graph) {
            (Some(name), _) => self.scheduled(name, graph)?,
            (None, Some(graph)) => {
                let matrix = self.weights.parse::<Weights>()?.matrix(graph)?;
                Run::on_graph(matrix, self.steps.unwrap_or(1), self.rounds)?
            }
            (None, None) => return Err(QuestionError::NobodySpeaks),
        };
        let (nodes, steps, rounds) = (run.nodes(), run.phase(0).steps().len(), run.rounds());
        Ok((Protocol::Mixing { run, pricing }, nodes, steps, rounds))
    }

    fn scheduled(&self, name: &str, graph: Option<&Graph>) -> Result<Run, QuestionError> {
        let spec: ScheduleSpec = name.parse()?;
        let says_steps = matches!(
            spec,
            ScheduleSpec::Doubling | ScheduleSpec::ShuffledDoubling | ScheduleSpec::OnePeerExponential
        );
        if says_steps && self.steps.is_some() {
            return Err(QuestionError::StepsOfSchedule(spec.to_string()));
        }
        let schedule = spec.schedule(&Setting {
            graph: graph.map(|graph| Arc::new(graph.clone())),
            weights: self.weights.parse()?,
            steps: self.steps.unwrap_or(1),
            run_id: self.seed.to_string(),
        })?;
        let nodes = graph.map(Graph::nodes).or(self.nodes);
        let nodes = nodes.ok_or_else(|| QuestionError::NeedsNodes(name.to_owned()))?;
        Ok(Run::on_schedule(&schedule, nodes, self.rounds)?)
    }

    fn walk(&self, graph: Option<&Graph>) -> Result<Laid, QuestionError> {
        if let Some(path) = &self.path {
            let last = path.iter().max().ok_or(NetworkError::NothingHappens)?;
            let nodes = graph.map_or(self.nodes.unwrap_or(last + 1), Graph::nodes);
            return Ok((Protocol::WalkedPath(path.clone()), nodes, 1, path.len()));
        }
        let graph = graph.ok_or(QuestionError::NobodySpeaks)?;
        let kernel = self.kernel.parse::<WalkKernel>()?.matrix(graph)?;
        let (visits, samples, seed) = (self.rounds, self.samples, self.seed);
        Ok((Protocol::PlannedWalk { kernel, visits, samples, seed }, graph.nodes(), 1, visits))
    }

    fn published(&self, graph: Option<&Graph>) -> Result<Laid, QuestionError> {
        let graph = graph.ok_or(QuestionError::PublishedNeedsGraph)?;
        let matrix = self.weights.parse::<Weights>()?.matrix(graph)?;
        let (nodes, rounds, together) = (matrix.nodes(), self.rounds, self.coalition.len() > 1);
        match self.formula {
            Formula::RandomWalk2024 if together => {
                Err(QuestionError::SingleWatchers("random walks is for single watchers, not for coalitions"))
            }
            Formula::RandomWalk2024 => {
                Ok((Protocol::RandomWalkClosedForm { matrix, visits: rounds }, nodes, 1, rounds))
            }
            Formula::MatrixFactorisation2026 if together => {
                Err(QuestionError::SingleWatchers(MATRIX_FACTORISATION))
            }
            Formula::MatrixFactorisation2026 => {
                Ok((Protocol::MatrixFactorisationSum { matrix, rounds }, nodes, 1, rounds))
            }
            Formula::Muffliato2022 if rounds > 1 => Err(QuestionError::OneContribution),
            Formula::Muffliato2022 if together => {
                Err(QuestionError::SingleWatchers("Muffliato is for single watchers, not for coalitions"))
            }
            Formula::Muffliato2022 => {
                let steps = self.steps.unwrap_or(1);
                Ok((Protocol::MuffliatoSum { matrix, steps }, nodes, steps, 1))
            }
        }
    }

    fn coalitions(&self, nodes: usize) -> Result<Vec<Watchers>, QuestionError> {
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

    fn method_name(&self) -> Option<&'static str> {
        match self.analysis {
            Analysis::Contractive => Some(self.method.name()),
            Analysis::Published => Some(self.formula.name()),
            Analysis::Walk => Some(if self.path.is_some() { "taut-string" } else { "monte-carlo" }),
            Analysis::Rounds | Analysis::Linear | Analysis::Local => None,
        }
    }
}
