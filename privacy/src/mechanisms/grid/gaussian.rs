//! The Gaussian mechanism on a grid.

use crate::event::DpEvent;
use crate::mechanisms::Release;
use crate::mechanisms::discrete::DiscreteGaussian;
use crate::mechanisms::error::{MechanismError, all_finite_f32, positive};
use crate::noise::{IntegerNormal, NoiseSource};

use super::{Grid, WordSize, Words};

/// r² of the theorem below, for r = 3.
pub(crate) const ROUNDING_VARIANCE: u64 = 9;

/// Rounds to a grid and adds integers x with probability proportional to e^(−x²/2s²) to every coordinate.
///
/// # Guarantee
/// A release is, but for a factor within 1 ± d·10⁻⁷⁶ in every probability, a function of one release of the continuous Gaussian mechanism with
/// variance s² − 9 on integers of L2 sensitivity Δ: no worse than μ-GDP with μ² = Δ²/(s² − 9). The factor is far below the last digit
/// by which figures are rounded up. The sum of h such releases has the same property with variance h·s² − 9.
///
/// *Proof.* Draw g from N(x, s² − r²) and an integer y with probability proportional to e^(−(y−g)²/2r²). Completing the square, y has probability
/// e^(−(y−x)²/2s²)/(s√2π) times r√2π over Σ_k e^(−(k−g)²/2r²), which is 1 ± ϑ(r) by Poisson summation, ϑ(v) = 2Σ_k e^(−2π²v²k²), whatever
/// g is. ϑ(3) < 10⁻⁷⁶. The rounding of g does not depend on x: post-processing.
///
/// # Assumes
/// Neighbouring inputs have grid points at most Δ apart in L2 norm ([`Grid::sensitivity`]). Noise is secret
/// ([`Release::noise_is_private`]). Nothing about floating point.
#[derive(Clone, Debug, PartialEq)]
pub struct GridGaussian {
    grid: Grid,
    law: IntegerNormal,
    sensitivity: f64,
}

/// Words that came out of a mechanism: the only ones that may be sent.
///
/// ```compile_fail
/// use privacy::mechanisms::grid::{NoisyWords, Words};
/// fn leak(words: Words) -> NoisyWords {
///     NoisyWords { words, noise_is_private: true } // private fields
/// }
/// ```
#[must_use = "noise that is not sent is lost"]
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyWords {
    words: Words,
    noise_is_private: bool,
}

impl NoisyWords {
    /// Whole numbers in blocks, each with exact noise of its own, and behind them numbers that hold no data.
    ///
    /// # Guarantee
    /// Every word of a block is its value plus discrete Gaussian noise of the block's variance, modulo the size. What that costs follows from the
    /// variances and from how far neighbouring values of each block are apart, which the caller knows.
    ///
    /// # Assumes
    /// `public` does not depend on the data. Noise is secret.
    pub fn of_blocks<'a>(
        size: WordSize,
        blocks: impl IntoIterator<Item = (&'a DiscreteGaussian, &'a [i64])>,
        public: &[i64],
        noise: &mut dyn NoiseSource,
    ) -> Self {
        let mut words = Words::zeros(size, 0);
        for (law, values) in blocks {
            words.extend(law.release(values, noise).value);
        }
        words.extend(public.iter().copied());
        Self { words, noise_is_private: noise.is_private() }
    }

    /// Words that are random in another way: what a randomised response made of the data, and behind them numbers that hold no data.
    ///
    /// # Guarantee
    /// None beyond that of the response.
    ///
    /// # Assumes
    /// `values` came out of a mechanism whose event the caller records; `noise` is what it drew from.
    pub fn of_response(
        size: WordSize,
        values: impl IntoIterator<Item = i64>,
        public: &[i64],
        noise: &dyn NoiseSource,
    ) -> Self {
        let mut words = Words::zeros(size, 0);
        words.extend(values);
        words.extend(public.iter().copied());
        Self { words, noise_is_private: noise.is_private() }
    }

    /// The words.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The words, to be masked and sent.
    pub fn into_words(self) -> Words {
        self.words
    }

    /// The same with all signs turned: post-processing, for vectors that point the other way.
    pub fn negated(mut self) -> Self {
        match &mut self.words {
            Words::Narrow(words) => words.iter_mut().for_each(|word| *word = word.wrapping_neg()),
            Words::Wide(words) => words.iter_mut().for_each(|word| *word = word.wrapping_neg()),
        }
        self
    }

    /// The same with words of pure noise behind: they depend on nothing, so they cost nothing.
    pub fn with_noise_behind(
        mut self,
        count: usize,
        mechanism: &GridGaussian,
        noise: &mut dyn NoiseSource,
    ) -> Self {
        if count > 0 {
            let behind = mechanism.noise_alone(count, noise);
            self.words.extend(behind.words.centred());
            self.noise_is_private &= behind.noise_is_private;
        }
        self
    }

    /// Whether nobody else can predict the noise.
    pub fn noise_is_private(&self) -> bool {
        self.noise_is_private
    }
}

