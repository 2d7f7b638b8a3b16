//! What does pairwise noise that nearly cancels hide?

use super::QuestionError;
use super::error::{not_negative, positive};
use crate::network::gopa::{Gopa, Seen, loss, residual_variance};
use serde::{Deserialize, Serialize};
use topology::Spec;

/// A graph of shared noise, and who watches or vanished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The graph, as it is written.
    pub topology: String,
    /// σ_η: noise of one's own.
    pub sigma_eta: f64,
    /// σ_Δ: noise that two neighbours share with opposite signs.
    pub sigma_delta: f64,
    /// Nodes that pool what they know.
    #[serde(default)]
    pub coalition: Vec<usize>,
    /// Nodes that agreed on noise and published nothing.
    #[serde(default)]
    pub dropped: Vec<usize>,
    /// Whether the others took the noise of the dropped out again.
    #[serde(default)]
    pub repaired: bool,
}

/// What every node loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// μ² of each node for a change of length 1.
    pub loss: Vec<f64>,
    /// What drop-outs leave of pairwise noise in the sum.
    pub residual_variance: f64,
    /// Number of nodes.
    pub nodes: usize,
    /// The name of the analysis.
    pub analysis: &'static str,
    /// What the figures promise.
    pub guarantee: &'static str,
    /// What must hold for them.
    pub assumes: &'static str,
}

impl Question {
    /// Prices every node.
    ///
    /// # Guarantee
    /// [`Answer::guarantee`].
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// Graphs that cannot be made, nodes that are not there, noise that is not positive.
    pub fn answer(&self) -> Result<Answer, QuestionError> {
        positive("--sigma-eta", self.sigma_eta)?;
        not_negative("--sigma-delta", self.sigma_delta)?;
        let graph = self.topology.parse::<Spec>()?.build()?.graph;
        let noise = Gopa { own: self.sigma_eta, pairwise: self.sigma_delta };
        let seen = Seen { coalition: &self.coalition, dropped: &self.dropped, repaired: self.repaired };
        Ok(Answer {
            loss: loss(&graph, noise, seen)?,
            residual_variance: residual_variance(&graph, noise, seen)?,
            nodes: graph.nodes(),
            analysis: "gopa",
            guarantee: "All that was published has exactly this loss (rounded up) for the coalition, for one round of averaging.",
            assumes: "Members follow the protocol; independent Gaussian noises of real numbers; pairwise noise is known to its two ends only.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_graph_of_five_has_the_losses_of_the_design() {
        let question = Question {
            topology: "complete:5".into(),
            sigma_eta: 1.0,
            sigma_delta: 0.5,
            coalition: vec![4],
            dropped: vec![2],
            repaired: false,
        };
        let answer = question.answer().unwrap();
        answer.loss.iter().zip([0.6, 0.6, 0.0, 0.6, 0.0]).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        assert_eq!(answer.residual_variance, 1.0);
        assert!(Question { sigma_eta: 0.0, ..question.clone() }.answer().is_err());
        assert!(Question { coalition: vec![5], ..question.clone() }.answer().is_err());
        assert!(Question { topology: "nonsense".into(), ..question }.answer().is_err());
    }
}
