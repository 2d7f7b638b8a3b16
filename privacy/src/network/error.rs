//! What the network accountant refuses, and what to try instead.

use thiserror::Error;
use topology::Hint;

/// A request that the network accountant does not answer. Unknown is refused, never free.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A watcher that is not a node.
    #[error("watcher {watcher} is outside the graph, which has nodes 0 to {}", nodes - 1)]
    WatcherOutside {
        /// The number given.
        watcher: usize,
        /// Nodes that there are.
        nodes: usize,
    },
    /// A coalition of nobody.
    #[error("a coalition needs at least one member")]
    NobodyWatches,
    /// A coalition that leaves nobody to protect.
    #[error("the coalition has all {nodes} nodes: there is nobody left to protect")]
    EverybodyWatches {
        /// Nodes that there are.
        nodes: usize,
    },
    /// Matrices of different sizes in one run.
    #[error("phase {phase}, step {step} mixes {found} nodes, but the run has {nodes}")]
    SizeDiffers {
        /// The phase, counted from 0.
        phase: usize,
        /// The mixing step in it, counted from 0.
        step: usize,
        /// Nodes of that matrix.
        found: usize,
        /// Nodes of the run.
        nodes: usize,
    },
    /// No contribution at all.
    #[error("a run needs at least one contribution")]
    NothingHappens,
    /// Losses of rounds add up only if each ends in consensus.
    #[error(
        "round {round} does not end in exact consensus, so the losses of {rounds} rounds do not add up under `rounds`"
    )]
    NoConsensus {
        /// The round, counted from 0.
        round: usize,
        /// Rounds asked for.
        rounds: usize,
    },
    /// Something this analysis has no theorem for.
    #[error("`{analysis}` does not cover {what}")]
    Unsupported {
        /// The analysis.
        analysis: &'static str,
        /// What it was asked to cover.
        what: &'static str,
    },
    /// A number outside its range.
    #[error("{name} must be {range}, not {value}")]
    OutOfRange {
        /// What the number is.
        name: &'static str,
        /// The values that it may have.
        range: &'static str,
        /// The value given.
        value: f64,
    },
    /// A branch of a token that left something that is not there.
    #[error(
        "branch {branch} left branch {parent} behind {behind} of its hops, which is not before it or not as long"
    )]
    BranchOutside {
        /// The branch, counted from 0.
        branch: usize,
        /// What it left.
        parent: usize,
        /// Behind how many hops.
        behind: usize,
    },
    /// A walk that visits a node that is not there.
    #[error("visit {visit} of the path is to node {node}, but the nodes are 0 to {}", nodes - 1)]
    VisitOutside {
        /// Position in the path, counted from 0.
        visit: usize,
        /// The node named there.
        node: usize,
        /// Nodes that there are.
        nodes: usize,
    },
    /// A problem too large for the method asked for.
    #[error("{method} on {size} unknowns is more than the {limit} that this program takes")]
    TooLarge {
        /// The method.
        method: &'static str,
        /// Unknowns of the problem.
        size: usize,
        /// Most that it takes.
        limit: usize,
    },
    /// A schedule that cannot be laid out.
    #[error(transparent)]
    Schedule(#[from] topology::TopologyError),
    /// A pair that is not among those priced.
    #[error("what node {watcher} learns about node {about} was not computed")]
    PairNotPriced {
        /// Whose data are at stake.
        about: usize,
        /// Who watches.
        watcher: usize,
    },
    /// A target that no amount of noise reaches.
    #[error("no noise reaches the target: {why}")]
    Unreachable {
        /// The reason.
        why: String,
    },
    /// Whoever waited no longer does.
    #[error("stopped before the end")]
    Stopped,
}

impl Hint for NetworkError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Schedule(error) => return error.hint(),
            Self::NoConsensus { .. } => {
                "use a schedule that ends in consensus (doubling, shuffled-doubling), one round, or the analyses contractive and local"
            }
            Self::EverybodyWatches { .. } => "leave at least one node out of the coalition",
            Self::TooLarge { method: "optimum", .. } => {
                "use riccati or boundary, which are upper bounds of it"
            }
            Self::Unsupported { .. } => "the analysis local covers every protocol",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Refuses what is not a positive finite number.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, NetworkError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(NetworkError::OutOfRange { name, range: "a positive finite number", value })
}

/// Refuses what is not a finite number of at least zero.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64, NetworkError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(NetworkError::OutOfRange { name, range: "a finite number of at least 0", value })
}
