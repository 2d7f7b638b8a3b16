//! How contributions are made private.

use std::sync::Arc;

use learn::gradient::{ClippedSum, GradientError};
use privacy::event::DpEvent;
use privacy::mechanisms::grid::GridGaussian;
use privacy::noise::NoiseSource;

use super::Given;

/// The mechanism of a run, the same at all nodes.
#[derive(Debug, Clone)]
pub enum Mechanism {
    /// Gaussian noise on real numbers.
    Reals,
    /// Integer noise on a grid, as real numbers again.
    DiscreteReals(Arc<OnGrid>),
    /// Integer noise on a grid, as words of a ring: for masks.
    Grid(Arc<OnGrid>),
}

/// A mechanism on a grid, and what becomes of its totals.
#[derive(Debug, Clone)]
pub struct OnGrid {
    /// The mechanism.
    pub mechanism: GridGaussian,
    /// What a sum is divided by, beside the number of contributions, to be a mean over records; 1 at node level. `None`: the total itself is wanted.
    pub divisor: Option<f64>,
    /// Words of pure noise behind the numbers: for looks into a round, one for each direction.
    pub behind: usize,
}

impl Mechanism {
    /// Words on a grid, where contributions are such.
    pub(crate) fn words(&self) -> Option<&Arc<OnGrid>> {
        match self {
            Self::Grid(on) => Some(on),
            Self::Reals | Self::DiscreteReals(_) => None,
        }
    }

    /// Releases a sum with noise of this multiplier.
    ///
    /// # Guarantee
    /// As [`ClippedSum::release`], [`ClippedSum::release_discrete`] or [`ClippedSum::release_words`].
    ///
    /// # Assumes
    /// As there.
    pub(super) fn release(
        &self,
        sum: ClippedSum,
        noise_multiplier: f64,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Given, DpEvent), GradientError> {
        Ok(match self {
            Self::Reals => {
                let (values, event) = sum.release(noise_multiplier, noise)?;
                (Given::Reals(values), event)
            }
            Self::DiscreteReals(on) => {
                let (values, event) = sum.release_discrete(noise_multiplier, &on.mechanism, noise)?;
                (Given::Reals(values), event)
            }
            Self::Grid(on) => {
                let (words, event) = sum.release_words(noise_multiplier, &on.mechanism, noise)?;
                (Given::Words(words), event)
            }
        })
    }
}
