//! The report as data: the same for HTML, Markdown and JSON. Infinity is `null`.

use learn::personal::Figures;
use protocol::log::{Earlier, Renewed};
use protocol::work::Adjacency;
use serde::Serialize;

use crate::belief::Protection;
use crate::head::Head;
use crate::nist::Point;
use crate::watchers::Watcher;

/// What a run cost.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Name of the run.
    pub run: String,
    /// The algorithm.
    pub algorithm: String,
    /// Who ran it: `sim` or `libp2p`.
    pub driver: String,
    /// Number of participants.
    pub participants: usize,
    /// Whose data may change.
    pub adjacency: Adjacency,
    /// δ of all figures.
    pub delta: f64,
    /// Whether there is a guarantee at all.
    pub private: bool,
    /// When, who, what for, on which data, with which program.
    pub head: Head,
    /// How well, by the scale of the page.
    pub protection: Protection,
    /// The report in one paragraph, for quoting.
    pub quote: String,
    /// What ε means, in plain sentences.
    pub meaning: Vec<String>,
    /// What several records of one person mean.
    pub persons: String,
    /// What somebody should look at twice.
    pub warnings: Vec<String>,
    /// Who could have learnt how much.
    pub watchers: Vec<Watcher>,
    /// What the members renewed on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renewals: Vec<Renewed>,
    /// How it was counted, where that is not obvious.
    pub counted: Vec<String>,
    /// The guarantee in one sentence.
    pub guarantee: String,
    /// What must hold for it.
    pub assumes: Vec<String>,
    /// What was not protected.
    pub not_protected: Vec<String>,
    /// The pair that lost most.
    pub worst: WorstFigure,
    /// Mean over ordered pairs.
    pub mean: Figure,
    /// Masked rounds: towards any so many members together, whoever they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colluding: Option<Colluding>,
    /// Towards somebody who sees every message: the node that lost most.
    pub local: Figure,
    /// Node by node.
    pub nodes: Vec<NodeReport>,
    /// Nodes that pool what they saw.
    pub coalitions: Vec<Coalition>,
    /// How the rounds went.
    pub rounds: Rounds,
    /// What went wrong.
    pub faults: Vec<Fault>,
    /// Digest of the shared configuration.
    pub config_digest: String,
    /// The points of NIST SP 800-226, answered one by one.
    pub nist: Vec<Point>,
    /// The effective configuration, as TOML.
    pub config: String,
    /// Seed of the public randomness (and, in simulations, of everything).
    pub seed: u64,
    /// Version of the program that ran it.
    pub version: String,
    /// Version of the program that made this report.
    pub reported_by: String,
    /// The same figures of another run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<Comparison>,
    /// The graph that participants spoke along and the places of its nodes, for the picture.
    #[serde(skip)]
    pub(crate) drawn: Option<(topology::Graph, Vec<(f64, f64)>)>,
}

/// A loss, with the analysis that gave it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// ε; `null` where it is infinite.
    #[serde(serialize_with = "finite")]
    pub epsilon: f64,
    /// μ² whose Gaussian curve passes through (ε, δ); `null` where it is infinite.
    #[serde(serialize_with = "finite")]
    pub mu2: f64,
    /// The analysis.
    pub analysis: String,
}

/// What any so many members could have learnt together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Colluding {
    /// How many.
    pub members: usize,
    /// The loss.
    #[serde(flatten)]
    pub figure: Figure,
}

/// The largest loss, and towards whom.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstFigure {
    /// Who learnt most; `null` where there is nobody.
    pub peer: Option<usize>,
    /// About whom, in the figure of a whole swarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// The loss.
    #[serde(flatten)]
    pub figure: Figure,
}

