//! Randomized response over K categories (generalised randomized response; Kairouz, Bonawitz and Ramage 2016).

use crate::event::DpEvent;
use crate::noise::{Bits, NoiseSource};

use super::Release;
use super::error::{MechanismError, not_zero, positive};

/// Whole words per unit of probability: 2⁶⁴.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// Reports the truth with probability (e^ε − 1)/(e^ε + K − 1), otherwise a uniform choice of all K categories.
///
/// # Guarantee
/// One report is ε-local-DP: a report is at most e^ε times more likely from one category than from another. Exact: the
/// probability of the uniform choice is a multiple of 2⁻⁶⁴ that is rounded up, and both draws use whole random words.
///
/// # Assumes
/// Each person reports once; every further report of the same person costs ε again. Noise is secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KaryResponse {
    epsilon: f64,
    categories: usize,
    /// The uniform choice is made if a random word lies below this; γ·2⁶⁴ rounded up.
    uniform_words: u64,
}

impl KaryResponse {
    /// The mechanism for `categories` categories that costs `epsilon`.
    ///
    /// # Errors
    /// If ε is not positive and finite, or there are fewer than two categories.
    pub fn new(epsilon: f64, categories: usize) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        let (odds, k) = (libm::expm1(epsilon), categories as f64);
        Self::with_probabilities(epsilon, categories, (k / (odds + k), odds / (odds + k)))
    }

    /// A mechanism that chooses uniformly with probability γ and tells the truth with 1 − γ; the caller gives
    /// both, so that neither suffers from cancellation, and they must be right for ε up to rounding.
    pub(super) fn with_probabilities(
        epsilon: f64,
        categories: usize,
        (uniform, truth): (f64, f64),
    ) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        if categories < 2 {
            return Err(MechanismError::TooFewCategories { categories });
        }
        // More than the few roundings on the way here, always towards the uniform choice.
        let margin = 8.0 * f64::EPSILON;
        let uniform_words = if uniform < 0.5 {
            // At least one word: never lying would cost infinitely much.
            ((uniform * (1.0 + margin) * WORDS).ceil() as u64).max(1)
        } else {
            let truth_words = (truth * (1.0 - margin) * WORDS).floor() as u64;
            if truth_words == 0 {
                return Err(MechanismError::NoSuchNoise { what: "this epsilon", value: epsilon });
            }
            u64::MAX - truth_words + 1
        };
        Ok(Self { epsilon, categories, uniform_words })
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// K.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// γ, the probability of the uniform choice: K/(e^ε + K − 1), rounded up.
    pub fn uniform(&self) -> f64 {
        self.uniform_words as f64 / WORDS
    }

    /// The event of one report.
    pub fn event(&self) -> DpEvent {
        DpEvent::RandomizedResponse { epsilon: self.epsilon, categories: self.categories as u64 }
    }

    /// Reports a category, numbered from 0.
    ///
    /// # Guarantee
    /// As the type says.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If there is no such category.
    pub fn release(
        &self,
        category: usize,
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<usize>, MechanismError> {
        if category >= self.categories {
            return Err(MechanismError::CategoryOutOfRange { category, categories: self.categories });
        }
        let noise_is_private = noise.is_private();
        let mut bits = Bits::new(noise);
        // Both draws in either case: the time taken says nothing about which was used.
        let uniform = bits.next_u64() < self.uniform_words;
        let any = bits.below(self.categories as u128) as usize;
        Ok(Release { value: if uniform { any } else { category }, event: self.event(), noise_is_private })
    }

    /// The unbiased estimate of the histogram from the number of reports of each category:
    /// ĥ_k = (f_k(e^ε + K − 1) − 1)/(e^ε − 1), that is (f_k − γ/K)/(1 − γ). Sums to 1; single entries may be negative.
    ///
    /// # Errors
    /// If there is not one count per category, or no report at all.
    pub fn histogram(&self, counts: &[u64]) -> Result<Vec<f64>, MechanismError> {
        if counts.len() != self.categories {
            return Err(MechanismError::WrongNumberOfCounts {
                expected: self.categories,
                actual: counts.len(),
            });
        }
        let reports = counts.iter().map(|&count| count as f64).sum::<f64>();
        if reports == 0.0 {
            return Err(MechanismError::Empty { name: "Reports" });
        }
        let (background, signal) = (self.uniform() / self.categories as f64, self.signal());
        Ok(counts.iter().map(|&count| (count as f64 / reports - background) / signal).collect())
    }

    /// E(ĥ_k − h_k)² over n reports for a category that holds the proportion h of those who reported:
    /// (h·P(1 − P) + (1 − h)·Q(1 − Q))/(n(1 − γ)²) with P = 1 − γ + γ/K and Q = γ/K. For h → 0 it is
    /// (K − 2 + e^ε)/(n(e^ε − 1)²).
    ///
    /// # Errors
    /// If there are no reports or the proportion is outside [0, 1].
    pub fn mean_squared_error(&self, reports: u64, proportion: f64) -> Result<f64, MechanismError> {
        not_zero("Reports", reports)?;
        if !(0.0..=1.0).contains(&proportion) {
            return Err(MechanismError::OutsideInterval {
                name: "Proportion",
                value: proportion,
                low: 0.0,
                high: 1.0,
            });
        }
        let other = self.uniform() / self.categories as f64;
        let truth = self.signal() + other;
        let variance = proportion * truth * (1.0 - truth) + (1.0 - proportion) * other * (1.0 - other);
        Ok(variance / (reports as f64 * self.signal() * self.signal()))
    }

    /// 1 − γ, from the words themselves: for a small ε the difference of floats would have few digits.
    fn signal(&self) -> f64 {
        (u64::MAX - self.uniform_words + 1) as f64 / WORDS
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{NOT_POSITIVE, assert_counts_follow};
    use super::*;
    use crate::noise::danger_from_seed;

    fn reports(mechanism: &KaryResponse, category: usize, n: usize, seed: u64) -> Vec<u64> {
        let mut noise = danger_from_seed(seed, "response");
        let mut counts = vec![0; mechanism.categories()];
        (0..n).for_each(|_| counts[mechanism.release(category, &mut noise).unwrap().value] += 1);
        counts
    }

    #[test]
    fn reports_follow_the_stated_probabilities() {
        let mechanism = KaryResponse::new(1.5, 5).unwrap();
        let e = libm::exp(1.5);
        let mut expected = [1.0 / (e + 4.0); 5];
        expected[3] = e / (e + 4.0);
        assert_counts_follow(&reports(&mechanism, 3, 40_000, 71), &expected);
    }

    #[test]
    fn the_estimate_is_unbiased_and_its_error_is_the_stated_one() {
        // 1,000 surveys of 300 people; tolerances of 4.9 standard deviations as for the binary response.
        let mechanism = KaryResponse::new(1.0, 4).unwrap();
        let truth = [150, 90, 60, 0];
        let surveys = 1_000;
        let mut noise = danger_from_seed(72, "response");
        let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
        for _ in 0..surveys {
            let mut counts = [0; 4];
            for (category, &people) in truth.iter().enumerate() {
                for _ in 0..people {
                    counts[mechanism.release(category, &mut noise).unwrap().value] += 1;
                }
            }
            for (k, estimate) in mechanism.histogram(&counts).unwrap().into_iter().enumerate() {
                let deviation = estimate - f64::from(truth[k]) / 300.0;
                sums[k] += deviation;
                squares[k] += deviation * deviation;
            }
        }
        let surveys = f64::from(surveys);
        for k in 0..4 {
            let mse = mechanism.mean_squared_error(300, f64::from(truth[k]) / 300.0).unwrap();
            assert!((sums[k] / surveys).abs() < 4.9 * (mse / surveys).sqrt(), "{k}");
            assert!((squares[k] / surveys / mse - 1.0).abs() < 4.9 * (2.0 / surveys).sqrt(), "{k}");
        }
    }

    #[test]
    fn the_error_of_an_empty_category_is_the_textbook_formula() {
        for (epsilon, k) in [(0.1_f64, 2), (1.0, 10), (3.0, 100)] {
            let e = epsilon.exp();
            let expected = (k as f64 - 2.0 + e) / (1000.0 * (e - 1.0).powi(2));
            let actual = KaryResponse::new(epsilon, k).unwrap().mean_squared_error(1000, 0.0).unwrap();
            assert!((actual / expected - 1.0).abs() < 1e-12, "{epsilon} {k}");
        }
    }

    #[test]
    fn the_histogram_is_the_textbook_formula_and_sums_to_one() {
        let mechanism = KaryResponse::new(2.0, 3).unwrap();
        let estimate = mechanism.histogram(&[50, 30, 20]).unwrap();
        let e = libm::exp(2.0);
        for (estimate, f) in estimate.iter().zip([0.5, 0.3, 0.2]) {
            assert!((estimate - (f * (e + 2.0) - 1.0) / (e - 1.0)).abs() < 1e-12);
        }
        assert!((estimate.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn bad_parameters_are_refused() {
        for bad in NOT_POSITIVE {
            assert!(KaryResponse::new(bad, 3).unwrap_err().to_string().contains("Epsilon"));
        }
        for categories in [0, 1] {
            let error = KaryResponse::new(1.0, categories).unwrap_err();
            assert_eq!(error, MechanismError::TooFewCategories { categories });
        }
        let mechanism = KaryResponse::new(1.0, 3).unwrap();
        assert!(mechanism.release(3, &mut danger_from_seed(73, "response")).is_err());
        assert!(mechanism.histogram(&[1, 2]).is_err());
        assert!(mechanism.histogram(&[0, 0, 0]).is_err());
        assert!(mechanism.mean_squared_error(0, 0.5).is_err());
        assert!(mechanism.mean_squared_error(10, f64::NAN).is_err());
    }

    proptest! {
        #[test]
        fn the_odds_of_a_report_are_at_most_e_to_the_epsilon(
            exponent in -12.0_f64..3.0, categories in 2_usize..1_000_000,
        ) {
            let epsilon = libm::exp10(exponent);
            let mechanism = KaryResponse::new(epsilon, categories).unwrap();
            // ratio − 1 = K(1 − γ)/γ against e^ε − 1: both without cancellation.
            let excess = categories as f64 * mechanism.signal() / mechanism.uniform();
            prop_assert!(excess <= libm::expm1(epsilon) * (1.0 + 4.0 * f64::EPSILON), "{excess}");
        }
    }
}
