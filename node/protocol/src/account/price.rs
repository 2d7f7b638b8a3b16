//! What one contribution costs, as a number that adds up.

use privacy::rdp;
use privacy::release::{Mechanism, Release, Sampling};

/// The additive price of a contribution of which a watcher sees the share `leverage` of its information (1: all of it).
///
/// # Guarantee
/// A watcher whose view of a round has leverage `l` about a node sees a Gaussian release whose noise is 1/√l times as large; prices of rounds add
/// up, to μ² (Gaussian DP) or to the Rényi divergence at one order fixed in advance.
#[derive(Debug, Clone, PartialEq)]
pub enum Price {
    /// μ², for Gaussian noise on all records.
    Gaussian {
        /// Noise divided by sensitivity.
        noise_multiplier: f64,
    },
    /// D_α, for Gaussian noise on a Poisson sample.
    Renyi {
        /// α.
        order: f64,
        /// Sampling rate.
        rate: f64,
        /// Noise divided by sensitivity.
        noise_multiplier: f64,
    },
    /// No noise: nothing limits what is seen.
    NonPrivate,
}

impl Price {
    /// The price of a contribution seen with this leverage.
    ///
    /// # Assumes
    /// The view is a linear function of contributions with independent Gaussian noise, and `leverage` is that of the contribution in it, rounded up.
    pub fn of(&self, leverage: f64) -> f64 {
        if leverage == 0.0 {
            return 0.0;
        }
        match *self {
            Self::Gaussian { noise_multiplier } => {
                (leverage / (noise_multiplier * noise_multiplier)).next_up()
            }
            Self::Renyi { order, rate, noise_multiplier } => {
                let seen = Mechanism::Gaussian { noise_multiplier: noise_multiplier / leverage.sqrt() };
                rdp::divergence(&Release { mechanism: seen, sampling: Sampling::Poisson { rate } }, order)
            }
            Self::NonPrivate => f64::INFINITY,
        }
    }
}
