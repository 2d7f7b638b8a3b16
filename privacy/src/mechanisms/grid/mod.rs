//! Integer noise on a grid: real vectors become words modulo 2³² or 2⁶⁴ whose sums are exact in any order.
//!
//! A vector clipped to norm C is written in steps of γ = C/S, rounded to nearest, held within L clip norms per coordinate, and gets [integer
//! noise](crate::noise::IntegerNormal). What is released is integers with exact probabilities: there is no [gap of floating-point
//! noise](crate::noise#known-gaps-of-floating-point-noise).
//!
//! Rounding moves the difference of two neighbouring inputs by less than one step per coordinate, so by less than √d in L2 norm: Δ becomes
//! S·Δ/C + √d steps. Multiplying by 1/γ makes no rounding error: a single has 24 digits, 1/γ is cut to 29, a double holds 53.

mod gaussian;
mod words;

pub(crate) use gaussian::ROUNDING_VARIANCE;
pub use gaussian::{GridGaussian, NoisyWords};
pub use words::{Centred, WordSize, Words, WordsError};

use crate::clip::ClipNorm;

use super::error::{MechanismError, not_zero, positive};

/// S of a grid of 64-bit words, where it is not the room that decides.
const FINE: f64 = (1_u64 << 40) as f64;
/// Standard deviations of the total's noise that the words have room for.
const ROOM: f64 = 12.0;
/// Digits of 1/γ that are cut off: 29 of 53 stay.
const CUT: u64 = (1 << 24) - 1;

/// What the words of a total must have room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// n: how many contributions are added.
    pub nodes: u64,
    /// d: numbers in a contribution.
    pub dimension: usize,
    /// z: standard deviation of a contribution's noise over the clip norm C.
    pub noise_multiplier: f64,
    /// L: the largest coordinate of a contribution, in clip norms (the records of a batch; 1 for a vector that is itself clipped).
    pub largest: u64,
    /// A bound on S from elsewhere, such as that of inspections.
    pub steps_at_most: Option<u64>,
}

/// Steps of γ = C/S, and how far they reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    size: WordSize,
    load: Load,
    steps: u64,
    /// 1/γ, of 29 digits.
    per_unit: f64,
}

impl Grid {
    /// The finest grid on which a total finds room in words of this size.
    ///
    /// # Errors
    /// If a number of the load is zero or not finite, or there is no room for one step per clip norm.
    pub fn new(size: WordSize, load: Load, clip: ClipNorm) -> Result<Self, MechanismError> {
        not_zero("Nodes", load.nodes)?;
        not_zero("Dimension", load.dimension as u64)?;
        not_zero("Largest coordinate", load.largest)?;
        positive("Noise multiplier", load.noise_multiplier)?;
        let most = load.steps_at_most.map_or(FINE, |most| FINE.min(most as f64));
        let steps = finest(size, &load).min(most);
        if steps.is_nan() || steps < 1.0 {
            return Err(MechanismError::NoRoom {
                nodes: load.nodes,
                largest: load.largest,
                bits: size.bits(),
            });
        }
        let per_unit = f64::from_bits((steps / clip.value()).to_bits() & !CUT);
        if !per_unit.is_normal() {
            return Err(MechanismError::NotPositive { name: "Steps per unit", value: per_unit });
        }
        Ok(Self { size, load, steps: steps as u64, per_unit })
    }

