//! What all participants of a walk share: the transition law, and where tokens start.

use std::sync::Arc;

use topology::MixingMatrix;

use crate::PeerIx;
use crate::config::Config;
use crate::setup::{SetupError, graph};

/// Settings of a walk.
#[derive(Debug, Clone)]
pub struct WalkSettings {
    /// The transition law.
    pub kernel: Arc<MixingMatrix>,
    /// First holder of each token.
    pub starts: Vec<PeerIx>,
}

impl WalkSettings {
    /// As a configuration says.
    pub(crate) fn of(config: &Config) -> Result<Self, SetupError> {
        let kernel = Arc::new(config.algorithm.kernel.matrix(&*graph(config)?)?);
        let (nodes, tokens) = (config.nodes, config.algorithm.tokens);
        // As far apart as numbers can be.
        let starts = (0..tokens).map(|token| (token * nodes / tokens) as PeerIx).collect();
        Ok(Self { kernel, starts })
    }
}

/// Hops of each token.
pub(crate) fn hops(config: &Config) -> Result<u32, SetupError> {
    let hops = u64::from(config.rounds) * config.nodes as u64;
    let error = || SetupError::TooManyHops { rounds: config.rounds, nodes: config.nodes };
    u32::try_from(hops.div_ceil(config.algorithm.tokens as u64)).map_err(|_| error())
}
