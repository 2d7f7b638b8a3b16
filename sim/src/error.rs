//! What can end a simulation early.

use learn::train::TrainError;
use protocol::Hint;
use protocol::PeerIx;
use thiserror::Error;

/// Why a simulation could not run to its end.
#[derive(Debug, Error)]
pub enum SimError {
    /// A fault names a node that does not exist.
    #[error("`faults.{fault}` names node {node}, but there are {nodes} nodes, numbered from 0")]
    NoSuchNode {
        /// Which entry.
        fault: &'static str,
        /// The node.
        node: PeerIx,
        /// Number of nodes.
        nodes: usize,
    },
    /// The setup has data for another number of nodes.
    #[error("the setup has data for {has} nodes, not for {nodes}")]
    Data {
        /// Shares of the data.
        has: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// A contribution could not be computed.
    #[error("node {node} could not compute its contribution to round {round}")]
    Work {
        /// At which node.
        node: PeerIx,
        /// In which round.
        round: u32,
        /// Why.
        source: TrainError,
    },
    /// An invariant of the swarm does not hold: a bug of a protocol or of the simulator.
    #[error("invariant broken at {seconds} s: {what}")]
    Invariant {
        /// Virtual time, in seconds.
        seconds: f64,
        /// Which one, and where.
        what: String,
    },
    /// The threads could not be started.
    #[error("could not start {threads} threads")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// Why not.
        source: rayon::ThreadPoolBuildError,
    },
}

impl Hint for SimError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSuchNode { .. } => Some("Nodes are numbered from 0 to `nodes` - 1"),
            Self::Invariant { .. } => Some("This is a bug: please report it with the config and the seed"),
            Self::Threads { .. } => Some("Use `--threads 1`"),
            Self::Data { .. } | Self::Work { .. } => None,
        };
        hint.map(str::to_owned)
    }
}
