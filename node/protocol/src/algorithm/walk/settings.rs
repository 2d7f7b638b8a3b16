//! What all participants of a walk share: the transition law, and where tokens start.

use std::sync::{Arc, OnceLock};

use topology::MixingMatrix;

use crate::PeerIx;
use crate::agreement::{Charter, Credentials};
use crate::config::Config;
use crate::settings::Settings;
use crate::setup::{SetupError, graph};

/// Settings of a walk.
#[derive(Debug, Clone)]
pub struct WalkSettings {
    /// The transition law.
    pub kernel: Arc<MixingMatrix>,
    /// First holder of each token.
    pub starts: Vec<PeerIx>,
    /// Of a simulation, made by whoever needs it first.
    charter: Arc<OnceLock<Arc<Charter>>>,
}

impl WalkSettings {
    /// By this law, each token from its first holder.
    pub fn new(kernel: Arc<MixingMatrix>, starts: Vec<PeerIx>) -> Self {
        Self { kernel, starts, charter: Arc::default() }
    }

    /// The charter of a simulation, whose keys everybody can compute.
    pub(super) fn charter(&self, settings: &Settings) -> &Arc<Charter> {
        self.charter.get_or_init(|| Credentials::danger_charter(settings, false))
    }

    /// As a configuration says.
    pub(crate) fn of(config: &Config) -> Result<Self, SetupError> {
        let kernel = Arc::new(config.algorithm.kernel.matrix(&*graph(config)?)?);
        let (nodes, tokens) = (config.nodes, config.algorithm.tokens);
        // As far apart as numbers can be.
        let starts = (0..tokens).map(|token| (token * nodes / tokens) as PeerIx).collect();
        Ok(Self::new(kernel, starts))
    }
}

/// Hops of each token.
pub(crate) fn hops(config: &Config) -> Result<u32, SetupError> {
    let hops = u64::from(config.rounds) * config.nodes as u64;
    let error = || SetupError::TooManyHops { rounds: config.rounds, nodes: config.nodes };
    u32::try_from(hops.div_ceil(config.algorithm.tokens as u64)).map_err(|_| error())
}
