//! Central DP-SGD: one trusted curator holds all records and publishes the model (Abadi et al. 2016).
//!
//! The reference that decentralised runs are compared with. Every step is one Poisson sample, one clipped sum, one
//! release; the events come back from the releases themselves, so nothing is accounted that was not done, and nothing
//! done is left out.

use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::NoiseSource;
use thiserror::Error;
use topology::Hint;

use crate::data::Dataset;
use crate::gradient::{GradientError, PoissonSampler, SamplingRate, Workspace};
use crate::model::{self, Model, kernel};
use crate::optimiser::{OptimiserError, OptimiserSpec, StepSizes};

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Number of steps, each a release.
    pub steps: u64,
    /// Probability of each record to enter a step's batch.
    pub rate: SamplingRate,
    /// C.
    pub clip: ClipNorm,
    /// z: noise on the sum divided by C. 0: no noise, no privacy.
    pub noise_multiplier: f64,
    /// Step sizes.
    pub schedule: StepSizes,
    /// Optimiser.
    pub optimiser: OptimiserSpec,
    /// Publish the mean of the parameters over the last half of the steps instead of the last ones: post-processing
    /// that averages noise away.
    pub average: bool,
}

/// A model and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The parameters to publish.
    pub params: Vec<f32>,
    /// What was done to the records: to be priced by an accountant.
    pub event: DpEvent,
    /// Whether noise and samples came from a private source.
    pub is_private: bool,
}

/// Why training cannot start or go on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainError {
    /// Of the gradients.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// Of the optimiser.
    #[error(transparent)]
    Optimiser(#[from] OptimiserError),
}

impl Hint for TrainError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Gradient(error) => error.hint(),
            Self::Optimiser(error) => error.hint(),
        }
    }
}

impl Training {
    /// What the whole training is to an accountant, before it is run: to calibrate the noise.
    pub fn event(&self, records: usize) -> DpEvent {
        if self.noise_multiplier == 0.0 {
            return DpEvent::NonPrivate;
        }
        PoissonSampler::new(self.rate, records).event(self.noise_multiplier).repeated(self.steps)
    }

    /// Trains from the parameters `start`.
    ///
    /// # Guarantee
    /// The parameters are a function of the releases that the event describes, each on a fresh Poisson sample, and of
    /// public values: for adding or removing one record.
    ///
    /// # Assumes
    /// `start` and the settings were not chosen by looking at `data`. One `noise` source serves samples and noise; it is
    /// private only if [`NoiseSource::is_private`] says so.
    ///
    /// # Errors
    /// Data that do not fit the model, or settings outside their range.
    pub fn run(
        &self,
        model: &dyn Model,
        start: Vec<f32>,
        data: &Dataset,
        noise: &mut dyn NoiseSource,
    ) -> Result<Trained, TrainError> {
        model::check(model, &start, data).map_err(GradientError::from)?;
        self.schedule.validate()?;
        let mut optimiser = self.optimiser.build(start.len())?;
        let mut workspace = Workspace::new(model);
        let sampler = PoissonSampler::new(self.rate, data.len());
        let (mut params, mut events) = (start, Events::default());
        let mut average = self.average.then(|| Average::new(params.len()));
        for step in 0..self.steps {
            let sample = sampler.draw(noise);
            let sum = workspace.clipped_sum(&params, data, sample, self.clip)?;
            let (shareable, event) = sum.release(self.noise_multiplier, noise)?;
            events.push(event);
            let mut gradient = shareable.into_values();
            // The penalty depends on published parameters only: it needs no noise.
            kernel::add_scaled(&mut gradient, model.penalty() as f32, &params);
            optimiser.step(&mut params, &gradient, self.schedule.at(step));
            workspace.recycle(gradient);
            if let Some(average) = average.as_mut().filter(|_| 2 * step + 2 > self.steps) {
                average.add(&params);
            }
        }
        let is_private = noise.is_private() && self.noise_multiplier > 0.0;
        let params = average.filter(|average| average.count > 0).map_or(params, |average| average.mean());
        Ok(Trained { params, event: events.into_event(), is_private })
    }
}

/// Runs of equal events.
#[derive(Default)]
struct Events {
    runs: Vec<(DpEvent, u64)>,
}

impl Events {
    fn push(&mut self, event: DpEvent) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == event => *count += 1,
            _ => self.runs.push((event, 1)),
        }
    }

    fn into_event(self) -> DpEvent {
        let mut events: Vec<DpEvent> =
            self.runs.into_iter().map(|(event, count)| event.repeated(count)).collect();
        if events.len() == 1 { events.remove(0) } else { DpEvent::Sequence { events } }
    }
}

/// A running mean of parameter vectors.
struct Average {
    sum: Vec<f64>,
    count: u64,
}

impl Average {
    fn new(parameters: usize) -> Self {
        Self { sum: vec![0.0; parameters], count: 0 }
    }

    fn add(&mut self, params: &[f32]) {
        self.sum.iter_mut().zip(params).for_each(|(sum, &param)| *sum += f64::from(param));
        self.count += 1;
    }

    fn mean(self) -> Vec<f32> {
        let count = self.count as f64;
        self.sum.into_iter().map(|sum| (sum / count) as f32).collect()
    }
}
