//! The discrete Gaussian mechanism, sampled exactly (Canonne, Kamath and Steinke 2020, algorithm 3 and theorem 4).

use crate::event::DpEvent;
use crate::mechanisms::Release;
use crate::mechanisms::error::{MechanismError, positive};
use crate::noise::{Bits, NoiseSource};

use super::{Fraction, add_clamped, bernoulli, laplace};

/// Largest denominator of an acceptance exponent. A numerator that does not fit 128 bits is replaced by the
/// largest that does; the exponent is above 2²⁰ then, and acceptance below e^(−1,000,000) either way.
const LARGEST_DENOMINATOR: u128 = 1 << 107;

/// Adds independent integers x with probability proportional to e^(−x²/2σ²) to every coordinate.
///
/// # Guarantee
/// A release is ρ-zCDP with ρ = Δ₂²/(2σ²), exactly, for the integers that are released.
///
/// # Assumes
/// Neighbouring inputs give integer vectors at most Δ₂ apart in L2 norm. Noise is secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    variance: Fraction,
    sensitivity: f64,
    /// t = ⌊σ⌋ + 1, the scale of the discrete Laplace that proposals come from.
    proposal_scale: u64,
    /// 2·a·b·t² for σ² = a/b: the denominator of every acceptance exponent.
    exponent_denominator: u128,
}

impl DiscreteGaussian {
    /// Noise of parameter σ² = `variance` on integers of L2 sensitivity `sensitivity`.
    ///
    /// # Errors
    /// If the sensitivity is not positive and finite, or σ² times its denominator exceeds about 2⁵³ (σ up to 6·10⁷
    /// for whole σ², up to 9·10⁴ with a denominator of a million).
    pub fn new(variance: Fraction, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Sensitivity", sensitivity)?;
        let (a, b) = (u128::from(variance.numerator), u128::from(variance.denominator));
        let proposal_scale = (variance.numerator / variance.denominator).isqrt() + 1;
        let t = u128::from(proposal_scale);
        let exponent_denominator = (2 * a)
            .checked_mul(b)
            .and_then(|product| product.checked_mul(t * t))
            .filter(|&product| product <= LARGEST_DENOMINATOR)
            .ok_or_else(|| variance.too_large("Variance"))?;
        Ok(Self { variance, sensitivity, proposal_scale, exponent_denominator })
    }

    /// σ², which the variance of the noise never exceeds.
    pub fn variance(&self) -> Fraction {
        self.variance
    }

    /// ρ = Δ₂²/(2σ²), rounded up.
    pub fn rho(&self) -> f64 {
        // Five roundings at most (numerator and denominator may exceed 2⁵³).
        let (a, b) = (self.variance.numerator as f64, self.variance.denominator as f64);
        self.sensitivity * self.sensitivity * b / (2.0 * a) * (1.0 + 6.0 * f64::EPSILON)
    }

    /// The event of one release.
    pub fn event(&self) -> DpEvent {
        DpEvent::ZeroConcentrated { rho: self.rho() }
    }

    /// Releases integers. What would leave the range of 64 bits is held at its end.
    ///
    /// # Guarantee
    /// As the type says, for all coordinates at once.
    ///
    /// # Assumes
    /// As the type says.
    pub fn release(&self, values: &[i64], noise: &mut dyn NoiseSource) -> Release<Vec<i64>> {
        let noise_is_private = noise.is_private();
        let mut bits = Bits::new(noise);
        let value = values.iter().map(|&value| add_clamped(value, self.sample(&mut bits))).collect();
        Release { value, event: self.event(), noise_is_private }
    }

