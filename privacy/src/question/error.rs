//! Questions that are refused, and what to ask instead. Options are called as the command line calls them.

use crate::accountant::AccountError;
use crate::event::EventError;
use crate::gdp;
use crate::network::{Analysis, NetworkError};
use thiserror::Error;
use topology::Hint;
use topology::{SpecError, TopologyError};

/// A question without an answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A graph, weights or a schedule that cannot be made.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A description of a graph that cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// What the network accountant refuses.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A μ, ε or δ outside its range.
    #[error(transparent)]
    Gaussian(#[from] gdp::Error),
    /// What an accountant refuses.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// Events that cannot be, or cannot be together.
    #[error(transparent)]
    Event(#[from] EventError),
    /// A number outside its range.
    #[error("{option} must be {range}: {value}")]
    OutOfRange {
        /// The option that gave it.
        option: &'static str,
        /// The values that it may have.
        range: &'static str,
        /// The value given.
        value: f64,
        /// A value that would do.
        example: &'static str,
    },
    /// Neither a graph nor a schedule nor a path.
    #[error("nothing says who speaks with whom")]
    NobodySpeaks,
    /// A path for another analysis than that of walks.
    #[error("--path is for a walk, not for `{0}`")]
    PathOfNoWalk(Analysis),
    /// Message noise in an analysis that does not count it.
    #[error("`{0}` does not count message noise")]
    MessageNoise(Analysis),
    /// A method of `contractive` for another analysis.
    #[error("--method belongs to `contractive`, not to `{0}`")]
    MethodOf(Analysis),
    /// A schedule for an analysis of one graph.
    #[error("`{0}` needs a graph, not a schedule")]
    NeedsGraph(Analysis),
    /// A number of colluders where coalitions are named, or where their number does not decide.
    #[error("--colluders belongs to `masked` on the complete graph, not to {0}")]
    Colluders(&'static str),
    /// Neither graph nor number of nodes.
    #[error("--schedule {0} needs --nodes N")]
    NeedsNodes(String),
    /// A number of nodes that is not the graph's.
    #[error("--nodes {asked}, but `{graph}` has {found} nodes")]
    NodesDiffer {
        /// The number given.
        asked: usize,
        /// The graph.
        graph: String,
        /// Its number of nodes.
        found: usize,
    },
    /// Steps for a schedule that says how many.
    #[error("`{0}` has its own number of steps")]
    StepsOfSchedule(String),
    /// A published formula without a graph.
    #[error("`published` needs --topology SPEC")]
    PublishedNeedsGraph,
    /// A published formula for several contributions.
    #[error("the formula of Muffliato is for one contribution")]
    OneContribution,
    /// A published formula for a coalition.
    #[error("the formula of {0}")]
    SingleWatchers(&'static str),
    /// A loss that depends on the noise otherwise than by its square.
    #[error("the loss of a walk that is not made yet does not scale with the noise")]
    WalkNotMade,
    /// Noise for a figure that promises nothing.
    #[error("a published figure is no guarantee, so no noise is calibrated to it")]
    NoGuarantee,
    /// What is to meet the target, in words that mean nothing.
    #[error("`{text}` {why}")]
    Of {
        /// The words.
        text: String,
        /// What they must be.
        why: &'static str,
    },
    /// Noise per node where no theorem gives it.
    #[error("--per-node is for --analysis rounds without message noise and for the worst pair")]
    PerNode,
    /// Gossip that does not converge.
    #[error("gossip on `{graph}` with {weights} weights never mixes")]
    NeverMixes {
        /// The graph.
        graph: String,
        /// The weights.
        weights: String,
    },
    /// A late value of a node that did not drop out, or that pools what it knows.
    #[error("--late {node}: that node is none of those who dropped out and are watched")]
    LateWithoutDrop {
        /// The node.
        node: usize,
    },
    /// Late values where nobody took noise out again: they are as well hidden as others.
    #[error("--late is for values that come after a repair")]
    LateWithoutRepair,
    /// Nothing was released.
    #[error("no events given")]
    NoEvents,
    /// An accountant that does not exist.
    #[error("unknown accountant `{0}`")]
    UnknownAccountant(String),
    /// A conversion that no theorem allows.
    #[error("{from} does not give {to}: {why}")]
    DoesNotGive {
        /// What is known.
        from: String,
        /// What was asked for.
        to: &'static str,
        /// The reason.
        why: String,
    },
}

impl Hint for QuestionError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Topology(error) => return error.hint(),
            Self::Spec(error) => return error.hint(),
            Self::Network(error) => return error.hint(),
            Self::Gaussian(error) => return error.hint(),
            Self::Account(error) => return error.hint(),
            Self::Event(error) => return error.hint(),
            Self::OutOfRange { option, example, .. } => {
                return Some(format!("for example {option} {example}"));
            }
            Self::NobodySpeaks => {
                "give --topology SPEC, or --schedule NAME --nodes N, or --path FILE for a walk"
            }
            Self::PathOfNoWalk(_) => "use --analysis walk",
            Self::MessageNoise(_) => {
                "message noise is priced by --analysis rounds; leaving it out of the others is on the safe side"
            }
            Self::NeedsGraph(_) => "give --topology SPEC",
            Self::Colluders(_) => "name them with --coalition",
            Self::NodesDiffer { .. } => "leave --nodes out: the graph says how many there are",
            Self::StepsOfSchedule(_) => "leave --steps out",
            Self::OneContribution => "leave --rounds out",
            Self::SingleWatchers(MATRIX_FACTORISATION) => "`--analysis linear` prices coalitions",
            Self::WalkNotMade => {
                "give the walk's visits with --path FILE, or price it for a named --sigma with `pairwise`"
            }
            Self::NoGuarantee => "use --analysis rounds or contractive",
            Self::NeverMixes { .. } => "try --weights lazy-metropolis",
            Self::LateWithoutDrop { .. } => "name it with --dropped too",
            Self::LateWithoutRepair => "add --repaired, or leave --late out",
            Self::NoEvents => "add --event gaussian:sigma=1,count=10, or --file events.json",
            Self::UnknownAccountant(_) => "there are basic, advanced, renyi, gaussian and pld",
            Self::DoesNotGive { .. } => "leave out --to to see what it does give",
            Self::MethodOf(_)
            | Self::NeedsNodes(_)
            | Self::PublishedNeedsGraph
            | Self::SingleWatchers(_)
            | Self::Of { .. }
            | Self::PerNode => return None,
        };
        Some(hint.to_owned())
    }
}

