//! The exponential mechanism (McSherry and Talwar 2007), sampled by Gumbel noise on the scores.
//!
//! Adding independent Gumbel noise to ε·s/(2Δ) and taking the largest chooses with exactly the probabilities of the
//! softmax. Scores are taken relative to the best one first, so that large scores lose nothing.

use crate::event::DpEvent;
use crate::noise::{Bits, NoiseSource};

use super::Release;
use super::error::{MechanismError, all_finite, between, positive};

/// Chooses candidate o with probability proportional to exp(ε·s(o)/(2Δ)).
///
/// # Guarantee
/// A choice is ε-DP.
///
/// # Assumes
/// Neighbouring inputs change no score by more than Δ; the candidates do not depend on the data. Noise is secret and
/// real-valued (see the [gaps](crate::noise#known-gaps-of-floating-point-noise)); candidates more than e^700 times
/// less likely than the best may never be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    epsilon: f64,
    sensitivity: f64,
}

impl Exponential {
    /// A choice that costs `epsilon`, for scores of sensitivity `sensitivity`.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn new(epsilon: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        Ok(Self {
            epsilon: positive("Epsilon", epsilon)?,
            sensitivity: positive("Sensitivity", sensitivity)?,
        })
    }

    /// The event of one choice.
    pub fn event(&self) -> DpEvent {
        DpEvent::PureDp { epsilon: self.epsilon }
    }

    /// With probability at least 1 − β the chosen score is within (2Δ/ε)·ln(candidates/β) of the best.
    ///
    /// # Errors
    /// If there is no candidate or β is not in (0, 1).
    pub fn error_bound(&self, candidates: usize, beta: f64) -> Result<f64, MechanismError> {
        between("Beta", beta, (0.0, 1.0))?;
        if candidates == 0 {
            return Err(MechanismError::Empty { name: "Candidates" });
        }
        Ok(2.0 * self.sensitivity / self.epsilon * libm::log(candidates as f64 / beta))
    }

    /// The probability of each candidate. Depends on private scores: for tests and analysis, not for publication.
    ///
    /// # Errors
    /// If there are no scores or one is not finite.
    pub fn probabilities(&self, scores: &[f64]) -> Result<Vec<f64>, MechanismError> {
        let weights: Vec<f64> = self.exponents(scores)?.map(libm::exp).collect();
        let total: f64 = weights.iter().sum();
        Ok(weights.into_iter().map(|weight| weight / total).collect())
    }

    /// Chooses a candidate: the index of its score.
    ///
    /// # Guarantee
    /// As the type says.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If there are no scores or one is not finite.
    pub fn release(
        &self,
        scores: &[f64],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<usize>, MechanismError> {
        let noise_is_private = noise.is_private();
        let mut bits = Bits::new(noise);
        let (chosen, _) = self
            .exponents(scores)?
            .map(|exponent| exponent + gumbel(&mut bits))
            .enumerate()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("there is a score, as checked above");
        Ok(Release { value: chosen, event: self.event(), noise_is_private })
    }

    /// ε(s − max s)/(2Δ), at most 0; halved before the subtraction so that it cannot overflow to NaN.
    fn exponents(&self, scores: &[f64]) -> Result<impl Iterator<Item = f64>, MechanismError> {
        if scores.is_empty() {
            return Err(MechanismError::Empty { name: "Scores" });
        }
        all_finite(scores.iter().copied())?;
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(scores.iter().map(move |score| (score / 2.0 - best / 2.0) / self.sensitivity * self.epsilon))
    }
}

