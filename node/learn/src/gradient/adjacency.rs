//! Whose data may change in a guarantee, and how far a clipped contribution then moves: the one place that knows either.

use serde::{Deserialize, Serialize};

/// Whose data may change in a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Adjacency {
    /// One record of a node is there or not.
    #[default]
    Record,
    /// All data of a node are replaced.
    Node,
}

impl Adjacency {
    /// Δ/C: how far a contribution clipped to norm C moves, at most, in clip norms.
    ///
    /// # Guarantee
    /// A record that is there or blank moves a sum of clipped gradients by its own, at most C (rounding comes on top, see
    /// [`rounding`](super::rounding)); replaced data of a node turn one vector of norm C into another.
    pub const fn clip_norms(self) -> f64 {
        match self {
            Self::Record => 1.0,
            Self::Node => 2.0,
        }
    }
}