impl GridGaussian {
    /// Noise of parameter s = `noise` on a grid where neighbouring inputs are at most `sensitivity` steps apart.
    ///
    /// # Errors
    /// If the sensitivity is not positive and finite, or s not between 16 and 2⁴⁷.
    pub fn new(grid: Grid, noise: u64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Sensitivity", sensitivity)?;
        Ok(Self { grid, law: IntegerNormal::new(noise)?, sensitivity })
    }

    /// The least noise with which a release, seen by itself, is no worse than Gaussian noise of `multiplier` times the sensitivity.
    ///
    /// # Guarantee
    /// [`noise_multiplier`](Self::noise_multiplier) is at least `multiplier`, so a total of h such releases, of variance h·s² − 9 ≥ h·(s² − 9), is no
    /// worse than one with √h·`multiplier`: what a run plans and records holds without a correction for rounding.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_multiplier(grid: Grid, multiplier: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Noise multiplier", multiplier)?;
        let continuous = multiplier * sensitivity;
        let wanted = libm::ceil(libm::sqrt(continuous * continuous + ROUNDING_VARIANCE as f64));
        let made = Self::new(grid, (wanted as u64).max(IntegerNormal::LEAST), sensitivity)?;
        if made.noise_multiplier() >= multiplier {
            return Ok(made);
        }
        // The last digits of the doubles above: one step more is enough.
        Self::new(grid, made.noise() + 1, sensitivity)
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// s, in steps.
    pub fn noise(&self) -> u64 {
        self.law.parameter()
    }

    /// Δ, in steps.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// √(s² − 9)/Δ, rounded down.
    pub fn noise_multiplier(&self) -> f64 {
        let variance = u128::from(self.noise()).pow(2) - u128::from(ROUNDING_VARIANCE);
        libm::sqrt(variance as f64) / self.sensitivity * (1.0 - 4.0 * f64::EPSILON)
    }

