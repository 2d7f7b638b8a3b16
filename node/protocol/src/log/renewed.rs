//! What a renewed swarm file changed, as the log keeps it.

use serde::{Deserialize, Serialize};

use crate::PeerIx;

/// A renewal that all members of the renewed run accepted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Renewed {
    /// Which one, from 1.
    pub number: u32,
    /// Its digest.
    pub digest: String,
    /// Places from now on, empty ones among them: no figure is about fewer.
    pub nodes: u32,
    /// Who takes part no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<PeerIx>,
    /// Who joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<PeerIx>,
    /// How many of the members may be hostile from now on.
    pub hostile: u32,
    /// The first round that can begin.
    pub round: u32,
    /// Rounds of the run from now on, where they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Step size from now on, where it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
}