    /// 32-bit words where rounding then adds at most a hundredth to the sensitivity, else 64-bit words.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn auto(load: Load, clip: ClipNorm) -> Result<Self, MechanismError> {
        match Self::new(WordSize::Bits32, load, clip) {
            Ok(grid) if libm::sqrt(load.dimension as f64) <= 0.01 * grid.steps as f64 => Ok(grid),
            Ok(_) | Err(MechanismError::NoRoom { .. }) => Self::new(WordSize::Bits64, load, clip),
            Err(error) => Err(error),
        }
    }

    /// Bits of a word.
    pub fn size(&self) -> WordSize {
        self.size
    }

    /// S: steps per clip norm.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What it was made for.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// L·S: the largest coordinate, in steps.
    pub fn largest(&self) -> u64 {
        self.load.largest * self.steps
    }

    /// Δ on the grid, in steps, of values that move by at most `clip_norms`·C: (1 + slack) for a record that is there or blank, 2 for a node's data
    /// replaced. Rounded up.
    ///
    /// # Guarantee
    /// Two vectors at most `clip_norms`·C apart in L2 norm have grid points at most this far apart.
    ///
    /// # Assumes
    /// Vectors of [`Load::dimension`] numbers.
    pub fn sensitivity(&self, clip_norms: f64) -> f64 {
        // Clamping and rounding: |round(a) − round(b)| ≤ |a − b| + 1 in each coordinate. 1/γ was rounded down.
        (self.steps as f64 * clip_norms + libm::sqrt(self.load.dimension as f64)) * (1.0 + 4.0 * f64::EPSILON)
    }

    /// As [`sensitivity`](Self::sensitivity) for values that move by at most `distance`, in their own unit. Rounded up.
    ///
    /// # Guarantee
    /// As [`sensitivity`](Self::sensitivity).
    ///
    /// # Assumes
    /// As [`sensitivity`](Self::sensitivity).
    pub fn sensitivity_of(&self, distance: f64) -> f64 {
        (distance * self.per_unit + libm::sqrt(self.load.dimension as f64)) * (1.0 + 4.0 * f64::EPSILON)
    }

    /// s = ⌈z·Δ⌉ for z over the sensitivity.
    pub fn noise(&self, multiplier: f64, sensitivity: f64) -> u64 {
        // A last digit above an integer that should be one is no reason for a step more.
        let exact = multiplier * sensitivity;
        let nearest = libm::round(exact);
        if (exact - nearest).abs() <= exact * 8.0 * f64::EPSILON {
            nearest as u64
        } else {
            libm::ceil(exact) as u64
        }
    }

    /// log₁₀ of a bound on the probability that any coordinate of a total leaves the range of its words. About being right, not about privacy.
    ///
    /// # Guarantee
    /// The noise of n contributions is sub-Gaussian with parameter n·s² (Canonne, Kamath and Steinke 2020), so each coordinate passes the room
    /// that is left with probability at most 2e^(−t²/2).
    ///
    /// # Assumes
    /// At most [`Load::nodes`] contributions on this grid, each with noise of parameter `noise`.
    pub fn log10_wrap(&self, noise: u64) -> f64 {
        let nodes = self.load.nodes as f64;
        let room = self.size.half() - nodes * self.largest() as f64 - nodes;
        let t = room / (libm::sqrt(nodes) * noise as f64);
        libm::log10(2.0 * self.load.dimension as f64) - t * t / 2.0 / std::f64::consts::LN_10
    }

    /// The grid point of a number: rounded to nearest, held at ±L·S.
    #[inline(always)]
    pub(crate) fn point(&self, value: f32) -> i64 {
        let most = self.largest() as f64;
        (f64::from(value) * self.per_unit).clamp(-most, most).round_ties_even() as i64
    }

    /// The number that an integer stands for: γ times it.
    #[inline(always)]
    pub fn real(&self, integer: i64) -> f64 {
        integer as f64 / self.per_unit
    }

    /// The numbers that the first words stand for, each over `divisor`.
    pub fn means(&self, words: &Words, count: usize, divisor: f64) -> Vec<f32> {
        let mean = |integer: i64| (self.real(integer) / divisor) as f32;
        let mut means = vec![0.0; count.min(words.len())];
        crate::vectorised(
            #[inline(always)]
            || match words {
                Words::Narrow(words) => {
                    means.iter_mut().zip(words).for_each(|(to, &word)| *to = mean(i64::from(word as i32)));
                }
                Words::Wide(words) => {
                    means.iter_mut().zip(words).for_each(|(to, &word)| *to = mean(word as i64))
                }
            },
        );
        means
    }
}

