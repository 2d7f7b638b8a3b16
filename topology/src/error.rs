//! What can be wrong with a graph, a matrix or the text that describes them.

use thiserror::Error;

/// An error of this crate. [`TopologyError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// No nodes at all.
    #[error("a graph needs at least one node")]
    Empty,
    /// A size that could not be meant.
    #[error("{nodes} nodes and {edges} edges are more than this program takes")]
    TooLarge {
        /// Nodes asked for.
        nodes: usize,
        /// Edges asked for.
        edges: usize,
    },
    /// A node number outside the graph.
    #[error("node {node} is outside the graph, which has nodes 0 to {}", nodes - 1)]
    NodeOutside {
        /// The number given.
        node: u64,
        /// Nodes that there are.
        nodes: usize,
    },
    /// Labels and nodes differ in number.
    #[error("{labels} labels for {nodes} nodes")]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// Nodes that there are.
        nodes: usize,
    },
    /// The arrays of a matrix do not fit together.
    #[error("malformed matrix: {why}")]
    MalformedMatrix {
        /// What does not fit.
        why: &'static str,
    },
    /// A weight that is negative or not finite.
    #[error("row {row} has the weight {value}; weights are finite and not negative")]
    BadWeight {
        /// The row.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A row whose weights do not sum to one.
    #[error("the weights of row {row} sum to {sum}, not to 1")]
    RowSum {
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
    },
}

impl TopologyError {
    /// What the user could do, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TooLarge { .. } => {
                Some("the largest graph has 100 million nodes and a billion edges".into())
            }
            _ => None,
        }
    }
}