/// What one node lost.
#[derive(Debug, Clone, Serialize)]
pub struct NodeReport {
    /// Its position.
    pub index: usize,
    /// Its identity, where that is known.
    pub label: String,
    /// What it is called, where that is known.
    pub name: Option<String>,
    /// Records that it learns from, where its log says so.
    pub records: Option<u64>,
    /// Records that it kept apart to judge by.
    pub kept_apart: Option<u64>,
    /// Persons whose records they are, where a column says so.
    pub persons: Option<u64>,
    /// The most records of one person.
    pub most_of_person: Option<u64>,
    /// Where its records come from.
    pub data: Option<String>,
    /// SHA-256 of its records.
    pub data_digest: Option<String>,
    /// What earlier runs on the same data cost, where a ledger tells.
    pub earlier: Option<Earlier>,
    /// How good its own models are on its own records, where that was asked for: no ε covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<Figures>,
    /// Contributions that it made.
    pub contributions: u64,
    /// Towards somebody who sees every message.
    pub local: Figure,
    /// Towards the other node that learnt most.
    pub worst: WorstFigure,
    /// Mean over the other nodes.
    pub mean: Figure,
    /// The budget.
    pub budget: Budget,
    /// Towards each other node, the largest first. Empty in reports about many nodes; ask for one.
    pub peers: Vec<PeerFigure>,
}

/// What was allowed and what was spent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    /// ε allowed; `null` where the run had none.
    pub epsilon: Option<f64>,
    /// ε spent, of the loss that the budget is about.
    #[serde(serialize_with = "finite")]
    pub spent: f64,
    /// Which loss it is about: `worst`, `mean`, `local`, or `colluders` where rounds are masked.
    pub of: &'static str,
}

impl Budget {
    /// What may still be spent; `None` without a budget.
    pub fn left(&self) -> Option<f64> {
        self.epsilon.map(|epsilon| (epsilon - self.spent).max(0.0))
    }
}

/// What one other node could have learnt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerFigure {
    /// The other node.
    pub index: usize,
    /// Steps on the graph; 1 where everybody may speak to everybody; `null` where there is no way.
    pub distance: Option<u32>,
    /// The loss.
    #[serde(flatten)]
    pub figure: Figure,
}

/// Nodes that pool what they saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coalition {
    /// Who.
    pub members: Vec<usize>,
    /// The node outside that lost most.
    pub node: usize,
    /// Its loss towards all members together.
    #[serde(flatten)]
    pub figure: Figure,
    /// How this coalition was found.
    pub search: String,
}

/// How the rounds went.
#[derive(Debug, Clone, Serialize)]
pub struct Rounds {
    /// Asked for.
    pub planned: u32,
    /// That made the final model.
    pub finished: u32,
    /// Charged in full, because they did not end in proven consensus.
    pub charged_as_local: u64,
    /// Contributions of all nodes in the log.
    pub contributions: u64,
    /// Contributions that the budget refused.
    pub refused: u64,
    /// ε and, where they may be shown, losses, over the rounds.
    pub curve: Curve,
}

/// Figures over rounds.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Curve {
    /// The points, at most a hundred.
    pub points: Vec<CurvePoint>,
    /// What the ε of each point means.
    pub meaning: String,
}

/// One point.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The round, from 0.
    pub round: u32,
    /// ε of the worst pair, had the run ended here.
    pub worst: Option<f64>,
    /// Mean ε.
    pub mean: Option<f64>,
    /// ε towards somebody who sees every message.
    pub local: Option<f64>,
    /// Mean training loss. Not private: only in simulations, or where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_loss: Option<f64>,
    /// Accuracy on a common test set, where the run folder has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_acc: Option<f64>,
    /// Loss on a common test set, where the run folder has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_loss: Option<f64>,
}

/// Something that went wrong, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fault {
    /// What.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// Who did it or was missing, where that is known.
    pub peers: Vec<usize>,
    /// First and last round.
    pub rounds: Option<(u32, u32)>,
    /// What it means for privacy.
    pub cost: String,
}

impl Fault {
    /// Whether it cost nothing in privacy.
    pub(crate) fn costs_nothing(&self) -> bool {
        self.cost.starts_with("none")
    }
}

/// The figures of another run beside these.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The other run.
    pub run: String,
    /// Its algorithm.
    pub algorithm: String,
    /// Its δ, which may differ.
    pub delta: f64,
    /// What it protects.
    pub adjacency: Adjacency,
    /// Whether it was private.
    pub private: bool,
    /// Its worst pair.
    pub worst: Figure,
    /// Its mean.
    pub mean: Figure,
    /// Its local figure.
    pub local: Figure,
    /// Keys of the configuration in which the two differ.
    pub differing_keys: Vec<String>,
    /// Why the figures may not be compared, if so.
    pub caution: Option<String>,
}

fn finite<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_some(value) } else { serializer.serialize_none() }
}
