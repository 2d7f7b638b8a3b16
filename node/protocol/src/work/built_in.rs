//! The built-in kinds of contributions: a model and the records of the nodes.

use std::sync::Arc;

use learn::data::Dataset;
use learn::gradient::{Adjacency, ClippedSum, GradientError, Workspace};
use learn::model::{self, Model};
use learn::objective::Objective;
use learn::optimiser::LocalSteps;
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::NoiseSource;

use super::record::CommonScale;
use super::{Computed, Desk, Differing, Form, Given, Job, Mechanism, Work, node, record, value};

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
    /// What there is besides, where data differ; `None` for plain contributions.
    pub differing: Option<Differing>,
}

impl WorkSettings {
    /// Standard deviation of a contribution's noise per coordinate, and the largest norm of an honest contribution: its signal, and noise of norm
    /// σ(√d + 8), which the norm of d normals passes with probability below e⁻³² (Laurent and Massart 2000). `most_records` is what no node has
    /// more of, where that is known.
    pub(crate) fn sizes(&self, parameters: usize, most_records: Option<usize>) -> (f64, f64) {
        let clip = self.clip.value();
        let (signal, divisor) = match &self.unit {
            Unit::Record { batch, common } | Unit::Person { batch, common } => {
                (record::largest_signal(clip, *batch, *common, most_records), common.divisor)
            }
            Unit::Node { .. } | Unit::Value => (clip, 1.0),
        };
        let deviation = self.noise_multiplier * clip / divisor;
        // One per cent for rounding: slack in the noise, and single precision.
        (deviation, 1.01 * (signal + deviation * ((parameters as f64).sqrt() + 8.0)))
    }
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
    /// All records of one person: the same over a Poisson sample of persons, each with one of its records.
    Person {
        /// Persons per batch on average.
        batch: Option<f64>,
        /// What makes the noise of all nodes equal.
        common: CommonScale,
    },
    /// All data of the node: its clipped update after local steps. The seed of the batches is mixed with the round.
    Node {
        /// The steps.
        local: LocalSteps,
        /// μ of a pull (μ/2)‖θ − shared‖² on them (FedProx).
        proximal: f64,
        /// α of a step after which they are to be good (Per-FedAvg); 0: none.
        ahead: f64,
        /// Seed of the batches.
        seed: u64,
    },
    /// All data of the node: the clipped mean of its records, for `mean`.
    Value,
}

impl Unit {
    /// The adjacency of the guarantee.
    pub fn adjacency(&self) -> Adjacency {
        match self {
            Self::Record { .. } => Adjacency::Record,
            Self::Person { .. } => Adjacency::Person,
            Self::Node { .. } | Self::Value => Adjacency::Node,
        }
    }
}

/// A model, and the records of the nodes of this process.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    settings: Arc<WorkSettings>,
    model: Arc<dyn Model>,
    train: Arc<[Dataset]>,
}

impl BuiltIn {
    /// Contributions of these nodes by these settings.
    ///
    /// # Panics
    /// Without any node.
    pub fn new(settings: Arc<WorkSettings>, model: Arc<dyn Model>, train: Arc<[Dataset]>) -> Self {
        assert!(!train.is_empty(), "contributions are made of somebody's records");
        Self { settings, model, train }
    }
}

impl Work for BuiltIn {
    fn nodes(&self) -> usize {
        self.train.len()
    }

    fn form(&self) -> Form {
        let parameters = self.model.parameter_count();
        let length =
            self.settings.differing.as_ref().map_or(parameters, |differing| differing.layout.length());
        Form::of(&self.train[0], length)
    }

    fn records(&self, node: usize) -> usize {
        self.train.get(node).map_or(0, Dataset::len)
    }

    fn contribute(
        &self,
        desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        let (settings, about) = (&*self.settings, (self.model.as_ref(), &self.train[desk.node]));
        match &settings.differing {
            None => contribute(settings, about, job, desk.room.workspace(about.0), noise),
            Some(differing) => settings.differing(differing, about, (desk, job), noise),
        }
    }
}

/// Makes a contribution of these records.
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
    about: (&dyn Model, &Dataset),
    job: &Job,
    workspace: &mut Workspace,
    noise: &mut dyn NoiseSource,
) -> Result<Computed, TrainError> {
    let params = job.params.as_slice();
    let loss = settings.loss(about, params)?;
    let sum = settings.sum(about, (params, job.round), workspace, noise)?;
    let (contribution, release) = settings.release(&job.mechanism, sum, noise)?;
    Ok(Computed { round: job.round, contribution, release, loss })
}

impl WorkSettings {
    /// The loss of the records at a model, where it is asked for.
    pub(super) fn loss(&self, (model, data): About<'_>, params: &[f32]) -> Result<Option<f64>, TrainError> {
        let asked = self.with_loss && !matches!(self.unit, Unit::Value);
        let loss = asked.then(|| model::loss(model, params, data).map_err(GradientError::from));
        Ok(loss.transpose()?)
    }

    /// What is to be released of these records at a model in a round.
    pub(super) fn sum(
        &self,
        (model, data): About<'_>,
        (params, round): (&[f32], u32),
        workspace: &mut Workspace,
        noise: &mut dyn NoiseSource,
    ) -> Result<ClippedSum, TrainError> {
        Ok(match &self.unit {
            Unit::Record { batch, common } | Unit::Person { batch, common } => {
                let of = self.unit.adjacency();
                let record = record::Batch { expected: *batch, common: *common, clip: self.clip, of };
                record.sum(params, (model, data), workspace, noise)?
            }
            Unit::Node { local, proximal, ahead, seed } => {
                let objective = Objective::new(model, data).pulled(*proximal, params).looking_ahead(*ahead);
                node::update(&objective, (params, round), local, *seed)?.clip(self.clip)
            }
            Unit::Value => value::mean(data).clip(self.clip),
        })
    }

    pub(super) fn release(
        &self,
        mechanism: &Mechanism,
        sum: ClippedSum,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Given, DpEvent), TrainError> {
        let (given, release) = mechanism.release(sum, self.noise_multiplier, noise)?;
        let contribution = match self.unit {
            // An update points downhill, a gradient uphill: what is sent is a gradient.
            Unit::Node { .. } => given.negated(),
            // A total is a step from zero, and goes downhill.
            Unit::Value if mechanism.words().is_some() => given.negated(),
            Unit::Record { .. } | Unit::Person { .. } | Unit::Value => given,
        };
        Ok((contribution, release))
    }
}

/// A model, and the records of a node.
pub(super) type About<'a> = (&'a dyn Model, &'a Dataset);
