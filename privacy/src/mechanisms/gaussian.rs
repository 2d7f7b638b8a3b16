//! The Gaussian mechanism. Exact privacy curve and calibration: Balle and Wang 2018 (theorem 8, algorithm 1), by way of
//! [`gdp`](crate::gdp); classic calibration: Dwork and Roth 2014, theorem A.1.

use crate::event::DpEvent;
use crate::gdp;
use crate::noise::NoiseSource;

use super::error::{MechanismError, all_finite, between, positive};
use super::rounding::{quotient_down, quotient_up};
use super::{Release, error};

/// Adds independent N(0, σ²) to every coordinate.
///
/// # Guarantee
/// A release is exactly μ-GDP with μ = Δ/σ: it is (ε, δ)-DP if and only if
/// δ ≥ Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ).
///
/// # Assumes
/// Neighbouring inputs give values at most Δ apart in L2 norm. Noise is secret
/// ([`Release::noise_is_private`]) and real-valued (see the [gaps](crate::noise#known-gaps-of-floating-point-noise)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    sigma: f64,
    sensitivity: f64,
    /// σ/Δ, rounded down.
    multiplier: f64,
}

impl Gaussian {
    /// Noise of standard deviation `sigma` on values of L2 sensitivity `sensitivity`.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn new(sigma: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Sigma", sigma)?;
        positive("Sensitivity", sensitivity)?;
        Ok(Self { sigma, sensitivity, multiplier: quotient_down(sigma, sensitivity) })
    }

    /// Noise of `multiplier` times the sensitivity, and an event that says so. σ is the double nearest to the product, which is off by less than
    /// accountants round up.
    ///
    /// # Errors
    /// If one of them, or the product, is not positive and finite.
    pub fn with_multiplier(multiplier: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Noise multiplier", multiplier)?;
        let gaussian = Self::new(multiplier * positive("Sensitivity", sensitivity)?, sensitivity)?;
        Ok(Self { multiplier, ..gaussian })
    }

    /// The least noise that is (ε, δ)-DP, by the exact curve; any ε.
    ///
    /// # Guarantee
    /// (ε, δ)-DP; σ is rounded up.
    ///
    /// # Errors
    /// If ε or the sensitivity is not positive and finite, δ not in (0, 1), or no finite σ is enough.
    pub fn calibrated(epsilon: f64, delta: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        between("Delta", delta, (0.0, 1.0))?;
        positive("Sensitivity", sensitivity)?;
        if delta < f64::MIN_POSITIVE {
            // Subnormal: no conversion keeps its relative precision there.
            return Err(MechanismError::NoSuchNoise { what: "this delta", value: delta });
        }
        let none = MechanismError::NoSuchNoise { what: "this epsilon", value: epsilon };
        let mu = gdp::mu(epsilon, delta).map_err(|_| none.clone())?;
        if mu.is_nan() || mu <= 0.0 {
            return Err(none);
        }
        Self::new(quotient_up(sensitivity, mu), sensitivity).map_err(|_| none)
    }

    /// The classic σ = √(2 ln(1.25/δ))·Δ/ε. Never less noise than [`calibrated`](Self::calibrated); for comparison
    /// with the literature.
    ///
    /// # Guarantee
    /// (ε, δ)-DP.
    ///
    /// # Errors
    /// For ε above 1, where the theorem does not hold; otherwise as [`calibrated`](Self::calibrated).
    pub fn classic(epsilon: f64, delta: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        between("Delta", delta, (0.0, 1.0))?;
        positive("Sensitivity", sensitivity)?;
        if epsilon > 1.0 {
            return Err(MechanismError::ClassicEpsilonTooLarge { epsilon });
        }
        let multiplier = libm::sqrt(2.0 * libm::log(1.25 / delta)) / epsilon;
        let sigma = multiplier * sensitivity * (1.0 + 8.0 * f64::EPSILON);
        Self::new(sigma, sensitivity)
            .map_err(|_| MechanismError::NoSuchNoise { what: "this epsilon", value: epsilon })
    }

    /// σ.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Δ, in L2 norm.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// μ = Δ/σ, rounded up.
    pub fn mu(&self) -> f64 {
        quotient_up(self.sensitivity, self.sigma)
    }

    /// The event of one release; its noise multiplier σ/Δ is rounded down.
    pub fn event(&self) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier: self.multiplier }
    }

    /// With probability at least 1 − β every one of `coordinates` errors is below σ√(2 ln(2K/β)).
    ///
    /// # Errors
    /// If there is no coordinate or β is not in (0, 1).
    pub fn error_bound(&self, coordinates: usize, beta: f64) -> Result<f64, MechanismError> {
        between("Beta", beta, (0.0, 1.0))?;
        if coordinates == 0 {
            return Err(MechanismError::Empty { name: "Coordinates" });
        }
        Ok(self.sigma * libm::sqrt(2.0 * libm::log(2.0 * coordinates as f64 / beta)))
    }

    /// Releases a vector.
    ///
    /// # Guarantee
    /// As the type says, for the whole vector at once.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If a value is not finite; nothing is released then.
    pub fn release(
        &self,
        values: &[f64],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<Vec<f64>>, MechanismError> {
        all_finite(values.iter().copied())?;
        let mut value = values.to_vec();
        noise.add_normals(&mut value, self.sigma);
        Ok(Release { value, event: self.event(), noise_is_private: noise.is_private() })
    }

    /// Adds the noise to single-precision values in place, without allocation.
    ///
    /// # Guarantee
    /// As the type says; the sum is made in double precision and rounded once (post-processing).
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If a value is not finite; the values are left alone then.
    pub fn release_in_place(
        &self,
        values: &mut [f32],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<()>, MechanismError> {
        self.release_scaled_in_place(values, 1.0, noise)
    }

    /// As [`release_in_place`](Self::release_in_place), and multiplies the noisy values by `scale` in the same pass over memory.
    ///
    /// # Guarantee
    /// As the type says; scaling is post-processing.
    ///
    /// # Assumes
    /// As the type says, and a scale that does not depend on the values.
    ///
    /// # Errors
    /// If a value is not finite; the values are left alone then.
    pub fn release_scaled_in_place(
        &self,
        values: &mut [f32],
        scale: f32,
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<()>, MechanismError> {
        error::all_finite_f32(values)?;
        noise.add_normals_then_scale_f32(values, self.sigma, scale);
        Ok(Release { value: (), event: self.event(), noise_is_private: noise.is_private() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{KS_LIMIT, NOT_POSITIVE, ks, normal_cdf};
    use super::*;
    use crate::noise::danger_from_seed;

    /// The curve as the papers write it, computed naively; good to about 1e-14 absolute.
    fn delta(gaussian: &Gaussian, epsilon: f64) -> f64 {
        let ratio = gaussian.sensitivity / gaussian.sigma;
        normal_cdf(ratio / 2.0 - epsilon / ratio) - epsilon.exp() * normal_cdf(-ratio / 2.0 - epsilon / ratio)
    }

    #[test]
    fn calibration_meets_delta_and_a_little_less_noise_does_not() {
        for epsilon in [0.1, 0.5, 1.0, 4.0, 10.0] {
            for target in [1e-3, 1e-5, 1e-8] {
                let gaussian = Gaussian::calibrated(epsilon, target, 2.0).unwrap();
                assert!(delta(&gaussian, epsilon) <= target * (1.0 + 1e-9) + 1e-14, "{epsilon} {target}");
                let less = Gaussian::new(gaussian.sigma() * (1.0 - 1e-4), 2.0).unwrap();
                assert!(delta(&less, epsilon) > target, "{epsilon} {target}");
            }
        }
    }

    #[test]
    fn calibration_agrees_with_fifty_digit_arithmetic() {
        // Root of the curve for ε = 1, δ = 1e-5, Δ = 1, by mpmath with 50 digits.
        let sigma = Gaussian::calibrated(1.0, 1e-5, 1.0).unwrap().sigma();
        assert!((sigma - 3.730_631_634_815_942).abs() < 1e-10, "{sigma}");
    }

    #[test]
    fn the_classic_formula_is_refused_above_one_and_never_needs_less_noise_below() {
        let error = Gaussian::classic(1.0 + 1e-12, 1e-5, 1.0).unwrap_err();
        assert!(matches!(error, MechanismError::ClassicEpsilonTooLarge { .. }));
        assert!(topology::Hint::hint(&error).unwrap().contains("analytic"));
        for epsilon in [1e-6, 0.01, 0.3, 0.999, 1.0] {
            for delta in [1e-12, 1e-5, 0.01, 0.3, 0.7, 0.999] {
                let classic = Gaussian::classic(epsilon, delta, 1.0).unwrap().sigma();
                let exact = Gaussian::calibrated(epsilon, delta, 1.0).unwrap().sigma();
                assert!(classic >= exact, "{epsilon} {delta}: {classic} < {exact}");
            }
        }
        // √(2 ln 125000), likewise.
        assert!((Gaussian::classic(1.0, 1e-5, 1.0).unwrap().sigma() - 4.844_805_262_605_389).abs() < 1e-12);
    }

    #[test]
    fn a_release_is_the_value_plus_normal_noise_and_its_event() {
        let gaussian = Gaussian::new(3.0, 2.0).unwrap();
        let mut noise = danger_from_seed(21, "gaussian");
        let release = gaussian.release(&vec![10.0; 100_000], &mut noise).unwrap();
        assert_eq!(release.event, DpEvent::Gaussian { noise_multiplier: 1.5 });
        assert!(!release.noise_is_private);
        assert!(ks(release.value, |x| normal_cdf((x - 10.0) / 3.0)) < KS_LIMIT);
    }

    #[test]
    fn a_release_in_place_is_rounded_from_the_same_noise() {
        let gaussian = Gaussian::new(0.7, 1.0).unwrap();
        let doubles = gaussian.release(&[0.25; 64], &mut danger_from_seed(22, "gaussian")).unwrap();
        let mut singles = [0.25_f32; 64];
        let release = gaussian.release_in_place(&mut singles, &mut danger_from_seed(22, "gaussian")).unwrap();
        assert_eq!(release.event, doubles.event);
        for (single, double) in singles.iter().zip(&doubles.value) {
            assert_eq!(*single, *double as f32);
        }
    }

    #[test]
    fn a_scaled_release_is_the_release_times_the_scale_and_costs_the_same() {
        let gaussian = Gaussian::with_multiplier(1.1, 0.3).unwrap();
        assert_eq!(gaussian.event(), DpEvent::Gaussian { noise_multiplier: 1.1 });
        assert_eq!(gaussian.sigma(), 1.1 * 0.3);
        let (mut plain, mut scaled) = ([0.25_f32; 64], [0.25_f32; 64]);
        let first = gaussian.release_in_place(&mut plain, &mut danger_from_seed(25, "gaussian")).unwrap();
        let second = gaussian
            .release_scaled_in_place(&mut scaled, 0.7, &mut danger_from_seed(25, "gaussian"))
            .unwrap();
        assert_eq!(first, second);
        plain.iter().zip(scaled).for_each(|(plain, scaled)| assert_eq!(plain * 0.7, scaled));
        for (multiplier, sensitivity) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1e-200, 1e-200)] {
            assert!(Gaussian::with_multiplier(multiplier, sensitivity).is_err());
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_and_left_alone() {
        let gaussian = Gaussian::new(1.0, 1.0).unwrap();
        let mut noise = danger_from_seed(23, "gaussian");
        let error = gaussian.release(&[1.0, f64::NAN], &mut noise).unwrap_err();
        assert!(matches!(error, MechanismError::NotFinite { index: 1, .. }));
        let mut values = [1.0, f32::INFINITY];
        assert!(gaussian.release_in_place(&mut values, &mut noise).is_err());
        assert_eq!(values, [1.0, f32::INFINITY]);
    }

    #[test]
    fn noise_that_overflows_becomes_a_finite_number() {
        let gaussian = Gaussian::new(f64::MAX, 1.0).unwrap();
        let mut noise = danger_from_seed(24, "gaussian");
        assert!(gaussian.release(&[0.0; 50], &mut noise).unwrap().value.iter().all(|x| x.is_finite()));
        let mut singles = [0.0_f32; 50];
        let _ = gaussian.release_in_place(&mut singles, &mut noise).unwrap();
        assert!(singles.iter().all(|x| x.is_finite()));
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        for bad in NOT_POSITIVE {
            assert!(Gaussian::new(bad, 1.0).unwrap_err().to_string().contains("Sigma"));
            assert!(Gaussian::new(1.0, bad).unwrap_err().to_string().contains("Sensitivity"));
            for build in [Gaussian::calibrated, Gaussian::classic] {
                assert!(build(bad, 1e-5, 1.0).unwrap_err().to_string().contains("Epsilon"), "{bad}");
                assert!(build(0.5, bad, 1.0).unwrap_err().to_string().contains("Delta"), "{bad}");
                assert!(build(0.5, 1e-5, bad).unwrap_err().to_string().contains("Sensitivity"), "{bad}");
                assert!(build(0.5, 1.0, 1.0).is_err());
            }
        }
    }

    proptest! {
        #[test]
        fn more_privacy_never_needs_less_noise(
            epsilon in 0.01_f64..20.0, delta in 1e-12_f64..0.5, sensitivity in 1e-3_f64..1e3,
        ) {
            let sigma = |e, d, s| Gaussian::calibrated(e, d, s).unwrap().sigma();
            let here = sigma(epsilon, delta, sensitivity);
            prop_assert!(sigma(epsilon * 0.9, delta, sensitivity) >= here);
            prop_assert!(sigma(epsilon, delta * 0.9, sensitivity) >= here);
            prop_assert!(sigma(epsilon, delta, sensitivity * 1.1) >= here);
        }

        #[test]
        fn any_parameters_give_a_mechanism_or_an_error(
            epsilon in any::<f64>(), delta in prop_oneof![any::<f64>(), 0.0..1.0, 0.0..f64::MIN_POSITIVE],
            sensitivity in any::<f64>(),
        ) {
            if let Ok(gaussian) = Gaussian::calibrated(epsilon, delta, sensitivity) {
                prop_assert!(gaussian.sigma().is_finite() && gaussian.sigma() > 0.0);
            }
        }
    }
}
