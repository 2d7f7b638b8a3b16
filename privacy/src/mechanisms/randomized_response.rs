//! Randomized response (Warner 1965): a yes-or-no answer that its giver can deny.

use crate::event::DpEvent;
use crate::noise::NoiseSource;

use super::error::{MechanismError, between};
use super::kary_response::KaryResponse;
use super::{Release, error};

/// Tells the truth with probability p, the opposite otherwise.
///
/// # Guarantee
/// One answer is ε-local-DP with ε = ln(p/(1 − p)), exactly: the probability of a lie is a multiple of 2⁻⁶⁵ that is
/// rounded up, and is drawn with whole random words.
///
/// # Assumes
/// Each person answers once; every further answer of the same person costs ε again. Noise is secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    response: KaryResponse,
}

impl RandomizedResponse {
    /// The mechanism that costs `epsilon`: truth with probability e^ε/(e^ε + 1).
    ///
    /// # Errors
    /// If ε is not positive and finite.
    pub fn new(epsilon: f64) -> Result<Self, MechanismError> {
        KaryResponse::new(epsilon, 2).map(|response| Self { response })
    }

    /// The mechanism that tells the truth with probability `truth`, between 1/2 and 1.
    ///
    /// # Errors
    /// If the probability does not lie strictly between 1/2 and 1.
    pub fn with_truth(truth: f64) -> Result<Self, MechanismError> {
        between("Probability of truth", truth, (0.5, 1.0))?;
        // Rounded up: the event must not promise more than p does.
        let epsilon = libm::log(truth / (1.0 - truth)) * (1.0 + 4.0 * f64::EPSILON);
        let probabilities = (2.0 * (1.0 - truth), 2.0 * truth - 1.0);
        KaryResponse::with_probabilities(epsilon, 2, probabilities).map(|response| Self { response })
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        self.response.epsilon()
    }

    /// p, the probability of the truth.
    pub fn truth(&self) -> f64 {
        1.0 - self.response.uniform() / 2.0
    }

    /// The event of one answer.
    pub fn event(&self) -> DpEvent {
        self.response.event()
    }

    /// Answers.
    ///
    /// # Guarantee
    /// As the type says.
    ///
    /// # Assumes
    /// As the type says.
    pub fn release(&self, answer: bool, noise: &mut dyn NoiseSource) -> Release<bool> {
        let Release { value, event, noise_is_private } =
            self.response.release(usize::from(answer), noise).expect("an answer is one of two categories");
        Release { value: value == 1, event, noise_is_private }
    }

    /// The unbiased estimate of the proportion of true yes, from the proportion of yes among the answers:
    /// (ȳ + p − 1)/(2p − 1). It may lie outside [0, 1]; clamping it is free but biases it.
    ///
    /// # Errors
    /// If there are no answers, or more yes than answers.
    pub fn proportion(&self, yes: u64, answers: u64) -> Result<f64, MechanismError> {
        if answers == 0 {
            return Err(MechanismError::Empty { name: "Answers" });
        }
        let mean = yes as f64 / answers as f64;
        if yes > answers {
            return Err(MechanismError::OutsideInterval {
                name: "Proportion of yes",
                value: mean,
                low: 0.0,
                high: 1.0,
            });
        }
        let truth = self.truth();
        Ok((mean + truth - 1.0) / (2.0 * truth - 1.0))
    }

    /// The standard deviation of [`proportion`](Self::proportion) around the true proportion among those who answered:
    /// √(p(1 − p)/n)/(2p − 1), whatever the proportion is.
    ///
    /// # Errors
    /// If there are no answers.
    pub fn proportion_error(&self, answers: u64) -> Result<f64, MechanismError> {
        error::not_zero("Answers", answers)?;
        let truth = self.truth();
        Ok(libm::sqrt(truth * (1.0 - truth) / answers as f64) / (2.0 * truth - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOT_POSITIVE, assert_counts_follow};
    use super::*;
    use crate::noise::danger_from_seed;

    #[test]
    fn answers_are_true_with_the_stated_probability() {
        for answer in [false, true] {
            let mechanism = RandomizedResponse::with_truth(0.75).unwrap();
            assert!((mechanism.epsilon() - 3.0_f64.ln()).abs() < 1e-14);
            let mut noise = danger_from_seed(61, "response");
            let mut counts = [0; 2];
            (0..40_000).for_each(|_| {
                counts[usize::from(mechanism.release(answer, &mut noise).value == answer)] += 1
            });
            assert_counts_follow(&counts, &[0.25, 0.75]);
        }
    }

    #[test]
    fn the_odds_of_an_answer_are_at_most_e_to_the_epsilon() {
        for epsilon in [1e-9, 0.1, 1.0, 5.0, 20.0, 40.0] {
            let mechanism = RandomizedResponse::new(epsilon).unwrap();
            // The lie's probability, without the cancellation of 1 − truth.
            let lie = mechanism.response.uniform() / 2.0;
            assert!((1.0 - lie) / lie <= libm::exp(epsilon) * (1.0 + 4.0 * f64::EPSILON), "{epsilon}");
            assert!((mechanism.truth() - libm::exp(epsilon) / (1.0 + libm::exp(epsilon))).abs() < 1e-15);
        }
    }

    #[test]
    fn the_estimate_is_unbiased_and_its_error_is_the_stated_one() {
        // 2,000 polls of 400 people, 30 % yes. Mean: 4.9 standard errors, 1e-6. The mean of squared deviations is
        // nearly a chi-square over 2,000: its relative standard deviation is √(2/2000), again 4.9 of them.
        let mechanism = RandomizedResponse::new(1.0).unwrap();
        let mut noise = danger_from_seed(62, "response");
        let (people, yes, polls) = (400, 120, 2_000);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..polls {
            let said_yes = (0..people).filter(|&i| mechanism.release(i < yes, &mut noise).value).count();
            let deviation = mechanism.proportion(said_yes as u64, people as u64).unwrap() - 0.3;
            sum += deviation;
            squares += deviation * deviation;
        }
        let (polls, sd) = (f64::from(polls), mechanism.proportion_error(400).unwrap());
        assert!((sum / polls).abs() < 4.9 * sd / polls.sqrt(), "{}", sum / polls);
        assert!((squares / polls / (sd * sd) - 1.0).abs() < 4.9 * (2.0 / polls).sqrt());
    }

    #[test]
    fn bad_parameters_are_refused() {
        for bad in NOT_POSITIVE {
            assert!(RandomizedResponse::new(bad).is_err(), "{bad}");
            assert!(RandomizedResponse::with_truth(bad).is_err(), "{bad}");
        }
        for bad in [0.5, 0.4, 1.0, 1.1] {
            assert!(RandomizedResponse::with_truth(bad).unwrap_err().to_string().contains("truth"));
        }
        let mechanism = RandomizedResponse::new(1.0).unwrap();
        assert!(mechanism.proportion(0, 0).is_err());
        assert!(mechanism.proportion(3, 2).is_err());
        assert!(mechanism.proportion_error(0).is_err());
    }
}
