//! A run that is ready to start: what a driver needs besides its network.

use std::sync::Arc;

use learn::data::Dataset;
use learn::model::Model;

use crate::account::Planned;
use crate::config::Config;
use crate::settings::Settings;
use crate::values::Digest;
use crate::work::WorkSettings;

/// Everything that follows from a configuration and the data.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration.
    pub config: Config,
    /// Digest of what all participants must share.
    pub digest: Digest,
    /// What the state machines need.
    pub settings: Arc<Settings>,
    /// How contributions are made.
    pub work: Arc<WorkSettings>,
    /// The model.
    pub model: Arc<dyn Model>,
    /// Records of each node; one entry where only the own data are known.
    pub train: Vec<Dataset>,
    /// Records to test on, common to all; `None` where there are none.
    pub test: Option<Dataset>,
    /// What the planned run costs, and how the noise was found.
    pub planned: Planned,
    /// ρ of the local update, where it is certified.
    pub rho: Option<f64>,
}