    /// The event of one release that is seen by itself.
    pub fn event(&self) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier: self.noise_multiplier() }
    }

    /// Releases words.
    ///
    /// # Guarantee
    /// As the type says, for all coordinates at once. What is beyond the largest coordinate is held there (post-processing).
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If a value is not finite or there are more than the grid was made for; nothing is released then.
    pub fn release(
        &self,
        values: &[f32],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<NoisyWords>, MechanismError> {
        self.check(values)?;
        let grid = &self.grid;
        let points = match grid.size() {
            WordSize::Bits32 => Words::Narrow(points(values, |value| grid.point(value) as u32)),
            WordSize::Bits64 => Words::Wide(points(values, |value| grid.point(value) as u64)),
        };
        let value = self.with_noise(points, noise);
        Ok(Release { value, event: self.event(), noise_is_private: noise.is_private() })
    }

    /// Zeros with noise, for who has no data or no budget: it depends on nothing, so it costs nothing, and it hides the others.
    pub fn noise_alone(&self, length: usize, noise: &mut dyn NoiseSource) -> NoisyWords {
        self.with_noise(Words::zeros(self.grid.size(), length), noise)
    }

    /// Replaces each value by its grid point with noise, as a real number again, without words: for messages of real numbers.
    ///
    /// # Guarantee
    /// As the type says for a release that is seen by itself; scaling and rounding to single precision are post-processing of integers.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// As [`release`](Self::release); the values are left alone then.
    pub fn release_reals(
        &self,
        values: &mut [f32],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<()>, MechanismError> {
        self.check(values)?;
        let mut integers = vec![0; values.len()];
        noise.integer_normals(&self.law, &mut integers);
        let grid = &self.grid;
        let noisy = |value: f32, noise: i64| grid.real(grid.point(value).saturating_add(noise)) as f32;
        values.iter_mut().zip(&integers).for_each(|(value, &noise)| *value = noisy(*value, noise));
        Ok(Release { value: (), event: self.event(), noise_is_private: noise.is_private() })
    }

    fn check(&self, values: &[f32]) -> Result<(), MechanismError> {
        let dimension = self.grid.load().dimension;
        if values.len() > dimension {
            return Err(MechanismError::TooLong { length: values.len(), dimension });
        }
        all_finite_f32(values)
    }

    fn with_noise(&self, mut words: Words, noise: &mut dyn NoiseSource) -> NoisyWords {
        match &mut words {
            Words::Narrow(words) => noise.add_integer_normals_u32(&self.law, words),
            Words::Wide(words) => noise.add_integer_normals_u64(&self.law, words),
        }
        NoisyWords { words, noise_is_private: noise.is_private() }
    }
}

fn points<T: Default + Clone>(values: &[f32], point: impl Fn(f32) -> T) -> Vec<T> {
    let mut points = vec![T::default(); values.len()];
    crate::vectorised(
        #[inline(always)]
        || values.iter().zip(&mut points).for_each(|(&value, out)| *out = point(value)),
    );
    points
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::*;
    use crate::clip::ClipNorm;
    use crate::noise::danger_from_seed;

    fn mechanism(size: WordSize, dimension: usize) -> GridGaussian {
        let load = Load { nodes: 8, dimension, noise_multiplier: 2.0, largest: 1, steps_at_most: None };
        let grid = Grid::new(size, load, ClipNorm::new(0.5).unwrap()).unwrap();
        let sensitivity = grid.sensitivity(1.0);
        GridGaussian::new(grid, grid.noise(2.0, sensitivity), sensitivity).unwrap()
    }

    #[test]
    fn a_release_is_the_grid_point_plus_integer_noise_and_its_event() {
        for size in [WordSize::Bits32, WordSize::Bits64] {
            let mechanism = mechanism(size, 1000);
            let values: Vec<f32> = (0..1000).map(|i| (i as f32 - 500.0) / 1000.0).collect();
            let release = mechanism.release(&values, &mut danger_from_seed(1, "grid")).unwrap();
            let mut noise = vec![0; 1000];
            danger_from_seed(1, "grid").integer_normals(&mechanism.law, &mut noise);
            let modulus = 1_i128 << size.bits();
            for ((&value, &noise), word) in values.iter().zip(&noise).zip(release.value.words().centred()) {
                let point = (f64::from(value) / 0.5 * mechanism.grid.steps() as f64).round() as i128;
                // The step per unit was cut to 29 digits, and what is at the half may fall to either side.
                let off = (i128::from(word) - point - i128::from(noise)).rem_euclid(modulus);
                let off = off.min(modulus - off);
                assert!(off <= 1 + (point.abs() >> 27), "{value}: {off}");
            }
            assert!(!release.value.noise_is_private());
            let DpEvent::Gaussian { noise_multiplier } = release.event else { panic!("{:?}", release.event) };
            assert!((noise_multiplier - 2.0).abs() < 1e-6, "{noise_multiplier}");
        }
    }

    #[test]
    fn the_noise_multiplier_gives_up_nine_of_the_variance_and_rounds_down() {
        let load =
            Load { nodes: 2, dimension: 1, noise_multiplier: 1.0, largest: 1, steps_at_most: Some(15) };
        let grid = Grid::auto(load, ClipNorm::new(1.0).unwrap()).unwrap();
        let found = GridGaussian::new(grid, 16, 10.0).unwrap().noise_multiplier();
        let exact = 247f64.sqrt() / 10.0;
        assert!(found <= exact && found > exact * (1.0 - 1e-14), "{found} {exact}");
        assert!(GridGaussian::new(grid, 15, 10.0).is_err());
    }

    #[test]
    fn the_noise_for_a_multiplier_is_enough_and_hardly_more() {
        let load = |dimension| Load {
            nodes: 8,
            dimension,
            noise_multiplier: 2.0,
            largest: 1,
            steps_at_most: Some(40),
        };
        for (dimension, multiplier) in [(1, 1.0), (1, 0.45), (50, 2.0), (1000, 0.7), (1_000_000, 9.2)] {
            let grid = Grid::auto(load(dimension), ClipNorm::new(0.5).unwrap()).unwrap();
            let made = GridGaussian::with_multiplier(grid, multiplier, grid.sensitivity(1.0)).unwrap();
            let (s, delta) = (made.noise() as f64, made.sensitivity());
            assert!(made.noise_multiplier() >= multiplier && s * s - 9.0 >= (multiplier * delta).powi(2));
            // Two steps less are too few, unless 16 is the least there is.
            assert!(s <= 16.0 || (s - 2.0).powi(2) - 9.0 < (multiplier * delta).powi(2), "{s} {delta}");
        }
        let grid = Grid::auto(load(3), ClipNorm::new(0.5).unwrap()).unwrap();
        assert!(GridGaussian::with_multiplier(grid, f64::NAN, 1.0).is_err());
    }

    #[test]
    fn sums_of_releases_are_the_sum_of_what_was_put_in_up_to_the_noise() {
        let mechanism = mechanism(WordSize::Bits32, 400);
        let mut total = Words::zeros(WordSize::Bits32, 400);
        for node in 0..8 {
            let values = vec![0.01 * node as f32; 400];
            let release = mechanism.release(&values, &mut danger_from_seed(node, "grid")).unwrap();
            total.add(release.value.words()).unwrap();
        }
        let mean = total.centred().map(|x| mechanism.grid.real(x)).sum::<f64>() / 400.0;
        // 0.28 is the sum of the values; noise z·C·√8/√400 = 0.14, 4.9 of them.
        assert!((mean - 0.28).abs() < 4.9 * 2.0 * 0.5 * 8f64.sqrt() / 20.0, "{mean}");
    }

    #[test]
    fn zeros_with_noise_are_a_release_of_zeros_and_reals_are_the_same_integers() {
        let mechanism = mechanism(WordSize::Bits64, 100);
        let zeros = mechanism.release(&[0.0; 100], &mut danger_from_seed(3, "grid")).unwrap();
        assert_eq!(mechanism.noise_alone(100, &mut danger_from_seed(3, "grid")), zeros.value);
        let mut reals = [0.25_f32; 100];
        let release = mechanism.release_reals(&mut reals, &mut danger_from_seed(4, "grid")).unwrap();
        let words = mechanism.release(&[0.25; 100], &mut danger_from_seed(4, "grid")).unwrap();
        assert_eq!(release.event, words.event);
        for (&real, integer) in reals.iter().zip(words.value.words().centred()) {
            assert_eq!(real, mechanism.grid.real(integer) as f32);
        }
    }

    #[test]
    fn what_is_not_finite_or_too_long_is_refused_and_left_alone() {
        let mechanism = mechanism(WordSize::Bits32, 2);
        let noise = &mut danger_from_seed(5, "grid");
        assert!(mechanism.release(&[1.0, f32::NAN], noise).is_err());
        assert!(matches!(
            mechanism.release(&[0.0; 3], noise),
            Err(MechanismError::TooLong { length: 3, .. })
        ));
        let mut values = [1.0, f32::INFINITY];
        assert!(mechanism.release_reals(&mut values, noise).is_err());
        assert_eq!(values, [1.0, f32::INFINITY]);
    }
}
