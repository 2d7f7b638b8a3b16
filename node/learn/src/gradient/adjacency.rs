//! Whose data may change in a guarantee, and how far a clipped contribution then moves: the one place that knows either.

use serde::{Deserialize, Serialize};

/// Whose data may change in a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Adjacency {
    /// One record of a node is there or not.
    #[default]
    Record,
    /// All records of one person at a node are there or not.
    Person,
    /// All data of a node are replaced.
    Node,
}

impl Adjacency {
    /// The word for it in a configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Person => "person",
            Self::Node => "node",
        }
    }

    /// Whether contributions are sums over samples of records, of which a node has many.
    pub const fn is_sampled(self) -> bool {
        matches!(self, Self::Record | Self::Person)
    }

    /// Δ/C: how far a contribution clipped to norm C moves, at most, in clip norms.
    ///
    /// # Guarantee
    /// A record that is there or blank moves a sum of clipped gradients by its own, at most C (rounding comes on top, see
    /// [`rounding`](super::rounding)); a person of whom one record at most is in the sum by no more; replaced data of a node turn one vector of norm C into another.
    pub const fn clip_norms(self) -> f64 {
        match self {
            Self::Record | Self::Person => 1.0,
            Self::Node => 2.0,
        }
    }
}
