//! What does pairwise noise that nearly cancels hide?

use super::QuestionError;
use super::error::{not_negative, positive};
use crate::network::NetworkError;
use crate::network::gopa::{Gopa, Seen, loss, loss_of_rows, residual_variance};
use serde::{Deserialize, Serialize};
use topology::{Graph, Spec};

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
    /// Sums of what was published, each by the nodes in it, where only these were seen; nothing: all that was published.
    #[serde(default)]
    pub rows: Vec<Vec<usize>>,
    /// Nodes among the dropped out whose values came late, after the others had taken their noise out again.
    #[serde(default)]
    pub late: Vec<usize>,
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
            loss: self.losses(&graph, noise, seen)?,
            residual_variance: residual_variance(&graph, noise, seen)?,
            nodes: graph.nodes(),
            analysis: "gopa",
            guarantee: "All that was published has exactly this loss (rounded up) for the coalition, for one round of averaging.",
            assumes: "Members follow the protocol; independent Gaussian noises of real numbers; pairwise noise is known to its two ends only.",
        })
    }
}

impl Question {
    fn losses(&self, graph: &Graph, noise: Gopa, seen: Seen<'_>) -> Result<Vec<f64>, QuestionError> {
        let mut losses = if self.rows.is_empty() {
            loss(graph, noise, seen)?
        } else {
            loss_of_rows(graph, noise, seen, &self.coefficients(graph.nodes())?)?
        };
        if !self.late.is_empty() {
            self.price_late(&mut losses)?;
        }
        Ok(losses)
    }

    /// Each sum as a row of ones and zeros.
    fn coefficients(&self, nodes: usize) -> Result<Vec<Vec<f64>>, QuestionError> {
        let row = |of: &Vec<usize>| -> Result<Vec<f64>, QuestionError> {
            let mut row = vec![0.0; nodes];
            for &node in of {
                *row.get_mut(node).ok_or(NetworkError::WatcherOutside { watcher: node, nodes })? = 1.0;
            }
            Ok(row)
        };
        self.rows.iter().map(row).collect()
    }

    /// Of a value that comes after its pairwise noise was taken out of the others' nothing is hidden but by its own noise.
    fn price_late(&self, losses: &mut [f64]) -> Result<(), QuestionError> {
        let is_dropped = |node: &usize| self.dropped.contains(node) && !self.coalition.contains(node);
        if let Some(&node) = self.late.iter().find(|node| !is_dropped(node)) {
            return Err(QuestionError::LateWithoutDrop { node });
        }
        if !self.repaired {
            return Err(QuestionError::LateWithoutRepair);
        }
        let alone = (1.0 / (self.sigma_eta * self.sigma_eta)).next_up();
        self.late.iter().for_each(|&node| losses[node] = alone);
        Ok(())
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
            rows: Vec::new(),
            late: Vec::new(),
        };
        let answer = question.answer().unwrap();
        answer.loss.iter().zip([0.6, 0.6, 0.0, 0.6, 0.0]).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        assert_eq!(answer.residual_variance, 1.0);
        assert!(Question { sigma_eta: 0.0, ..question.clone() }.answer().is_err());
        assert!(Question { coalition: vec![5], ..question.clone() }.answer().is_err());
        assert!(Question { topology: "nonsense".into(), ..question }.answer().is_err());
    }

    /// The two reference cases of sums alone, as they are in the design.
    #[test]
    fn sums_alone_have_the_losses_of_the_design() {
        for (sigma_delta, expected) in [
            (0.0, [0.25, 0.25, 0.25, 0.25, 1.0, 0.0, 0.5, 0.5]),
            (1.0, [0.15625, 0.15625, 0.15625, 0.15625, 0.25, 0.0, 0.1875, 0.1875]),
        ] {
            let question = Question {
                topology: "complete:8".into(),
                sigma_eta: 1.0,
                sigma_delta,
                coalition: vec![5],
                dropped: Vec::new(),
                repaired: false,
                rows: vec![vec![4], vec![6, 7], vec![0, 1, 2, 3]],
                late: Vec::new(),
            };
            let answer = question.answer().unwrap();
            answer.loss.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
            assert!(Question { rows: vec![vec![8]], ..question }.answer().is_err());
        }
    }

    /// 1/σ_η², whatever the pairwise noise was; of the others nothing changes.
    #[test]
    fn who_is_late_after_a_repair_has_its_own_noise_alone() {
        let question = Question {
            topology: "ring:6".into(),
            sigma_eta: 2.0,
            sigma_delta: 50.0,
            coalition: vec![4],
            dropped: vec![0],
            repaired: true,
            rows: Vec::new(),
            late: Vec::new(),
        };
        let before = question.answer().unwrap().loss;
        let late = Question { late: vec![0], ..question.clone() };
        let after = late.answer().unwrap().loss;
        assert!(before[0] == 0.0 && after[0] >= 0.25 && after[0] < 0.25 + 1e-12, "{}", after[0]);
        assert_eq!(before[1..], after[1..]);
        for bad in [vec![1], vec![4]] {
            assert!(Question { late: bad, ..question.clone() }.answer().is_err());
        }
        assert!(Question { repaired: false, ..late }.answer().is_err());
    }
}
