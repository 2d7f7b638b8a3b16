//! The figures of a run after its end, simulated or real.

use serde::Serialize;

use crate::account::Summary;
use crate::personal::{ClustersResult, PersonalResult};

/// What came out, as `--format json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunResult {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Number of nodes.
    pub nodes: usize,
    /// Rounds asked for.
    pub rounds: u32,
    /// The seed.
    pub seed: u64,
    /// Name of the run, or the path of its folder.
    pub run: String,
    /// Accuracy on the test set, averaged over nodes; `null` for regression and `mean`.
    pub test_acc: Option<f64>,
    /// Loss on the test set; for `mean` the squared error of the nodes' estimates.
    pub test_loss: Option<f64>,
    /// Root mean squared distance of the nodes' models to their mean.
    pub consensus_distance: Option<f64>,
    /// Bytes that a node sent, on average.
    pub bytes_per_node: f64,
    /// Rounds that were given up.
    pub broken_rounds: u64,
    /// Rounds that ended and were not given up.
    pub finished_rounds: u64,
    /// Virtual time, in seconds.
    pub time: f64,
    /// z: noise divided by the clip norm.
    pub noise_multiplier: f64,
    /// What it cost.
    pub privacy: Summary,
    /// Models of the nodes' own on their own test parts, where they made some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<PersonalResult>,
    /// How the nodes of a simulation divided themselves, where there were several models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClustersResult>,
}
