//! How much noise for a target?

use super::error::{not_negative, positive, probability};
use super::noise::Noise;
use super::posed::{Posed, Protocol};
use super::summary::Summary;
use super::{QuestionError, Situation};
use crate::network::calibrate::{Target, per_node_sigma, sigma};
use crate::network::{Analysis, Pricing, Waiting};
use serde::{Deserialize, Serialize};

/// A situation, and the (ε, δ) that it is to meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Who speaks and who watches.
    pub situation: Situation,
    /// The ε to meet.
    pub epsilon: f64,
    /// The δ to meet it at.
    pub delta: f64,
    /// Which loss is to meet it: `worst`, `mean`, `pNN` or `pair:u,v`; see [`Target`].
    #[serde(default = "worst")]
    pub of: String,
    /// Also noise for each node of its own (`rounds` and the worst pair only).
    #[serde(default)]
    pub per_node: bool,
    /// Largest change (L2) of a contribution when the protected data change (Δ).
    #[serde(default = "one")]
    pub sensitivity: f64,
}

fn worst() -> String {
    "worst".into()
}

fn one() -> f64 {
    1.0
}

/// The noise, and what it leads to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The least σ that meets the target.
    pub sigma: f64,
    /// Which loss meets it.
    pub of: String,
    /// The ε asked for.
    pub epsilon: f64,
    /// The δ asked for.
    pub delta: f64,
    /// Δ.
    pub sensitivity: f64,
    /// μ² of that loss for Δ = σ = 1.
    pub unit_mu2: f64,
    /// Which theorem gave it.
    pub analysis: Analysis,
    /// How the analysis was made, where there are several ways.
    pub method: Option<&'static str>,
    /// Number of nodes.
    pub nodes: usize,
    /// Mixing steps after each contribution.
    pub steps: usize,
    /// Contributions of each node.
    pub rounds: usize,
    /// Noise on every message, as a multiple of σ.
    pub message_noise: f64,
    /// What the figures promise.
    pub guarantee: &'static str,
    /// What must hold for them.
    pub assumes: &'static str,
    /// ε of the worst pair with this noise.
    pub worst: Option<f64>,
    /// Mean ε of all pairs with this noise.
    pub mean: f64,
    /// Noise for each node instead, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigmas: Option<Vec<f64>>,
}

impl Question {
    /// Finds the noise.
    ///
    /// # Guarantee
    /// With σ = [`Answer::sigma`] the loss named by `of` is (ε, δ)-DP, as [`Answer::guarantee`] says.
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// What makes no sense, what the analysis refuses, and figures that promise nothing.
    pub fn answer(&self, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        self.answer_posed(&self.situation.posed()?, waiting)
    }

    /// As [`Question::answer`], on a graph that is at hand.
    ///
    /// # Guarantee
    /// As [`Question::answer`].
    ///
    /// # Assumes
    /// As [`Question::answer`].
    ///
    /// # Errors
    /// As [`Question::answer`].
    pub fn answer_on(&self, graph: topology::Graph, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        self.answer_posed(&self.situation.posed_on(graph)?, waiting)
    }

    fn answer_posed(&self, posed: &Posed, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        let target = self.of.parse::<Target>();
        let target = target.map_err(|why| QuestionError::Of { text: self.of.clone(), why })?;
        not_negative("--epsilon", self.epsilon)?;
        probability("--delta", self.delta, "1e-5")?;
        positive("--sensitivity", self.sensitivity)?;
        if posed.analysis == Analysis::Published {
            return Err(QuestionError::NoGuarantee);
        }
        let unit = posed.unit_losses(waiting)?;
        let rows: Vec<&[f64]> = unit.chunks_exact(posed.nodes).collect();
        let unit_mu2 = target.of(&rows, &posed.coalitions)?;
        let sigma = sigma(unit_mu2, self.epsilon, self.delta, self.sensitivity)?;
        let sigmas = if self.per_node { Some(self.per_node(posed, target)?) } else { None };
        let noise = Noise { sigma, sensitivity: self.sensitivity, delta: self.delta };
        let priced = posed.converted(unit, noise)?;
        let network = posed.network.as_ref();
        let summary = Summary::of(&posed.coalitions, network, priced.mu2.view(), priced.epsilon.view());
        Ok(Answer {
            sigma,
            of: self.of.clone(),
            epsilon: self.epsilon,
            delta: self.delta,
            sensitivity: self.sensitivity,
            unit_mu2,
            analysis: posed.analysis,
            method: posed.method,
            nodes: posed.nodes,
            steps: posed.steps,
            rounds: posed.rounds,
            message_noise: posed.message_noise,
            guarantee: posed.guarantee(),
            assumes: posed.assumes(),
            worst: summary.worst.map(|worst| worst.epsilon),
            mean: summary.all.epsilon.mean,
            sigmas,
        })
    }

    fn per_node(&self, posed: &Posed, target: Target) -> Result<Vec<f64>, QuestionError> {
        match &posed.protocol {
            Protocol::Mixing { run, pricing: Pricing::Rounds } if target == Target::Worst => {
                Ok(per_node_sigma(run, &posed.coalitions, (self.epsilon, self.delta), self.sensitivity)?)
            }
            _ => Err(QuestionError::PerNode),
        }
    }
}