/// S such that n contributions of L·S per coordinate and twelve standard deviations of their noise, s ≤ z(S + √d) + 1, stay below half the modulus.
fn finest(size: WordSize, load: &Load) -> f64 {
    let nodes = load.nodes as f64;
    let spread = ROOM * libm::sqrt(nodes);
    let z = load.noise_multiplier;
    let room = size.half() - nodes - spread * (z * libm::sqrt(load.dimension as f64) + 1.0);
    libm::floor(room / (nodes * load.largest as f64 + spread * z))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn load(nodes: u64, dimension: usize, noise_multiplier: f64, largest: u64) -> Load {
        Load { nodes, dimension, noise_multiplier, largest, steps_at_most: None }
    }

    fn clip(value: f64) -> ClipNorm {
        ClipNorm::new(value).unwrap()
    }

    #[test]
    fn the_choice_of_words_follows_what_rounding_adds() {
        let grid = Grid::auto(load(64, 650, 9.2, 23), clip(1.0)).unwrap();
        assert_eq!((grid.size(), grid.steps()), (WordSize::Bits32, 911_795));
        // 10⁶ coordinates: √d is 1000, a hundredth of 10⁵ steps; with L = 256 there are only 8,387 steps in 32 bits.
        let grid = Grid::auto(load(1000, 1_000_000, 1.0, 256), clip(1.0)).unwrap();
        assert_eq!((grid.size(), grid.steps()), (WordSize::Bits64, 1 << 40));
        let grid = Grid::auto(Load { steps_at_most: Some(500), ..load(8, 16, 1.0, 1) }, clip(1.0)).unwrap();
        assert_eq!((grid.size(), grid.steps()), (WordSize::Bits32, 500));
    }

    #[test]
    fn impossible_loads_are_refused() {
        for bad in [
            load(0, 1, 1.0, 1),
            load(1, 0, 1.0, 1),
            load(1, 1, 1.0, 0),
            load(1, 1, f64::NAN, 1),
            load(1, 1, 0.0, 1),
        ] {
            assert!(Grid::auto(bad, clip(1.0)).is_err(), "{bad:?}");
        }
        let error = Grid::auto(load(u64::MAX, 1, 1.0, u64::MAX), clip(1.0)).unwrap_err();
        assert!(matches!(error, MechanismError::NoRoom { bits: 64, .. }), "{error}");
        assert!(topology::Hint::hint(&error).is_some());
    }

    #[test]
    fn one_step_per_unit_never_is_finer_than_said_and_products_are_exact() {
        for c in [0.1, 0.3, 1.0, 3.0, 1e-3, 1e5] {
            let grid = Grid::auto(load(8, 650, 17.0, 180), clip(c)).unwrap();
            let steps = grid.per_unit * c;
            assert!(steps <= grid.steps as f64 * (1.0 + 1e-15) && steps > grid.steps as f64 * (1.0 - 1e-8));
            for value in [f32::MIN_POSITIVE, 0.1, 1.0 / 3.0, 1.999_999_9, 12_345.679] {
                // The remainder of the product is exactly zero.
                let product = f64::from(value) * grid.per_unit;
                assert_eq!(f64::from(value).mul_add(grid.per_unit, -product), 0.0, "{value}");
            }
        }
    }

    #[test]
    fn means_are_the_numbers_one_by_one() {
        for size in [WordSize::Bits32, WordSize::Bits64] {
            let grid = Grid::new(size, load(8, 1000, 2.0, 3), clip(0.7)).unwrap();
            let words = Words::of(size, (-500..500).map(|x| x * 104_729));
            let means = grid.means(&words, 990, 24.0);
            let expected: Vec<f32> =
                words.centred().take(990).map(|x| (grid.real(x) / 24.0) as f32).collect();
            assert_eq!(means, expected);
            assert_eq!(grid.means(&words, 2000, 1.0).len(), 1000);
        }
    }

    proptest! {
        #[test]
        fn neighbours_on_the_grid_are_as_near_as_the_sensitivity_says(
            a in proptest::collection::vec(-2.0_f32..2.0, 40), b in proptest::collection::vec(-2.0_f32..2.0, 40),
            c in 0.01_f64..10.0, steps in 1_u64..200,
        ) {
            let grid = Grid::new(WordSize::Bits32, Load { steps_at_most: Some(steps), ..load(3, 40, 1.0, 1) }, clip(c)).unwrap();
            let apart: f64 = a.iter().zip(&b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>().sqrt();
            let on_grid: f64 = a.iter().zip(&b).map(|(&a, &b)| ((grid.point(a) - grid.point(b)) as f64).powi(2)).sum::<f64>().sqrt();
            prop_assert!(on_grid <= grid.sensitivity(apart / c));
        }

        #[test]
        fn points_are_the_nearest_and_held_at_the_largest(value in -3.0_f32..3.0) {
            let grid = Grid::new(WordSize::Bits32, Load { steps_at_most: Some(100), ..load(3, 40, 1.0, 2) }, clip(1.0)).unwrap();
            let back = grid.real(grid.point(value));
            prop_assert!((back - f64::from(value.clamp(-2.0, 2.0))).abs() <= 0.005 * (1.0 + 1e-6));
        }
    }
}
