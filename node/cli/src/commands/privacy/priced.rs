//! A model, priced: μ² and ε of every pair, for the noise that was named.

use super::model::{Model, Protocol};
use super::numbers::{positive, probability};
use crate::failure::Result;
use crate::progress;
use ::privacy::network::{epsilons, losses, published, walk};
use rayon::prelude::*;
use topology::Walk;

/// The noise and the target that losses are converted with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    pub(super) sigma: f64,
    pub(super) sensitivity: f64,
    pub(super) delta: f64,
}

/// [`Noise`] as flags.
#[derive(Debug, clap::Args)]
pub(super) struct NoiseArgs {
    /// Standard deviation of the noise on each coordinate of a contribution
    #[arg(long, value_name = "σ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sigma: f64,

    /// Largest change (L2) of a contribution when the protected data change
    #[arg(long, value_name = "Δ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// δ at which ε is given
    #[arg(long, value_name = "δ", value_parser = probability, allow_hyphen_values = true, default_value = "1e-5")]
    delta: f64,
}

impl NoiseArgs {
    pub(super) fn noise(&self) -> Noise {
        Noise { sigma: self.sigma, sensitivity: self.sensitivity, delta: self.delta }
    }
}

impl Noise {
    fn scale(self) -> f64 {
        (self.sensitivity / self.sigma).powi(2)
    }
}

/// One row per coalition, one entry per node; entries of members are zero.
pub(super) struct Priced {
    pub(super) mu2: Vec<Vec<f64>>,
    pub(super) epsilon: Vec<Vec<f64>>,
    /// Half the width of the 95 % confidence interval of μ², where paths were sampled.
    pub(super) margin: Option<Vec<Vec<f64>>>,
    /// Upper end of the 95 % confidence interval of the Rényi divergence at order 2, where paths were sampled: unlike that of a Gaussian it
    /// is not μ².
    pub(super) renyi_2: Option<Vec<Vec<f64>>>,
}

impl Model {
    /// Prices every pair.
    pub(super) fn priced(&self, noise: Noise) -> Result<Priced> {
        if let Protocol::PlannedWalk { .. } = self.protocol {
            return self.forecast(noise);
        }
        self.converted(self.unit_losses()?, noise)
    }

    /// Unit losses, scaled to the noise and converted.
    pub(super) fn converted(&self, mut mu2: Vec<Vec<f64>>, noise: Noise) -> Result<Priced> {
        mu2.par_iter_mut().flatten().for_each(|mu2| *mu2 *= noise.scale());
        let epsilon = epsilons(&mu2, noise.delta)?;
        Ok(Priced { mu2, epsilon, margin: None, renyi_2: None })
    }

    /// μ² of every pair for Δ = σ = 1.
    pub(super) fn unit_losses(&self) -> Result<Vec<Vec<f64>>> {
        let bar = progress::bar(self.coalitions.len() as u64, "watchers");
        let rows = match &self.protocol {
            Protocol::Mixing { run, pricing } => {
                losses(run, &self.coalitions, *pricing, &|done| bar.inc(done as u64))?
            }
            Protocol::WalkedPath(path) => {
                let row = |watchers| walk::loss(path, self.nodes, watchers).inspect(|_| bar.inc(1));
                self.coalitions.par_iter().map(row).collect::<std::result::Result<Vec<_>, _>>()?
            }
            Protocol::MuffliatoSum { matrix, steps } => {
                let row = |watchers: &::privacy::network::Watchers| {
                    published::muffliato(matrix, *steps, watchers.members()[0]).inspect(|_| bar.inc(1))
                };
                self.coalitions.par_iter().map(row).collect::<std::result::Result<Vec<_>, _>>()?
            }
            Protocol::MatrixFactorisationSum { matrix, rounds } => {
                let row = |watchers: &::privacy::network::Watchers| {
                    published::matrix_factorisation(matrix, *rounds, watchers.members()[0])
                        .inspect(|_| bar.inc(1))
                };
                self.coalitions.par_iter().map(row).collect::<std::result::Result<Vec<_>, _>>()?
            }
            Protocol::RandomWalkClosedForm { matrix, visits } => {
                let all = published::random_walk(matrix, *visits)?;
                self.coalitions.iter().map(|watchers| all[watchers.members()[0]].clone()).collect()
            }
            Protocol::PlannedWalk { .. } => {
                return Err(crate::failure::Failure::new("the loss of a walk that is not made yet does not scale with the noise")
                    .hint("give the walk's visits with --path FILE, or price it for a named --sigma with `pairwise`"));
            }
        };
        bar.finish_and_clear();
        Ok(rows)
    }

    /// Samples paths of a walk that is not made yet.
    fn forecast(&self, noise: Noise) -> Result<Priced> {
        let Protocol::PlannedWalk { kernel, visits, samples, seed } = &self.protocol else {
            unreachable!("only planned walks are sampled")
        };
        let bar = progress::bar(self.coalitions.len() as u64, "watchers");
        let paths = sampled_paths(kernel, *visits, *samples, *seed)?;
        let forecast = |watchers| {
            walk::forecast(paths.iter().cloned(), self.nodes, watchers, noise.scale()).inspect(|_| bar.inc(1))
        };
        let forecasts =
            self.coalitions.par_iter().map(forecast).collect::<std::result::Result<Vec<_>, _>>()?;
        let epsilon = |forecast: &walk::Forecast| {
            (0..self.nodes).map(|node| forecast.epsilon(node, noise.delta)).collect()
        };
        bar.finish_and_clear();
        Ok(Priced {
            epsilon: forecasts.iter().map(epsilon).collect(),
            margin: Some(forecasts.iter().map(|forecast| forecast.margin.clone()).collect()),
            renyi_2: forecasts.iter().map(|forecast| forecast.divergence_at(2.0)).collect(),
            mu2: forecasts.into_iter().map(|forecast| forecast.mean).collect(),
        })
    }
}

/// Independent paths, each from a start of its own: the kernel's stationary law is what a long walk forgets its start for, so starts go
/// round over all nodes.
fn sampled_paths(
    kernel: &topology::MixingMatrix,
    visits: usize,
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<usize>>> {
    let path = |sample: usize| -> Result<Vec<usize>> {
        let start = sample % kernel.nodes();
        Ok(Walk::new(kernel, start, seed.wrapping_add(sample as u64))?.take(visits).collect())
    };
    (0..samples).map(path).collect()
}