    fn sample(&self, bits: &mut Bits) -> i128 {
        let (a, b) = (u128::from(self.variance.numerator), u128::from(self.variance.denominator));
        loop {
            let proposal = laplace::sample(bits, self.proposal_scale, 1);
            // Accept with exp(−(|Y| − σ²/t)²/2σ²); multiplied out, (|Y|bt − a)²/(2abt²).
            let moved =
                proposal.unsigned_abs().saturating_mul(b * u128::from(self.proposal_scale)).abs_diff(a);
            if bernoulli::exp_minus(bits, moved.saturating_mul(moved), self.exponent_denominator) {
                return proposal;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::testing::{NOT_POSITIVE, assert_counts_follow};
    use crate::noise::danger_from_seed;

    /// Masses on −reach..=reach, with the tails beyond in the outermost cells.
    fn expected(variance: f64, reach: i64) -> Vec<f64> {
        let mass = |x: i64| libm::exp(-((x * x) as f64) / (2.0 * variance));
        let far = reach + 60 * (variance.sqrt() as i64 + 1);
        let total: f64 = (-far..=far).map(mass).sum();
        (-reach..=reach)
            .map(|x| {
                let here = if x.abs() == reach { (reach..=far).map(mass).sum() } else { mass(x) };
                here / total
            })
            .collect()
    }

    #[test]
    fn samples_follow_the_discrete_gaussian_distribution() {
        // Tiny, fractional, whole, and large variances; the last with a denominator.
        for (a, b, reach, seed) in
            [(1, 4, 1, 111), (1, 1, 3, 112), (25, 4, 8, 113), (100, 1, 30, 114), (1_000_001, 1_000, 95, 115)]
        {
            let mechanism = DiscreteGaussian::new(Fraction::new(a, b).unwrap(), 1.0).unwrap();
            let release = mechanism.release(&vec![0; 40_000], &mut danger_from_seed(seed, "discrete"));
            let mut counts = vec![0; 2 * reach as usize + 1];
            release.value.iter().for_each(|&x| counts[(x.clamp(-reach, reach) + reach) as usize] += 1);
            assert_counts_follow(&counts, &expected(a as f64 / b as f64, reach));
        }
    }

    #[test]
    fn renyi_divergence_of_neighbours_is_at_most_rho_alpha() {
        for (variance, shift) in [(0.25, 1), (1.0, 1), (6.25, 2), (100.0, 7)] {
            let log_mass = |x: i64| -((x * x) as f64) / (2.0 * variance);
            let total: f64 = (-2_000..=2_000).map(|x| libm::exp(log_mass(x))).sum();
            let fraction = Fraction::new((variance * 4.0) as u64, 4).unwrap();
            let rho = DiscreteGaussian::new(fraction, shift as f64).unwrap().rho();
            for alpha in [1.5, 2.0, 5.0, 20.0] {
                let logs: Vec<f64> = (-2_000..=2_000)
                    .map(|x| alpha * log_mass(x) + (1.0 - alpha) * log_mass(x - shift))
                    .collect();
                let top = logs.iter().copied().fold(f64::MIN, f64::max);
                let sum: f64 = logs.iter().map(|log| libm::exp(log - top)).sum();
                let divergence = (top + libm::log(sum / total)) / (alpha - 1.0);
                assert!(
                    divergence <= rho * alpha * (1.0 + 1e-12) + 1e-12,
                    "{variance} {alpha}: {divergence}"
                );
            }
        }
    }

    #[test]
    fn a_release_says_what_it_costs() {
        let mechanism = DiscreteGaussian::new(Fraction::new(9, 2).unwrap(), 3.0).unwrap();
        let release = mechanism.release(&[1, 2, 3], &mut danger_from_seed(116, "discrete"));
        let DpEvent::ZeroConcentrated { rho } = release.event else { panic!("{:?}", release.event) };
        assert!((1.0..1.0 + 1e-14).contains(&rho), "{rho}");
        assert!(!release.noise_is_private);
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused_and_the_stated_limits_are_not() {
        let fraction = |a, b| Fraction::new(a, b).unwrap();
        assert!(DiscreteGaussian::new(fraction(3_600_000_000_000_000, 1), 1.0).is_ok());
        assert!(DiscreteGaussian::new(fraction(8_100_000_000_000_001, 1_000_000), 1.0).is_ok());
        for (a, b) in [(u64::MAX, 1), (u64::MAX, u64::MAX - 1), ((1 << 60) + 1, 1 << 20)] {
            let refused = DiscreteGaussian::new(fraction(a, b), 1.0);
            assert!(matches!(refused, Err(MechanismError::RationalTooLarge { .. })), "{a}/{b}");
        }
        for bad in NOT_POSITIVE {
            assert!(DiscreteGaussian::new(fraction(1, 1), bad).is_err());
        }
    }

    #[test]
    fn the_largest_variance_still_samples() {
        let sigma = 60_000_000_u64;
        let mechanism = DiscreteGaussian::new(Fraction::new(sigma * sigma, 1).unwrap(), 1.0).unwrap();
        let release = mechanism.release(&[0; 2_000], &mut danger_from_seed(117, "discrete"));
        // Mean square over σ²: standard deviation √(2/2000), 4.9 of them.
        let square = release.value.iter().map(|&x| (x as f64 / sigma as f64).powi(2)).sum::<f64>() / 2_000.0;
        assert!((square - 1.0).abs() < 4.9 * (2.0_f64 / 2_000.0).sqrt(), "{square}");
    }
}
