//! What to compare with, on the same data, with the same clip norm and the same budget.
//!
//! - `central`: a trusted curator holds all records and publishes the model. Record level: one Poisson sample of the union and one noise per round.
//!   Node level: the sum of the nodes' clipped updates and one noise.
//! - `local`: the mathematics of `rounds`, but every message is public, so each contribution carries the noise that its node needs on its own.
//! - `fedavg`: a server averages the nodes' models after local steps. It sees every update, so the analysis is `local` (McMahan et al. 2017).
//! - `alone`: nobody exchanges anything; each node spends its budget on its own model.

use learn::data::Dataset;
use learn::gradient::{GradientError, PoissonSampler, SamplingRate, Shareable, Workspace};
use learn::model::{self, Model};
use learn::optimiser::Optimiser;
use learn::train::{TrainError, Training};
use privacy::event::DpEvent;
use privacy::noise::{SeededNoise, danger_from_seed};
use protocol::Hint;
use protocol::account::{Figure, Protects, Summary};
use protocol::config::AlgorithmKind;
use protocol::work::{Adjacency, Job, Unit, WorkSettings, contribute};
use protocol::{Setup, Values};
use rayon::prelude::*;
use thiserror::Error;

use crate::figures::{figure, uniform};
use crate::{fedem, ifca};

/// Why a comparison cannot be run.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// A contribution could not be computed.
    #[error("cannot compute a contribution")]
    Train(#[from] TrainError),
    /// No noise meets the budget.
    #[error("cannot find the noise for the budget")]
    Budget(#[from] learn::calibrate::CalibrateError),
}

impl Hint for BaselineError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Train(error) => error.hint(),
            Self::Budget(error) => error.hint(),
        }
    }
}

impl From<GradientError> for BaselineError {
    fn from(error: GradientError) -> Self {
        Self::Train(error.into())
    }
}

/// The state of a comparison after a round.
pub struct Progress<'a> {
    /// The round, from 0.
    pub round: u32,
    /// The models: one for all, or one for each node.
    pub models: &'a [Vec<f32>],
    /// Mean training loss before the step.
    pub train_loss: Option<f64>,
    /// Bytes sent so far by all nodes.
    pub bytes: u64,
    /// z: noise divided by the clip norm; of the curator's one noise for `central`.
    pub noise_multiplier: f64,
    /// What it has cost so far; told in about fifty rounds and in the last.
    pub privacy: Option<Summary>,
}

