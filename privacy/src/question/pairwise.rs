//! Who learns how much about whom?

use super::noise::Noise;
use super::posed::{Network, Posed};
use super::summary::{Summary, distances};
use super::{QuestionError, Situation, rows};
use crate::network::{Analysis, Waiting, Watchers};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A situation, and the noise in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Who speaks and who watches.
    pub situation: Situation,
    /// What losses are converted with.
    #[serde(default)]
    pub noise: Noise,
}

/// Losses of every node towards every coalition: a row per coalition, a column per node, NaN for its members (null in JSON).
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Which theorem gave the figures.
    pub analysis: Analysis,
    /// What must hold for them.
    pub assumes: &'static str,
    /// δ at which ε is given.
    pub delta: f64,
    /// What they promise.
    pub guarantee: &'static str,
    /// Noise on every message, as a multiple of σ.
    pub message_noise: f64,
    /// How the analysis was made, where there are several ways.
    pub method: Option<&'static str>,
    /// Number of nodes.
    pub nodes: usize,
    /// Contributions of each node.
    pub rounds: usize,
    /// Δ.
    pub sensitivity: f64,
    /// σ.
    pub sigma: f64,
    /// Mixing steps after each contribution.
    pub steps: usize,
    /// Everybody who watches, row by row.
    pub watchers: Vec<usize>,
    /// Gaussian DP, squared.
    #[serde(serialize_with = "rows::serialize")]
    pub mu2: Array2<f64>,
    /// ε at δ.
    #[serde(serialize_with = "rows::serialize")]
    pub epsilon: Array2<f64>,
    /// Half the width of the 95 % confidence interval of μ², where paths were sampled.
    #[serde(serialize_with = "rows::serialize_some", skip_serializing_if = "Option::is_none")]
    pub mu2_margin_95: Option<Array2<f64>>,
    /// Upper end of the 95 % confidence interval of the Rényi divergence at order 2, where paths were sampled.
    #[serde(serialize_with = "rows::serialize_some", skip_serializing_if = "Option::is_none")]
    pub renyi_2_upper_95: Option<Array2<f64>>,
    /// Who pools what they see: one coalition per row.
    #[serde(skip)]
    pub coalitions: Vec<Watchers>,
    /// The graph that distances are measured on.
    #[serde(skip)]
    pub network: Option<Network>,
    /// ε of somebody who sees every message, where the protocol says how often each node contributes.
    #[serde(skip)]
    pub local_epsilon: Option<f64>,
}

impl Question {
    /// Prices every pair.
    ///
    /// # Guarantee
    /// [`Answer::guarantee`].
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// What makes no sense, and what the analysis refuses.
    pub fn answer(&self, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        let noise = self.noise.check()?;
        Answer::of(self.situation.posed()?, noise, waiting)
    }

    /// As [`Question::answer`], on a graph that is at hand.
    ///
    /// # Guarantee
    /// [`Answer::guarantee`].
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// As [`Question::answer`].
    pub fn answer_on(&self, graph: topology::Graph, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        let noise = self.noise.check()?;
        Answer::of(self.situation.posed_on(graph)?, noise, waiting)
    }
}

impl Answer {
    pub(super) fn of(posed: Posed, noise: Noise, waiting: &Waiting<'_>) -> Result<Self, QuestionError> {
        let priced = posed.priced(noise, waiting)?;
        Ok(Self {
            analysis: posed.analysis,
            assumes: posed.assumes(),
            delta: noise.delta,
            guarantee: posed.guarantee(),
            message_noise: posed.message_noise,
            method: posed.method,
            nodes: posed.nodes,
            rounds: posed.rounds,
            sensitivity: noise.sensitivity,
            sigma: noise.sigma,
            steps: posed.steps,
            watchers: posed.coalitions.iter().flat_map(|watchers| watchers.members().to_vec()).collect(),
            mu2: priced.mu2,
            epsilon: priced.epsilon,
            mu2_margin_95: priced.margin,
            renyi_2_upper_95: priced.renyi_2,
            local_epsilon: posed.local_epsilon(noise),
            coalitions: posed.coalitions,
            network: posed.network,
        })
    }

    /// All pairs in a few numbers.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.coalitions, self.network.as_ref(), self.mu2.view(), self.epsilon.view())
    }

    /// Steps between each node and the nearest watcher of a row, on the graph or on the first round's exchanges.
    pub fn distances(&self, row: usize) -> Option<Vec<Option<u32>>> {
        self.network.as_ref().map(|network| distances(network, &self.coalitions[row]))
    }

    /// The name of a node: its label, or its number.
    pub fn label(&self, node: usize) -> String {
        match &self.network {
            Some(network) if network.graph().labels().is_some() => {
                format!("{} ({node})", network.graph().label(node))
            }
            _ => format!("node {node}"),
        }
    }
}
