//! What one contribution costs, as a number that adds up.

use std::collections::BTreeMap;

use privacy::rdp;
use privacy::release::{Mechanism, Release, Sampling};

/// Steps of a [`Prices`] table per halving of the leverage: rounding up to the next step costs less than 0.07 %.
const STEPS_PER_OCTAVE: f64 = 1024.0;

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
        /// Sampling rate; 1 for all records.
        rate: f64,
        /// Noise divided by sensitivity.
        noise_multiplier: f64,
    },
    /// One for each contribution, however little is seen of it: a limit on their number.
    Releases,
    /// No noise: nothing limits what is seen.
    NonPrivate,
}

impl Price {
    /// The same without amplification, where it is the price of a sample.
    pub(crate) fn unsampled(&self) -> Self {
        match *self {
            Self::Renyi { order, noise_multiplier, .. } => Self::Renyi { order, rate: 1.0, noise_multiplier },
            _ => self.clone(),
        }
    }

    /// The price of a contribution seen with this leverage.
    ///
    /// # Guarantee
    /// Rounded up; 0 only for a leverage of 0.
    ///
    /// # Assumes
    /// The view is a linear function of contributions with independent Gaussian noise, and `leverage` is that of the contribution in it, rounded up.
    pub fn of(&self, leverage: f64) -> f64 {
        if leverage == 0.0 {
            return 0.0;
        }
        match *self {
            Self::Gaussian { noise_multiplier } => {
                (leverage / (noise_multiplier * noise_multiplier) * (1.0 + 2.0 * f64::EPSILON)).next_up()
            }
            Self::Renyi { order, rate, noise_multiplier } => {
                let noise_multiplier = noise_multiplier / leverage.sqrt() * (1.0 - 2.0 * f64::EPSILON);
                let sampling = if rate < 1.0 { Sampling::Poisson { rate } } else { Sampling::All };
                rdp::divergence(
                    &Release { mechanism: Mechanism::Gaussian { noise_multiplier }, sampling },
                    order,
                )
            }
            Self::Releases => 1.0,
            Self::NonPrivate => f64::INFINITY,
        }
    }
}

/// Prices of one kind of contribution in several units at once (one per Rényi order), remembered where leverages repeat.
#[derive(Debug, Clone)]
pub struct Prices {
    units: Vec<Price>,
    /// Whether computing costs more than looking up.
    costly: bool,
    known: BTreeMap<u32, Box<[f64]>>,
    fresh: Box<[f64]>,
}

impl Prices {
    /// Prices in these units.
    pub fn new(units: Vec<Price>) -> Self {
        let costly = units.iter().any(|unit| matches!(unit, Price::Renyi { .. }));
        let fresh = vec![0.0; units.len()].into();
        Self { units, costly, known: BTreeMap::new(), fresh }
    }

    /// The price in each unit of a contribution seen with this leverage.
    ///
    /// # Guarantee
    /// At least [`Price::of`] in each unit; where prices are remembered, that of a leverage larger by less than 0.07 %.
    ///
    /// # Assumes
    /// As [`Price::of`].
    pub fn of(&mut self, leverage: f64) -> &[f64] {
        if !self.costly || leverage <= 0.0 {
            self.fresh.iter_mut().zip(&self.units).for_each(|(price, unit)| *price = unit.of(leverage));
            return &self.fresh;
        }
        let (step, level) = level_above(leverage);
        let units = &self.units;
        self.known.entry(step).or_insert_with(|| units.iter().map(|unit| unit.of(level)).collect())
    }
}

/// The next step of the table that is not below a leverage, and its leverage.
fn level_above(leverage: f64) -> (u32, f64) {
    let level = |step: u32| libm::exp2(-f64::from(step) / STEPS_PER_OCTAVE);
    let mut step = (-libm::log2(leverage.min(1.0)) * STEPS_PER_OCTAVE).clamp(0.0, 1e6) as u32;
    while step > 0 && level(step) < leverage {
        step -= 1;
    }
    (step, level(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_seen_is_noise_larger_by_the_root_of_two() {
        let sampled = Price::Renyi { order: 4.0, rate: 0.1, noise_multiplier: 1.0 };
        let noisier = Price::Renyi { order: 4.0, rate: 0.1, noise_multiplier: 2f64.sqrt() };
        assert!((sampled.of(0.5) / noisier.of(1.0) - 1.0).abs() < 1e-9);
        // μ² = l/z².
        assert!((Price::Gaussian { noise_multiplier: 2.0 }.of(0.5) - 0.125).abs() < 1e-15);
        assert!(Price::Gaussian { noise_multiplier: 3.0 }.of(1.0) >= 1.0 / 9.0);
        // D_α = αμ²/2 on all records.
        let all = Price::Renyi { order: 6.0, rate: 1.0, noise_multiplier: 2.0 };
        assert!((all.of(0.5) - 3.0 * 0.125).abs() < 1e-12);
        assert_eq!(Price::NonPrivate.of(0.1), f64::INFINITY);
        assert_eq!((Price::Releases.of(0.1), Price::Releases.of(0.0)), (1.0, 0.0));
    }

    #[test]
    fn the_table_is_never_below_the_price_and_hardly_above() {
        let units = || [2.0, 17.5].map(|order| Price::Renyi { order, rate: 0.05, noise_multiplier: 0.9 });
        let mut prices = Prices::new(units().to_vec());
        for at in 1..60 {
            let leverage = (1.0 / f64::from(at)).next_up().min(1.0);
            let found = prices.of(leverage).to_vec();
            for (found, unit) in found.iter().zip(units()) {
                let exact = unit.of(leverage);
                assert!(*found >= exact && *found <= exact * 1.05, "1/{at}: {found} for {exact}");
            }
        }
        // Powers of two are steps of the table.
        assert_eq!(level_above(0.125), (3072, 0.125));
        assert_eq!(level_above(1.0), (0, 1.0));
    }
}