/// [`QuestionError::SingleWatchers`] of the paper on matrix factorisation.
pub(super) const MATRIX_FACTORISATION: &str = "matrix factorisation is for single watchers here";

/// Refuses what is not a finite number above zero.
pub(super) fn positive(option: &'static str, value: f64) -> Result<(), QuestionError> {
    let fits = value.is_finite() && value > 0.0;
    in_range(
        fits,
        QuestionError::OutOfRange { option, range: "a finite number above 0", value, example: "1" },
    )
}

/// Refuses what is not a finite number of at least zero.
pub(super) fn not_negative(option: &'static str, value: f64) -> Result<(), QuestionError> {
    let fits = value.is_finite() && value >= 0.0;
    in_range(
        fits,
        QuestionError::OutOfRange { option, range: "zero or positive and finite", value, example: "1" },
    )
}

/// Refuses what is not above zero and at most one.
pub(super) fn in_unit(option: &'static str, value: f64, example: &'static str) -> Result<(), QuestionError> {
    let fits = value > 0.0 && value <= 1.0;
    in_range(fits, QuestionError::OutOfRange { option, range: "above 0 and at most 1", value, example })
}

/// Refuses what does not lie strictly between zero and one.
pub(super) fn probability(
    option: &'static str,
    value: f64,
    example: &'static str,
) -> Result<(), QuestionError> {
    let fits = value > 0.0 && value < 1.0;
    in_range(fits, QuestionError::OutOfRange { option, range: "strictly between 0 and 1", value, example })
}

/// Refuses what is no order of a Rényi divergence.
pub(super) fn order(option: &'static str, value: f64) -> Result<(), QuestionError> {
    let fits = value.is_finite() && value > 1.0;
    in_range(fits, QuestionError::OutOfRange { option, range: "above 1 and finite", value, example: "8" })
}

fn in_range(fits: bool, otherwise: QuestionError) -> Result<(), QuestionError> {
    if fits { Ok(()) } else { Err(otherwise) }
}
