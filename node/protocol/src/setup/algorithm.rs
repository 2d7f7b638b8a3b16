//! The settings of the algorithms: graph, schedule, acceleration, kernel, starts.

use std::sync::Arc;

use topology::schedule::Setting;
use topology::{Chebyshev, Graph, MixingMatrix, Schedule, ScheduleSpec, Spectrum};

use super::error::SetupError;
use crate::PeerIx;
use crate::config::{AlgorithmKind, Config};
use crate::settings::{Algorithm, GossipSettings, RoundsSettings, WalkSettings};
use crate::work::Adjacency;

/// The algorithm of a run. What only the simulator does to compare with has the settings of `rounds`, which nobody runs.
pub(super) fn algorithm(config: &Config, run_id: &str) -> Result<Algorithm, SetupError> {
    match config.algorithm.kind {
        AlgorithmKind::Gossip => gossip(config, run_id, true),
        AlgorithmKind::Mean => gossip(config, run_id, false),
        AlgorithmKind::Walk => walk(config),
        AlgorithmKind::Rounds
        | AlgorithmKind::Alone
        | AlgorithmKind::Central
        | AlgorithmKind::Local
        | AlgorithmKind::Fedavg => Ok(Algorithm::Rounds(RoundsSettings::new(config.rounds))),
    }
}

/// Rounds of the state machine: hops of each token for a walk, one for `mean`.
pub(super) fn rounds(config: &Config) -> Result<u32, SetupError> {
    match config.algorithm.kind {
        AlgorithmKind::Mean => Ok(1),
        AlgorithmKind::Walk => {
            let hops = u64::from(config.rounds) * config.nodes as u64;
            let error = || SetupError::TooManyHops { rounds: config.rounds, nodes: config.nodes };
            u32::try_from(hops.div_ceil(config.algorithm.tokens as u64)).map_err(|_| error())
        }
        _ => Ok(config.rounds),
    }
}

/// Message noise is given as a multiple of the noise that one contribution leaves in a node's state: at record level the step size scales it.
pub(super) fn with_message_noise(algorithm: Algorithm, config: &Config, contribution: f64) -> Algorithm {
    let in_state = match config.privacy.adjacency {
        Adjacency::Record => config.learning_rate * contribution,
        Adjacency::Node => contribution,
    };
    match algorithm {
        Algorithm::Gossip(mut gossip) => {
            gossip.message_noise = config.algorithm.message_noise * in_state;
            Algorithm::Gossip(gossip)
        }
        other => other,
    }
}

fn gossip(config: &Config, run_id: &str, train: bool) -> Result<Algorithm, SetupError> {
    // Only these two look at the graph.
    let needs_graph = matches!(config.algorithm.schedule, ScheduleSpec::Fixed | ScheduleSpec::RandomMatching);
    let setting = Setting {
        graph: needs_graph.then(|| graph(config)).transpose()?,
        weights: config.weights.clone(),
        steps: config.algorithm.mixing_steps,
        run_id: run_id.to_owned(),
    };
    let schedule = config.algorithm.schedule.schedule(&setting)?;
    let accelerate = match &schedule {
        Schedule::Fixed { matrix, .. } if config.algorithm.accelerate => coefficients(config, matrix)?,
        _ => Vec::new(),
    };
    let mut settings = GossipSettings::new(Arc::new(schedule), config.nodes)?;
    settings.accelerate = accelerate.into();
    settings.train = train;
    Ok(Algorithm::Gossip(settings))
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

fn walk(config: &Config) -> Result<Algorithm, SetupError> {
    let kernel = Arc::new(config.algorithm.kernel.matrix(&*graph(config)?)?);
    let (nodes, tokens) = (config.nodes, config.algorithm.tokens);
    // As far apart as numbers can be.
    let starts = (0..tokens).map(|token| (token * nodes / tokens) as PeerIx).collect();
    Ok(Algorithm::Walk(WalkSettings { kernel, starts }))
}

fn graph(config: &Config) -> Result<Arc<Graph>, SetupError> {
    let graph = config.graph_spec()?.build()?.graph;
    if graph.nodes() != config.nodes {
        let (topology, has, nodes) = (config.topology.clone(), graph.nodes(), config.nodes);
        return Err(SetupError::GraphSize { topology, has, nodes });
    }
    Ok(Arc::new(graph))
}
