//! What a run cost, pair by pair: a fold over its log, and the plan before it.
//!
//! [`plan()`] finds the noise before a run; an [`Account`] folds over the [lines](crate::LogLine) of its log and gives what was really lost. Both name
//! the analysis behind each figure, and both round up.

mod convert;
mod fold;
mod kept;
mod peers;
pub(crate) mod plan;
mod price;
mod release;
mod rows;
mod shape;
mod summary;
mod tally;
#[cfg(test)]
mod tests;
pub(crate) mod units;

pub use convert::{Units, epsilon_of, epsilon_of_mu2, mu2_through};
pub use fold::{Account, FoldError};
pub use kept::Kept;
pub use peers::PeerLoss;
pub use plan::{Aim, NoisePlan, PlanError, Protects, Question, Visibility, own_limit, plan};
pub use price::{Price, Prices};
pub use release::ReleaseKind;
pub use rows::Table;
pub use shape::Shape;
pub use summary::{Coalition, Figure, Interim, Summary};
pub(crate) use tally::Tally;

/// Pairs up to which all watchers of gossip and walks are priced.
const MOST_PAIRS: usize = 2_000_000;

/// All nodes, or a sample of watchers where all are too many.
pub(crate) fn priced_watchers(nodes: usize) -> Vec<usize> {
    if nodes * nodes <= MOST_PAIRS { (0..nodes).collect() } else { tally::sampled_watchers(nodes) }
}

/// What a planned run costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// z: noise divided by the clip norm.
    pub noise_multiplier: f64,
    /// The analysis that holds for the run.
    pub analysis: String,
    /// ε of the worst pair.
    pub worst: f64,
    /// Mean ε over all pairs.
    pub mean: f64,
    /// How many members may pool what they know, and ε towards any so many; `None` where the plan is not about such.
    pub coalition: Option<(usize, f64)>,
    /// ε towards somebody who sees every message.
    pub local: f64,
}
