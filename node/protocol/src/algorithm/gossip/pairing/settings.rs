//! What all participants agree on about pairwise noise, and what a node's own part of it hides.

use std::sync::Arc;

use privacy::network::gopa;
use topology::Graph;

use crate::masks::Hidden;

/// Settings of pairwise noise.
#[derive(Debug, Clone)]
pub struct PairingSettings {
    /// Who shares noise with whom, where both hear of each other in time.
    pub graph: Arc<Graph>,
    /// σ_Δ/σ_η: deviation of shared noise over that of a contribution's own.
    pub ratio: f64,
    /// σ_Δ.
    pub deviation: f64,
    /// c: members that may pool what they know.
    pub colluders: usize,
}

impl PairingSettings {
    /// How well a node is hidden that shares noise with so many: by its own part alone, so that it holds whatever becomes of the others.
    ///
    /// # Guarantee
    /// As [`gopa::of_neighbours`].
    pub(crate) fn hidden(&self, shared_with: usize) -> Hidden {
        let beside = |watchers: usize| gopa::of_neighbours(shared_with.saturating_sub(watchers), self.ratio);
        Hidden {
            look: 0.0,
            among: u32::try_from(shared_with + 1).unwrap_or(u32::MAX),
            one: beside(1),
            coalition: beside(self.colluders),
            is_enough: true,
        }
    }

    /// Fewest and most neighbours of a node.
    pub(crate) fn degrees(&self) -> (usize, usize) {
        let degrees = || (0..self.graph.nodes()).map(|node| self.graph.degree(node));
        (degrees().min().unwrap_or(0), degrees().max().unwrap_or(0))
    }
}
