//! Which graph, for the same final error?
//!
//! Every graph gets as many gossip steps as it needs to come within the same tolerance of the mean, and the exact loss of these steps
//! (analysis `rounds`, one contribution) is shown beside what they cost in messages. Recursive doubling over as many nodes, which reaches
//! the mean exactly, stands below for comparison.

use super::error::{positive, probability};
use super::noise::Noise;
use super::pairwise;
use super::posed::{Network, Posed, Protocol};
use super::{AtDistance, QuestionError};
use crate::network::{Analysis, Pricing, Run, Step, Waiting, Watchers};
use serde::{Deserialize, Serialize};
use topology::{Schedule, Spec, Spectrum, Weights};

/// Some graphs, and how near to the mean they are to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// The graphs, as they are written.
    pub graphs: Vec<String>,
    /// Take the largest component of graphs in parts.
    pub largest_component: bool,
    /// Gossip weights by name.
    pub weights: String,
    /// Every graph mixes until disagreement has shrunk to this share.
    pub tolerance: f64,
    /// Chebyshev-accelerated gossip: fewer steps, and so fewer messages to learn from.
    pub accelerated: bool,
    /// What losses are converted with.
    pub noise: Noise,
    /// Watchers per graph; they are spread evenly over the nodes where there are more nodes.
    pub watchers: usize,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            graphs: Vec::new(),
            largest_component: false,
            weights: "metropolis".into(),
            tolerance: 1e-3,
            accelerated: false,
            noise: Noise::default(),
            watchers: 128,
        }
    }
}

/// A row for every graph, then one for doubling over as many nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Share to which disagreement has shrunk.
    pub tolerance: f64,
    /// The noise, and the δ at which ε is given.
    #[serde(flatten)]
    pub noise: Noise,
    /// What the figures promise.
    pub guarantee: &'static str,
    /// What must hold for them.
    pub assumes: &'static str,
    /// The graphs.
    pub rows: Vec<Row>,
}

/// One graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As it was written.
    pub graph: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Gossip steps that it needs.
    pub steps: usize,
    /// Messages that a node sends for them, on average.
    pub messages_per_node: f64,
    /// How many nodes were asked what they learn.
    pub watchers: usize,
    /// Over all pairs.
    pub epsilon: Losses,
    /// Which theorem gave it.
    pub analysis: Analysis,
    /// The pairs at each distance.
    pub by_distance: Vec<AtDistance>,
}

/// ε of all pairs of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Losses {
    /// The mean.
    pub mean: f64,
    /// The pair that loses most.
    pub worst: f64,
}

impl Question {
    /// Compares.
    ///
    /// # Guarantee
    /// [`Answer::guarantee`].
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// Graphs that cannot be made or never mix.
    pub fn answer(&self, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        let noise = self.noise.check()?;
        probability("--tolerance", self.tolerance, "1e-3")?;
        positive("--watchers", self.watchers as f64)?;
        let graphs = self.graphs.iter().map(|graph| self.graph_row(graph, waiting));
        let mut rows = graphs.collect::<Result<Vec<Row>, _>>()?;
        let mut sizes: Vec<usize> = rows.iter().map(|row| row.nodes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for nodes in sizes {
            rows.push(self.doubling_row(nodes, waiting)?);
        }
        let (guarantee, assumes) = (Analysis::Rounds.guarantee(), Analysis::Rounds.assumes());
        Ok(Answer { tolerance: self.tolerance, noise, guarantee, assumes, rows })
    }

    fn graph_row(&self, text: &str, waiting: &Waiting<'_>) -> Result<Row, QuestionError> {
        let spec: Spec = text.parse()?;
        let built = if self.largest_component { spec.build_largest_component()? } else { spec.build()? };
        let matrix = self.weights.parse::<Weights>()?.matrix(&built.graph)?;
        let spectrum = Spectrum::of(&matrix)?;
        let found = if self.accelerated {
            spectrum.chebyshev_rounds(self.tolerance)?
        } else {
            spectrum.mixing_rounds(self.tolerance)?
        };
        let never = || QuestionError::NeverMixes { graph: text.to_owned(), weights: self.weights.clone() };
        let steps = found.ok_or_else(never)? as usize;
        let messages = steps as f64 * 2.0 * built.graph.edges() as f64 / built.graph.nodes() as f64;
        let run = Run::on_graph(matrix, steps, 1)?;
        let posed = self.posed(run, Some(Network::Built(Box::new((spec, built)))))?;
        self.row(text.to_owned(), messages, posed, waiting)
    }

    fn doubling_row(&self, nodes: usize, waiting: &Waiting<'_>) -> Result<Row, QuestionError> {
        let run = Run::on_schedule(&Schedule::Doubling, nodes, 1)?;
        let heard = |step: &Step| (0..nodes).map(|node| step.matrix().heard_by(node).count()).sum::<usize>();
        let heard: usize = run.phase(0).steps().iter().map(heard).sum();
        let posed = self.posed(run, None)?;
        self.row(format!("doubling of {nodes}"), heard as f64 / nodes as f64, posed, waiting)
    }

    fn posed(&self, run: Run, network: Option<Network>) -> Result<Posed, QuestionError> {
        let nodes = run.nodes();
        let watchers = self.watchers.min(nodes);
        let spread = (0..watchers).map(|at| Watchers::new(&[at * nodes / watchers], nodes));
        Ok(Posed {
            analysis: Analysis::Rounds,
            method: None,
            nodes,
            steps: run.phase(0).steps().len(),
            rounds: run.rounds(),
            message_noise: 0.0,
            coalitions: spread.collect::<Result<Vec<_>, _>>()?,
            protocol: Protocol::Mixing { run, pricing: Pricing::Rounds },
            network,
        })
    }

    fn row(
        &self,
        graph: String,
        messages_per_node: f64,
        posed: Posed,
        waiting: &Waiting<'_>,
    ) -> Result<Row, QuestionError> {
        let pairs = pairwise::Answer::of(posed, self.noise, waiting)?;
        let summary = pairs.summary();
        Ok(Row {
            graph,
            nodes: pairs.nodes,
            steps: pairs.steps,
            messages_per_node,
            watchers: pairs.coalitions.len(),
            epsilon: Losses { mean: summary.all.epsilon.mean, worst: summary.all.epsilon.max },
            analysis: pairs.analysis,
            by_distance: summary.by_distance,
        })
    }
}
