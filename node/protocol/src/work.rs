//! The heavy work that a driver does for a node: one private contribution.
//!
//! Data and noise live here, with the driver; the state machine never sees either. What comes back is a [`Shareable`] and the event that it cost.

use learn::data::Dataset;
use learn::gradient::{ExampleGradient, GradientError, PoissonSampler, Shareable, Workspace, rounding};
use learn::model::{self, Model};
use learn::optimiser::{LocalSteps, node_update};
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::NoiseSource;

pub use learn::gradient::Adjacency;

use crate::values::Values;

/// Lanes of any workspace that drivers use: rounding is bounded for as many.
pub const MOST_LANES: usize = 2;

/// What is to be computed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Round; for a walk the hop.
    pub round: u32,
    /// The model at which the gradient is wanted.
    pub params: Values,
}

/// What came out.
#[derive(Debug)]
pub struct Computed {
    /// Round of the job.
    pub round: u32,
    /// The noised contribution: a gradient, at node level the negative of an update, or the value itself for `mean`.
    pub contribution: Shareable,
    /// What it costs.
    pub release: DpEvent,
    /// Loss before the step on the node's own data; not private. `None` for `mean`, or if it was not asked for.
    pub loss: Option<f64>,
}

/// How contributions are made: the same at all nodes.
#[derive(Debug, Clone)]
pub struct WorkSettings {
    /// What is protected.
    pub unit: Unit,
    /// C.
    pub clip: ClipNorm,
    /// z: noise divided by C (times 1 + slack at record level).
    pub noise_multiplier: f64,
    /// Whether to compute the training loss too (costs a pass over the data).
    pub with_loss: bool,
}

/// What is protected, and how a contribution is made.
#[derive(Debug, Clone)]
pub enum Unit {
    /// One record: the mean of clipped gradients over a Poisson sample of this expected size (`None`: all records).
    Record {
        /// Records per batch on average.
        batch: Option<f64>,
        /// What makes the noise of all nodes equal.
        common: CommonScale,
    },
    /// All data of the node: its clipped update after local steps. The seed of the batches is mixed with the round.
    Node {
        /// The steps.
        local: LocalSteps,
        /// Seed of the batches.
        seed: u64,
    },
    /// All data of the node: the clipped mean of its records, for `mean`.
    Value,
}

/// Public numbers that make contributions of nodes with different numbers of records comparable: equal noise, and every record of the swarm of equal
/// weight. An analysis that counts on the noise of others relies on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonScale {
    /// What sums are divided by, whatever the node's own number of records.
    pub divisor: f64,
    /// By how much, relative to the clip norm, rounding may enlarge the sensitivity; nodes for which it is more clip that much tighter.
    pub slack: f64,
}

impl Unit {
    /// The adjacency of the guarantee.
    pub fn adjacency(&self) -> Adjacency {
        match self {
            Self::Record { .. } => Adjacency::Record,
            Self::Node { .. } | Self::Value => Adjacency::Node,
        }
    }
}

/// Makes the contribution of `node` for `job`.
///
/// # Guarantee
/// As [`learn::gradient::ClippedSum::release`]: the contribution is the output of the mechanism that `release` describes, on the data given and, beyond
/// that, a function of the job's parameters only.
///
/// # Assumes
/// The job's parameters depend on the private data through earlier releases only. The event is recorded before the contribution is sent.
///
/// # Errors
/// Data that do not fit the model, or settings outside their range.
pub fn contribute(
    settings: &WorkSettings,
    (model, data): (&dyn Model, &Dataset),
    job: &Job,
    workspace: &mut Workspace,
    noise: &mut dyn NoiseSource,
) -> Result<Computed, TrainError> {
    let params = job.params.as_slice();
    let loss = (settings.with_loss && !matches!(settings.unit, Unit::Value))
        .then(|| model::loss(model, params, data).map_err(GradientError::from))
        .transpose()?;
    let sum = match &settings.unit {
        Unit::Record { batch, common } => {
            let expected = batch.unwrap_or(data.len() as f64);
            let sample = PoissonSampler::for_batch(expected, data.len())?.draw(noise);
            let own = rounding::slack(data.len(), model.chunk_rows(), MOST_LANES);
            let clip = if own > common.slack {
                settings.clip.shrunk((1.0 + common.slack) / (1.0 + own))
            } else {
                settings.clip
            };
            let sensitivity = settings.clip.value() * (1.0 + common.slack);
            workspace.clipped_sum(params, data, sample, clip)?.on_common_scale(sensitivity, common.divisor)
        }
        Unit::Node { local, seed } => {
            let seed = seed.wrapping_add(u64::from(job.round).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            node_update(model, params, data, local, seed)?.clip(settings.clip)
        }
        Unit::Value => ExampleGradient::of_node(mean_of(data)).clip(settings.clip),
    };
    let (shareable, release) = sum.release(settings.noise_multiplier, noise)?;
    let contribution = match settings.unit {
        // An update points downhill, a gradient uphill.
        Unit::Node { .. } => {
            shareable.post_process(|values| values.iter_mut().for_each(|value| *value = -*value))
        }
        Unit::Record { .. } | Unit::Value => shareable,
    };
    Ok(Computed { round: job.round, contribution, release, loss })
}

fn mean_of(data: &Dataset) -> Vec<f32> {
    let mut sum = vec![0.0_f64; data.columns()];
    for record in 0..data.len() {
        sum.iter_mut().zip(data.row(record)).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = data.len().max(1) as f64;
    sum.into_iter().map(|sum| (sum / count) as f32).collect()
}
