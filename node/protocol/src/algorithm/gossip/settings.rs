//! What all participants of gossip share: schedule, acceleration, noise on messages.

use std::sync::Arc;

use topology::schedule::Setting;
use topology::{Chebyshev, MixingMatrix, Schedule, ScheduleSpec, Spectrum, TopologyError};

use super::{MixingPlan, PairingSettings};
use crate::config::{self, Config, Masking};
use crate::setup::{SetupError, graph};
use crate::work::Adjacency;

/// Settings of gossip.
#[derive(Debug, Clone)]
pub struct GossipSettings {
    /// Who mixes with whom in each step of each round; carries the number of steps.
    pub schedule: Arc<Schedule>,
    /// Chebyshev coefficients ω of the steps of a round; empty for plain gossip.
    pub accelerate: Arc<[f64]>,
    /// Standard deviation of fresh noise on each message; 0 for none.
    pub message_noise: f64,
    /// Whether contributions are gradients at the current state; otherwise the state is the contribution (`mean`).
    pub train: bool,
    /// Noise that neighbours share, where there is some.
    pub pairing: Option<PairingSettings>,
    /// Who hears whom, worked out once for all nodes of a process.
    pub(crate) plan: Arc<MixingPlan>,
}

impl GossipSettings {
    /// Plain averaging of `nodes` nodes by `schedule`; the public fields change what is done.
    ///
    /// # Errors
    /// A schedule that does not take so many nodes.
    pub fn new(schedule: Arc<Schedule>, nodes: usize) -> Result<Self, TopologyError> {
        let plan = Arc::new(MixingPlan::new(&schedule, nodes)?);
        Ok(Self {
            schedule,
            accelerate: Arc::default(),
            message_noise: 0.0,
            train: false,
            pairing: None,
            plan,
        })
    }

    /// As a configuration says, for a run of this name; `train` is false for `mean`.
    pub(crate) fn of(config: &Config, run_id: &str, train: bool) -> Result<Self, SetupError> {
        // Only these two look at the graph.
        let needs_graph =
            matches!(config.algorithm.schedule, ScheduleSpec::Fixed | ScheduleSpec::RandomMatching);
        let setting = Setting {
            graph: needs_graph.then(|| graph(config)).transpose()?,
            weights: config.weights.clone(),
            steps: config.algorithm.mixing_steps,
            run_id: run_id.to_owned(),
        };
        let schedule = pulled(config, config.algorithm.schedule.schedule(&setting)?);
        let accelerate = match &schedule {
            Schedule::Fixed { matrix, .. } if config.algorithm.accelerate => coefficients(config, matrix)?,
            _ => Vec::new(),
        };
        let paired = !train && config.privacy.masking == Masking::Gopa;
        let pairing = paired.then(|| pairing(config)).transpose()?;
        Ok(Self {
            accelerate: accelerate.into(),
            train,
            pairing,
            ..Self::new(Arc::new(schedule), config.nodes)?
        })
    }

    /// Message noise, and noise that neighbours share, are given as a multiple of the noise that one contribution leaves in a node's state: at record level the step size scales it.
    pub(crate) fn set_message_noise(&mut self, config: &Config, contribution: f64) {
        let in_state = match config.privacy.adjacency {
            Adjacency::Record | Adjacency::Person => config.learning_rate * contribution,
            Adjacency::Node => contribution,
        };
        self.message_noise = config.algorithm.message_noise * in_state;
        if let Some(pairing) = &mut self.pairing {
            pairing.deviation = pairing.ratio * contribution;
        }
    }
}

/// Where nodes keep models of their own, a round goes a part of the way that makes them one.
///
/// After the step θ_i − η·g_i the models move by −ηλ(I − W)θ: a step of the gradient of (λ/2)·Σ w_ij‖θ_i − θ_j‖² over all edges (Vanhaesebrouck et al. 2017).
fn pulled(config: &Config, schedule: Schedule) -> Schedule {
    match schedule {
        Schedule::Fixed { graph, matrix, steps } if config.algorithm.pull.is_some() => {
            Schedule::Fixed { graph, matrix: Arc::new(matrix.damped(config::pulled(config))), steps }
        }
        schedule => schedule,
    }
}

fn pairing(config: &Config) -> Result<PairingSettings, SetupError> {
    let (ratio, colluders) = (config.privacy.pairwise_noise, config.privacy.colluders);
    Ok(PairingSettings { graph: graph(config)?, ratio, deviation: 0.0, colluders })
}

fn coefficients(config: &Config, matrix: &MixingMatrix) -> Result<Vec<f64>, SetupError> {
    let spectrum = Spectrum::of(matrix)?;
    // Where λ₂ decides, its own gap has more digits than 1 − |λ₂|.
    let gap = f64::min(spectrum.spectral_gap, 1.0 - spectrum.lambda_min.abs());
    let chebyshev = Chebyshev::new(gap).ok_or_else(|| SetupError::NothingToAccelerate {
        topology: config.topology.clone(),
        weights: config.weights.to_string(),
    })?;
    Ok(chebyshev.coefficients(config.algorithm.mixing_steps))
}