/// Runs a comparison and shows every round.
///
/// # Errors
/// A contribution that cannot be computed, or a budget that no noise meets.
///
/// # Panics
/// Where the setup asks for an algorithm that is none of the four.
pub fn run(setup: &Setup, observe: &mut dyn FnMut(&Progress<'_>)) -> Result<(), BaselineError> {
    match setup.config.algorithm.kind {
        AlgorithmKind::Central => match setup.work.unit {
            Unit::Record { .. } | Unit::Person { .. } => central_records(setup, observe),
            Unit::Node { .. } | Unit::Value => central_nodes(setup, observe),
        },
        AlgorithmKind::Local => averaged(setup, 1, observe),
        AlgorithmKind::Fedavg => averaged(setup, local_releases(setup), observe),
        AlgorithmKind::Alone => alone(setup, observe),
        kind => panic!("`{}` is not a comparison", kind.name()),
    }
}

/// Releases of one node per round: at record level every local step is one.
fn local_releases(setup: &Setup) -> u64 {
    match setup.work.unit {
        Unit::Record { .. } | Unit::Person { .. } => setup.config.local_steps,
        Unit::Node { .. } | Unit::Value => 1,
    }
}

/// Seeded: a simulation protects nobody.
fn noise(setup: &Setup, node: usize, count: u64) -> SeededNoise {
    danger_from_seed(setup.config.seed, &format!("baseline/{node}/{count}"))
}

fn optimiser(setup: &Setup) -> Result<Box<dyn Optimiser>, TrainError> {
    Ok(setup.settings.step.optimiser.build(setup.settings.initial.len())?)
}

/// θ ← one step against the mean contribution, penalty included.
fn step(setup: &Setup, round: u64, params: &mut [f32], gradient: &mut [f32], optimiser: &mut dyn Optimiser) {
    let rule = &setup.settings.step;
    let penalty = rule.penalty as f32;
    gradient.iter_mut().zip(&*params).for_each(|(gradient, param)| *gradient += penalty * param);
    optimiser.step(params, gradient, rule.sizes.at(round));
}

/// The curator's training on the union of all records: the rate is that of a node of mean size.
fn central_training(setup: &Setup, union: &Dataset) -> Result<Training, BaselineError> {
    let mean_size = union.len() as f64 / setup.train.len() as f64;
    let rate = setup.config.batch_size.map_or(1.0, |batch| (batch as f64 / mean_size).min(1.0));
    let training = Training {
        steps: u64::from(setup.config.rounds),
        rate: SamplingRate::new(rate)?,
        clip: setup.work.clip,
        noise_multiplier: 1.0,
        schedule: setup.settings.step.sizes,
        optimiser: setup.settings.step.optimiser,
        average: false,
    };
    let noise_multiplier = central_noise(setup, &training, union.len())?;
    Ok(Training { noise_multiplier, ..training })
}

/// The least noise of the curator for the budget, or the multiplier of the configuration.
fn central_noise(setup: &Setup, training: &Training, records: usize) -> Result<f64, BaselineError> {
    let privacy = &setup.config.privacy;
    match (privacy.epsilon, privacy.noise_multiplier) {
        (Some(epsilon), _) => {
            Ok(learn::calibrate::noise_multiplier(training, records, epsilon, privacy.delta)?)
        }
        (None, multiplier) => Ok(multiplier.unwrap_or(0.0)),
    }
}

/// The curator publishes the model; the nodes' records are with the curator, from whom nothing protects them.
fn central_privacy(setup: &Setup, release: &DpEvent, releases: u64) -> Summary {
    let seen = figure(release, releases, setup.config.privacy.delta, "central");
    let all = f64::INFINITY;
    let local =
        Figure { epsilon: all, mu2: all, analysis: "none (the curator sees all data)".into(), pair: None };
    Summary { local, ..uniform(setup, &seen, releases) }
}

/// Pricing a sampled event takes longer than a round: not every round is worth it.
fn is_priced(setup: &Setup, round: u32) -> bool {
    let rounds = setup.config.rounds;
    round + 1 == rounds || (round + 1).is_multiple_of(rounds.div_ceil(50))
}

fn central_records(setup: &Setup, observe: &mut dyn FnMut(&Progress<'_>)) -> Result<(), BaselineError> {
    let union = Dataset::joined(&setup.train).expect("a simulation's nodes share one table").compact();
    let training = central_training(setup, &union)?;
    let sampler = PoissonSampler::new(training.rate, union.len());
    let release = Training { steps: 1, ..training }.event(union.len());
    let model = setup.model.as_ref();
    let mut workspace = Workspace::new(model);
    let mut optimiser = optimiser(setup)?;
    let mut models = vec![setup.settings.initial.as_slice().to_vec()];
    for round in 0..setup.config.rounds {
        let train_loss = loss(setup, &models[0], &union)?;
        let source = &mut noise(setup, 0, u64::from(round));
        let sum = workspace.clipped_sum(&models[0], &union, sampler.draw(source), training.clip)?;
        let mut gradient = sum.release(training.noise_multiplier, source)?.0.into_values();
        step(setup, u64::from(round), &mut models[0], &mut gradient, optimiser.as_mut());
        workspace.recycle(gradient);
        let privacy = is_priced(setup, round).then(|| central_privacy(setup, &release, u64::from(round) + 1));
        observe(&Progress {
            round,
            models: &models,
            train_loss,
            bytes: 0,
            noise_multiplier: training.noise_multiplier,
            privacy,
        });
    }
    Ok(())
}

fn loss(setup: &Setup, params: &[f32], data: &Dataset) -> Result<Option<f64>, BaselineError> {
    let wanted = setup.work.with_loss;
    let loss = wanted.then(|| model::loss(setup.model.as_ref(), params, data).map_err(GradientError::from));
    Ok(loss.transpose()?)
}

/// One noise zC on a sum of n clipped updates, which replacing a node's data moves by 2C. Each node adds a share of variance (zC)²/n: the
/// sum has exactly the curator's noise.
fn central_nodes(setup: &Setup, observe: &mut dyn FnMut(&Progress<'_>)) -> Result<(), BaselineError> {
    let training = Training {
        steps: u64::from(setup.config.rounds),
        rate: SamplingRate::ALL,
        clip: setup.work.clip,
        noise_multiplier: 1.0,
        schedule: setup.settings.step.sizes,
        optimiser: setup.settings.step.optimiser,
        average: false,
    };
    let calibrated = setup.config.privacy.epsilon.is_some();
    let z = central_noise(setup, &training, 1)? * if calibrated { Adjacency::Node.clip_norms() } else { 1.0 };
    let share = z / (setup.train.len() as f64).sqrt();
    let work = WorkSettings { noise_multiplier: share, ..(*setup.work).clone() };
    let release = Protects::Node.event(z);
    let mut models = vec![setup.settings.initial.as_slice().to_vec()];
    let mut optimiser = optimiser(setup)?;
    for round in 0..setup.config.rounds {
        let (mut mean, train_loss) = mean_contribution(setup, &work, round, &models[0])?;
        step(setup, u64::from(round), &mut models[0], &mut mean, optimiser.as_mut());
        let privacy = is_priced(setup, round).then(|| central_privacy(setup, &release, u64::from(round) + 1));
        observe(&Progress { round, models: &models, train_loss, bytes: 0, noise_multiplier: z, privacy });
    }
    Ok(())
}

/// The mean of all nodes' contributions at one model, summed in the order of the nodes.
fn mean_contribution(
    setup: &Setup,
    work: &WorkSettings,
    round: u32,
    params: &[f32],
) -> Result<(Vec<f32>, Option<f64>), BaselineError> {
    let job = Job::new(round, Values::from_wire(params.to_vec()));
    let drawn = drawn(setup, round);
    let one = |workspace: &mut Workspace, (node, data): (usize, &Dataset)| {
        let source = &mut noise(setup, node, u64::from(round));
        contribute(work, (setup.model.as_ref(), data), &job, workspace, source)
    };
    let model: &dyn Model = setup.model.as_ref();
    let nodes = setup.train.par_iter().enumerate().filter(|(node, _)| drawn[*node]);
    let all: Result<Vec<_>, TrainError> = nodes.map_init(|| Workspace::new(model), one).collect();
    let all = all?;
    let mut sum = vec![0.0_f64; params.len()];
    for computed in &all {
        sum.iter_mut()
            .zip(computed.contribution.reals().map_or(&[][..], Shareable::values))
            .for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = all.len() as f64;
    let losses: Option<Vec<f64>> = all.iter().map(|computed| computed.loss).collect();
    let mean = sum.into_iter().map(|sum| (sum / count) as f32).collect();
    Ok((mean, losses.map(|losses| losses.iter().sum::<f64>() / count)))
}

/// `local`, and `fedavg` with `releases` noisy steps of each node before its model is averaged with the others'.
fn averaged(
    setup: &Setup,
    releases: u64,
    observe: &mut dyn FnMut(&Progress<'_>),
) -> Result<(), BaselineError> {
    let mut models = vec![setup.settings.initial.as_slice().to_vec()];
    let mut optimiser = optimiser(setup)?;
    let mut last_rounds = vec![0.0; models[0].len()];
    let (mut bytes, mut takes_part) = (0, vec![0; setup.train.len()]);
    let mut mixtures = fedem::equal(setup);
    for round in 0..setup.config.rounds {
        let drawn = drawn(setup, round);
        takes_part.iter_mut().zip(&drawn).for_each(|(times, &drawn)| *times += u64::from(drawn));
        let train_loss = if releases == 1 {
            let (mut mean, loss) = if setup.config.clusters.mixture {
                fedem::mean(setup, (round, &drawn), &models[0], &mut mixtures)?
            } else if setup.layout.slots > 1 {
                ifca::mean(setup, (round, &drawn), &models[0])?
            } else {
                mean_contribution(setup, &setup.work, round, &models[0])?
            };
            step(setup, u64::from(round), &mut models[0], &mut mean, optimiser.as_mut());
            loss
        } else {
            let mut nodes = Own::all(setup, &models[0])?;
            let loss = own_steps(setup, u64::from(round) * releases, releases, &mut nodes)?;
            let moved: Vec<&[f32]> = nodes
                .iter()
                .zip(&drawn)
                .filter(|(_, drawn)| **drawn)
                .map(|(node, _)| node.params.as_slice())
                .collect();
            models[0] = protocol::judge::mean_model(&moved);
            loss
        };
        if let Some(place) = setup.settings.algorithm.averaged_at(round + 1, setup.config.rounds) {
            let all = last_rounds.iter_mut().zip(&models[0]);
            all.for_each(|(mean, now)| *mean += (now - *mean) / place as f32);
            if round + 1 == setup.config.rounds {
                models[0].clone_from(&last_rounds);
            }
        }
        // One upload and one download of the model per node that takes part.
        let parts = drawn.iter().filter(|drawn| **drawn).count();
        bytes += 2 * 4 * (models[0].len() * parts) as u64;
        let most = takes_part.iter().copied().max().unwrap_or(0);
        let privacy = is_priced(setup, round).then(|| local_privacy(setup, most * releases));
        let noise_multiplier = setup.work.noise_multiplier;
        observe(&Progress { round, models: &models, train_loss, bytes, noise_multiplier, privacy });
    }
    Ok(())
}

/// What the node that released most often lost so far, for all.
fn local_privacy(setup: &Setup, releases: u64) -> Summary {
    let seen = figure(&setup.settings.release, releases, setup.config.privacy.delta, "local");
    uniform(setup, &seen, releases * setup.train.len() as u64)
}

/// Who contributes to a round.
fn drawn(setup: &Setup, round: u32) -> Vec<bool> {
    let drawn = setup.settings.algorithm.drawn(&setup.settings.key, round, setup.train.len());
    drawn.unwrap_or_else(|| vec![true; setup.train.len()])
}

/// A node that learns from its own data.
struct Own {
    params: Vec<f32>,
    optimiser: Box<dyn Optimiser>,
}

impl Own {
    fn all(setup: &Setup, start: &[f32]) -> Result<Vec<Self>, TrainError> {
        let fresh = |_| Ok(Self { params: start.to_vec(), optimiser: optimiser(setup)? });
        setup.train.iter().map(fresh).collect()
    }
}

/// Noisy steps of every node on its own data from its own model, with the mean of the losses before the first.
fn own_steps(setup: &Setup, first: u64, steps: u64, nodes: &mut [Own]) -> Result<Option<f64>, BaselineError> {
    let count = nodes.len() as f64;
    let one = |workspace: &mut Workspace, (node, own): (usize, &mut Own)| {
        let mut loss = None;
        for at in first..first + steps {
            let job = Job::new(at as u32, Values::from_wire(own.params.clone()));
            let data = (setup.model.as_ref(), &setup.train[node]);
            let computed = contribute(&setup.work, data, &job, workspace, &mut noise(setup, node, at))?;
            loss = loss.or(computed.loss);
            let mut gradient =
                computed.contribution.into_reals().map_or_else(Vec::new, Shareable::into_values);
            step(setup, at, &mut own.params, &mut gradient, own.optimiser.as_mut());
        }
        Ok::<_, TrainError>(loss)
    };
    let model: &dyn Model = setup.model.as_ref();
    let losses: Result<Vec<Option<f64>>, TrainError> =
        nodes.par_iter_mut().enumerate().map_init(|| Workspace::new(model), one).collect();
    let losses: Option<Vec<f64>> = losses?.into_iter().collect();
    Ok(losses.map(|losses| losses.iter().sum::<f64>() / count))
}

fn alone(setup: &Setup, observe: &mut dyn FnMut(&Progress<'_>)) -> Result<(), BaselineError> {
    let mut nodes = Own::all(setup, setup.settings.initial.as_slice())?;
    for round in 0..setup.config.rounds {
        let train_loss = own_steps(setup, u64::from(round), 1, &mut nodes)?;
        let models: Vec<Vec<f32>> = nodes.iter().map(|node| node.params.clone()).collect();
        let privacy = is_priced(setup, round).then(|| local_privacy(setup, u64::from(round) + 1));
        let noise_multiplier = setup.work.noise_multiplier;
        observe(&Progress { round, models: &models, train_loss, bytes: 0, noise_multiplier, privacy });
    }
    Ok(())
}
