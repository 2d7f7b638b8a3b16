//! Why a run cannot be prepared.

use learn::data::DataError;
use learn::gradient::GradientError;
use learn::model::ModelError;
use learn::optimiser::OptimiserError;
use learn::partition::PartitionError;
use learn::personal::UnknownTensor;
use privacy::mechanisms::MechanismError;
use thiserror::Error;
use topology::Hint;
use topology::{SpecError, TopologyError};

use super::external::ExternalError;
use crate::account::PlanError;

/// An error of preparing a run. [`SetupError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Data that cannot be read.
    #[error("cannot load the data")]
    Data(#[from] DataError),
    /// Data that cannot be divided.
    #[error("cannot divide the data")]
    Partition(#[from] PartitionError),
    /// A model that the data do not fit.
    #[error("cannot build the model")]
    Model(#[from] ModelError),
    /// A graph that cannot be made.
    #[error("cannot build the graph")]
    Graph(#[from] SpecError),
    /// Weights or a schedule that the graph does not take.
    #[error("cannot build the schedule")]
    Schedule(#[from] TopologyError),
    /// A graph of another size.
    #[error("`topology = {topology:?}` has {has} nodes, and the run has {nodes}")]
    GraphSize {
        /// The topology.
        topology: String,
        /// Its nodes.
        has: usize,
        /// Nodes of the run.
        nodes: usize,
    },
    /// Acceleration of mixing that does not converge.
    #[error("gossip on `{topology}` with `{weights}` weights does not converge, so it cannot be accelerated")]
    NothingToAccelerate {
        /// The topology.
        topology: String,
        /// The weights.
        weights: String,
    },
    /// More hops than can be counted.
    #[error("{rounds} rounds of {nodes} nodes are more hops than a token can count")]
    TooManyHops {
        /// Rounds.
        rounds: u32,
        /// Nodes.
        nodes: usize,
    },
    /// A batch or rate outside its range.
    #[error("cannot sample the data")]
    Sampling(#[from] GradientError),
    /// An optimiser outside its range.
    #[error("cannot build the optimiser")]
    Optimiser(#[from] OptimiserError),
    /// A clip norm outside its range.
    #[error("cannot clip")]
    Clip(#[from] MechanismError),
    /// A grid that has no room for the run.
    #[error("cannot make the grid of integer noise")]
    Grid(#[source] MechanismError),
    /// A budget that cannot be met.
    #[error("cannot find the noise for the budget")]
    Budget(#[from] PlanError),
    /// A renewal that this run cannot have.
    #[error("the run cannot be renewed so: {what}")]
    Renewal {
        /// Why.
        what: String,
    },
    /// A limit of this node alone that cannot be kept.
    #[error("this node cannot take part within its own limit")]
    OwnLimit(#[source] PlanError),
    /// A trainer that is not fit.
    #[error("cannot take the trainer")]
    External(#[from] ExternalError),
    /// Vectors that are too long to go to every member.
    #[error(
        "`robust.tolerate` sends every contribution to every member, and this model has {parameters} parameters"
    )]
    TooLongForAll {
        /// Its parameters.
        parameters: usize,
        /// As many may be.
        most: usize,
    },
    /// More numbers than anybody proves.
    #[error("`privacy.proofs = \"range\"` proves every number of a contribution, and this one has {numbers}")]
    TooManyToProve {
        /// How many.
        numbers: usize,
        /// As many may be.
        most: usize,
    },
    /// Whole batches where nobody knows how many records others have.
    #[error("`batch_size = \"all\"` needs to know how many records every node has")]
    NeedsBatchSize,
    /// A row that is longer than was declared.
    #[error("a record has norm {norm:.4}, above the declared `privacy.row_norm = {declared}`")]
    RowNorm {
        /// Its norm.
        norm: f64,
        /// What was declared.
        declared: f64,
    },
    /// A node without records to judge its own models by.
    #[error(
        "node {node} has {records} records: `personal.test_fraction = {fraction}` of them is less than one"
    )]
    NoTestPart {
        /// Which.
        node: usize,
        /// Its records.
        records: usize,
        /// The part that was to be kept apart.
        fraction: f64,
    },
    /// A tensor that is to be a node's own and that the model does not have.
    #[error("`personal.parameters`: {0}")]
    Tensor(#[from] UnknownTensor),
    /// Fewer records than every participant was said to have.
    #[error(
        "{records} {what} are fewer than the {declared} that `partition.min_size` promises of every participant"
    )]
    TooFewRecords {
        /// Own records.
        records: usize,
        /// What was declared.
        declared: usize,
        /// `records` or `persons`.
        what: &'static str,
    },
}

impl Hint for SetupError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Data(error) => error.hint(),
            Self::Partition(error) => error.hint(),
            Self::Model(error) => error.hint(),
            Self::Graph(error) => error.hint(),
            Self::Schedule(error) => error.hint(),
            Self::GraphSize { has, .. } => Some(format!("use `nodes = {has}`")),
            Self::NothingToAccelerate { .. } => Some(
                "use a connected graph and `weights = \"metropolis\"`, or leave `algorithm.accelerate` out"
                    .into(),
            ),
            Self::TooManyHops { .. } => Some("use fewer rounds or more `algorithm.tokens`".into()),
            Self::Sampling(error) => error.hint(),
            Self::Optimiser(error) => error.hint(),
            Self::Clip(error) | Self::Grid(error) => error.hint(),
            Self::Budget(error) | Self::OwnLimit(error) => error.hint(),
            Self::External(error) => error.hint(),
            Self::Renewal { .. } => None,
            Self::TooLongForAll { most, .. } => {
                Some(format!("use a model of at most {most} parameters, or leave `robust.tolerate` out"))
            }
            Self::TooManyToProve { most, .. } => {
                Some(format!("average at most {most} numbers, or leave `privacy.proofs` out"))
            }
            Self::NeedsBatchSize => Some(
                "agree on a number, such as `batch_size = 32`: sums are divided by it at every node".into(),
            ),
            Self::RowNorm { .. } => Some(
                "scale the rows (`data = \"…:scale=l2\"`), or agree on a larger `privacy.row_norm`".into(),
            ),
            Self::NoTestPart { .. } => Some(
                "use a larger `partition.min_size`, or `personal.test_fraction = 0` to judge nothing".into(),
            ),
            Self::Tensor(error) => Some(format!("name some of {}, or \"all\"", error.known)),
            Self::TooFewRecords { .. } => Some("agree on a smaller `partition.min_size`".into()),
        }
    }
}
