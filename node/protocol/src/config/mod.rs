//! The configuration of a run, as people write it: what all participants share, and the faults that a simulation adds.

mod faults;

pub use faults::{Crash, Faults, Hostile, HostileKind, Partition, Slow};

use std::collections::BTreeMap;

use learn::data::DataSource;
use learn::model::ModelSpec;
use learn::optimiser::OptimiserSpec;
use learn::partition::PartitionSpec;
use serde::{Deserialize, Serialize};

use crate::settings::Scope;
use crate::work::Adjacency;

/// A run's configuration after all defaults were filled in and everything was checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// Name of the run, and of its folder.
    pub name: String,
    /// Number of participants.
    pub nodes: usize,
    /// Rounds; for a walk one round is as many hops as there are nodes.
    pub rounds: u32,
    /// Steps on the node's own data before it contributes (node level only).
    pub local_steps: u64,
    /// Expected records per step; `None`: all.
    pub batch_size: Option<usize>,
    /// Step size.
    pub learning_rate: f64,
    /// Root of all randomness of a simulation, and of the partition and the first model.
    pub seed: u64,
    /// Where the data come from.
    pub data: DataSource,
    /// Part of the data that is kept apart as a common test set where the source has none.
    pub test_fraction: f64,
    /// How the data are divided.
    pub partition: PartitionSpec,
    /// The model.
    pub model: ModelSpec,
    /// The optimiser.
    pub optimiser: OptimiserSpec,
    /// What participants do.
    pub algorithm: AlgorithmConfig,
    /// The graph, as a topology spec (`gossip`, `walk`, `mean`).
    pub topology: String,
    /// Weights on the graph.
    pub weights: String,
    /// Privacy.
    pub privacy: PrivacyConfig,
    /// How long to wait.
    pub timeouts: TimeoutConfig,
    /// What goes wrong, in a simulation.
    pub faults: Faults,
    /// Labels of the nodes, where they have names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Which algorithm, in words of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlgorithmConfig {
    /// `rounds`, `gossip`, `walk`, `mean`; in the simulator also `alone`, `central`, `local`, `fedavg`.
    pub kind: AlgorithmKind,
    /// `gossip`, `mean`: mixing steps per contribution.
    pub mixing_steps: usize,
    /// `gossip`, `mean`: Chebyshev acceleration.
    pub accelerate: bool,
    /// `gossip`, `mean`: schedule (`fixed`, `random-matching`, `doubling`, …).
    pub schedule: String,
    /// `gossip`, `mean`: noise on every message, as a multiple of the contribution's noise.
    pub message_noise: f64,
    /// `walk`: `simple`, `lazy` or `metropolis`.
    pub kernel: String,
    /// `walk`: number of tokens.
    pub tokens: usize,
}

/// The algorithms by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlgorithmKind {
    /// Averaging rounds that end in exact consensus.
    Rounds,
    /// Gossip SGD.
    Gossip,
    /// A walking token.
    Walk,
    /// One-shot averaging.
    Mean,
    /// Comparison: nobody exchanges anything.
    Alone,
    /// Comparison: a trusted curator holds all data.
    Central,
    /// Comparison: every message is public.
    Local,
    /// Comparison: a server averages.
    Fedavg,
}

/// Privacy, in words of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivacyConfig {
    /// Target ε; the noise is calibrated for it. Excludes `noise_multiplier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ.
    pub delta: f64,
    /// z: noise divided by the clip norm. 0: no noise, no privacy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_multiplier: Option<f64>,
    /// C.
    pub clip_norm: f64,
    /// What is protected.
    pub adjacency: Adjacency,
    /// Which loss is to meet ε.
    pub target: Scope,
    /// A bound on the norm of a record's features that all participants declare; needed to certify `contractive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_norm: Option<f64>,
}

/// How long to wait, in microseconds (`"250ms"` in a file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeoutConfig {
    /// Before a missing message is asked for again.
    pub resend: u64,
    /// Before a silent peer is given up.
    pub silence: u64,
    /// Before a node without a majority ends.
    pub give_up: u64,
}