/// −ln(−ln U). The inner logarithm is of a uniform near 0 half of the time and near 1 half of the time; what matters is
/// a large result, that is an exponential near 0: it is drawn there with full precision.
fn gumbel(bits: &mut Bits) -> f64 {
    // −ln(1 − u) = E is a standard exponential; for u near 0 it is u itself, to full relative precision.
    -libm::log(-libm::log1p(-bits.unit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{KS_LIMIT, NOT_POSITIVE, assert_counts_follow, ks};
    use super::*;
    use crate::noise::danger_from_seed;

    #[test]
    fn choices_follow_the_stated_probabilities() {
        let mechanism = Exponential::new(1.2, 0.5).unwrap();
        let scores = [3.0, 2.5, 1.0, 3.2, -1.0];
        // Independently of `probabilities`: the textbook formula.
        let weights: Vec<f64> = scores.iter().map(|s| libm::exp(1.2 * s / (2.0 * 0.5))).collect();
        let total: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|w| w / total).collect();
        for (stated, expected) in mechanism.probabilities(&scores).unwrap().iter().zip(&expected) {
            assert!((stated - expected).abs() < 1e-14);
        }
        let mut noise = danger_from_seed(51, "exponential");
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            counts[mechanism.release(&scores, &mut noise).unwrap().value] += 1;
        }
        assert_counts_follow(&counts, &expected);
    }

    #[test]
    fn gumbel_noise_follows_its_distribution() {
        let mut noise = danger_from_seed(52, "gumbel");
        let mut bits = Bits::new(&mut noise);
        let samples = (0..100_000).map(|_| gumbel(&mut bits)).collect();
        assert!(ks(samples, |x| libm::exp(-libm::exp(-x))) < KS_LIMIT);
    }

    #[test]
    fn large_scores_are_as_good_as_small_ones() {
        let mechanism = Exponential::new(1.0, 1.0).unwrap();
        let near = mechanism.probabilities(&[0.0, 1.0, 2.0]).unwrap();
        let far = mechanism.probabilities(&[1e15, 1e15 + 1.0, 1e15 + 2.0]).unwrap();
        assert_eq!(near, far);
        for scores in [[f64::MAX, f64::MIN], [f64::MAX, f64::MAX]] {
            let p = mechanism.probabilities(&scores).unwrap();
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{p:?}");
            let _ = mechanism.release(&scores, &mut danger_from_seed(53, "exponential")).unwrap();
        }
        let extreme = Exponential::new(1e300, 1e-300).unwrap();
        assert_eq!(extreme.probabilities(&[1.0, 1.0, 0.0]).unwrap(), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_chosen_score_is_near_the_best_as_often_as_stated() {
        // At most β·n failures expected; 4.9 standard deviations above it has probability 1e-6.
        let mechanism = Exponential::new(2.0, 1.0).unwrap();
        let scores: Vec<f64> = (0..50).map(f64::from).collect();
        let bound = mechanism.error_bound(scores.len(), 0.1).unwrap();
        assert!((bound - 500.0_f64.ln()).abs() < 1e-12);
        let mut noise = danger_from_seed(54, "exponential");
        let failures = (0..5_000)
            .filter(|_| scores[mechanism.release(&scores, &mut noise).unwrap().value] < 49.0 - bound)
            .count() as f64;
        assert!(failures < 500.0 + 4.9 * (5_000.0_f64 * 0.1 * 0.9).sqrt(), "{failures}");
    }

    #[test]
    fn bad_parameters_and_scores_are_refused() {
        for bad in NOT_POSITIVE {
            assert!(Exponential::new(bad, 1.0).unwrap_err().to_string().contains("Epsilon"));
            assert!(Exponential::new(1.0, bad).unwrap_err().to_string().contains("Sensitivity"));
        }
        let mechanism = Exponential::new(1.0, 1.0).unwrap();
        let mut noise = danger_from_seed(55, "exponential");
        assert!(matches!(mechanism.release(&[], &mut noise), Err(MechanismError::Empty { .. })));
        let error = mechanism.release(&[1.0, f64::NAN], &mut noise).unwrap_err();
        assert!(matches!(error, MechanismError::NotFinite { index: 1, .. }));
    }

    proptest! {
        #[test]
        fn probabilities_of_neighbours_differ_by_at_most_e_to_the_epsilon(
            pairs in prop::collection::vec((-20.0_f64..20.0, -1.0_f64..=1.0), 1..12),
            epsilon in 0.05_f64..4.0,
        ) {
            let mechanism = Exponential::new(epsilon, 1.0).unwrap();
            let scores: Vec<f64> = pairs.iter().map(|(s, _)| *s).collect();
            let moved: Vec<f64> = pairs.iter().map(|(s, change)| s + change).collect();
            let (p, q) = (mechanism.probabilities(&scores).unwrap(), mechanism.probabilities(&moved).unwrap());
            for (p, q) in p.iter().zip(&q) {
                prop_assert!(p / q <= libm::exp(epsilon) * (1.0 + 1e-12));
                prop_assert!(q / p <= libm::exp(epsilon) * (1.0 + 1e-12));
            }
        }
    }
}
