//! What can be wrong with a graph, a matrix or the text that describes them.

use std::path::PathBuf;

use thiserror::Error;

use crate::Hint;
use crate::spec::SpecError;
use crate::suggest::did_you_mean;

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
    /// A name of weights, a schedule or a walk kernel that does not exist.
    #[error("unknown {what} `{name}`")]
    UnknownName {
        /// What was to be named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that exist.
        known: &'static [&'static str],
    },
    /// A name that needs something behind the colon.
    #[error("`{name}` needs {needs} behind the colon")]
    MissingArgument {
        /// The name given.
        name: &'static str,
        /// What is missing.
        needs: &'static str,
    },
    /// A file of weights that cannot be read.
    #[error("cannot read the weights in {}", path.display())]
    WeightsUnreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of a file of weights that is wrong.
    #[error("{}, line {line}: {why}: `{text}`", path.display())]
    WeightsLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// Its text.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// A row of a file of weights that does not sum to one.
    #[error("{}: the weights of node {node} sum to {sum}, not to 1", path.display())]
    WeightsRowSum {
        /// The file.
        path: PathBuf,
        /// The node, as the graph calls it.
        node: String,
        /// The sum of its weights.
        sum: f64,
    },
    /// Best-constant weights on a graph in several parts.
    #[error("best-constant weights need a connected graph: this one has λ_2 = 0")]
    BestConstantDisconnected,
    /// A schedule along the dimensions of a hypercube for another number of nodes.
    #[error("one-peer-exponential needs a power of two of nodes, not {nodes}")]
    NotAPowerOfTwo {
        /// Nodes that there are.
        nodes: usize,
    },
    /// An order of the nodes that repeats one or names one that does not exist.
    #[error("the order is no permutation: position {position} has node {node}")]
    NotAPermutation {
        /// The position.
        position: usize,
        /// The node there.
        node: u64,
    },
    /// A schedule on a graph of another size than the roster of the round.
    #[error("the schedule is made for {expected} nodes, and the round has {nodes}")]
    RosterSize {
        /// Nodes of the graph.
        expected: usize,
        /// Nodes of the round.
        nodes: usize,
    },
    /// A matrix without a symmetric form, whose spectrum need not be real.
    #[error(
        "the matrix is not reversible: node {from} and node {to} do not balance, its spectrum may be complex"
    )]
    NotReversible {
        /// A node.
        from: usize,
        /// A node that it hears.
        to: usize,
    },
    /// An eigenvalue that was not found to a useful precision.
    #[error("the spectrum did not converge in {iterations} iterations: λ_2 is only known to ± {residual:e}")]
    NotConverged {
        /// Iterations made.
        iterations: usize,
        /// Bound on the error that was reached.
        residual: f64,
    },
    /// The graph family of a resampled schedule.
    #[error(transparent)]
    Spec(Box<SpecError>),
    /// A fixed schedule without a graph.
    #[error("the schedule `fixed` needs a graph")]
    NeedsGraph,
    /// A resampled schedule of a graph that is always the same.
    #[error("`{spec}` is the same graph in every round: there is nothing to resample")]
    NothingRandom {
        /// The description of the graph.
        spec: String,
    },
    /// A tolerance outside the open interval from zero to one.
    #[error("the tolerance must lie between 0 and 1: {value}")]
    BadTolerance {
        /// The value given.
        value: f64,
    },
}

impl Hint for TopologyError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::TooLarge { .. } => {
                Some("the largest graph has 100 million nodes and a billion edges".into())
            }
            Self::UnknownName { name, known, .. } => Some(did_you_mean(name, known)),
            Self::MissingArgument { name: "file", .. } => Some("write for example `file:weights.txt`".into()),
            Self::MissingArgument { name: "resampled", .. } => {
                Some("write for example `resampled:regular:100,degree=4`".into())
            }
            Self::WeightsLine { .. } => {
                Some("each line is `i j w`: node i takes the value of node j with weight w".into())
            }
            Self::WeightsRowSum { .. } => {
                Some("list the diagonal `i i w` too: the weights of each node sum to 1".into())
            }
            Self::BadWeight { .. } => {
                Some("of the built-in weights only best-constant may have negative ones".into())
            }
            Self::BestConstantDisconnected => {
                Some("use the largest component, or weights that need no spectrum such as metropolis".into())
            }
            Self::NotAPowerOfTwo { .. } => Some(
                "use `doubling` or `shuffled-doubling`, which reach the mean for any number of nodes".into(),
            ),
            Self::NotReversible { .. } => {
                Some("use symmetric weights such as metropolis for a spectrum".into())
            }
            Self::Spec(error) => error.hint(),
            Self::NeedsGraph => Some("name one, such as `ring:100` or `regular:100,degree=4`".into()),
            Self::NothingRandom { .. } => Some("use `fixed` with this graph, or a random family".into()),
            Self::BadTolerance { .. } => Some("for example 1e-3".into()),
            _ => None,
        }
    }
}
