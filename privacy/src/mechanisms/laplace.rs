//! The Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006).

use crate::event::DpEvent;
use crate::noise::{Bits, NoiseSource};

use super::Release;
use super::error::{MechanismError, all_finite, positive};
use super::rounding::{quotient_down, quotient_up};

/// Adds independent noise of density e^(−|x|/b)/2b to every coordinate.
///
/// # Guarantee
/// A release is ε-DP with ε = Δ₁/b: the densities of the outputs for neighbouring inputs differ by at most e^ε
/// everywhere.
///
/// # Assumes
/// Neighbouring inputs give values at most Δ₁ apart in L1 norm (sum over all coordinates). Noise is secret and
/// real-valued (see the [gaps](crate::noise#known-gaps-of-floating-point-noise)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    scale: f64,
    sensitivity: f64,
}

impl Laplace {
    /// Noise of scale b on values of L1 sensitivity `sensitivity`.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn new(scale: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        Ok(Self { scale: positive("Scale", scale)?, sensitivity: positive("Sensitivity", sensitivity)? })
    }

    /// The scale Δ₁/ε, rounded up.
    ///
    /// # Guarantee
    /// ε-DP.
    ///
    /// # Errors
    /// If a parameter is not positive and finite, or the scale does not fit.
    pub fn calibrated(epsilon: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        positive("Sensitivity", sensitivity)?;
        Self::new(quotient_up(sensitivity, epsilon), sensitivity)
            .map_err(|_| MechanismError::NoSuchNoise { what: "this epsilon", value: epsilon })
    }

    /// b.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// ε = Δ₁/b, rounded up.
    pub fn epsilon(&self) -> f64 {
        quotient_up(self.sensitivity, self.scale)
    }

    /// The event of one release; its noise multiplier b/Δ₁ is rounded down.
    pub fn event(&self) -> DpEvent {
        DpEvent::Laplace { noise_multiplier: quotient_down(self.scale, self.sensitivity) }
    }

    /// The expected L1 error of `coordinates` values: K·b.
    pub fn expected_error(&self, coordinates: usize) -> f64 {
        coordinates as f64 * self.scale
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
        let noise_is_private = noise.is_private();
        let mut bits = Bits::new(noise);
        let value = values
            .iter()
            .map(|value| (value + self.scale * standard_laplace(&mut bits)).clamp(f64::MIN, f64::MAX))
            .collect();
        Ok(Release { value, event: self.event(), noise_is_private })
    }
}

/// A fair sign times a standard exponential.
fn standard_laplace(bits: &mut Bits) -> f64 {
    let negative = bits.next_u64() & 1 == 1;
    let exponential = -libm::log(bits.unit());
    if negative { -exponential } else { exponential }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{KS_LIMIT, NOT_POSITIVE, ks};
    use super::*;
    use crate::noise::danger_from_seed;

    fn density(x: f64, centre: f64, scale: f64) -> f64 {
        libm::exp(-(x - centre).abs() / scale) / (2.0 * scale)
    }

    #[test]
    fn releases_follow_the_laplace_distribution() {
        let laplace = Laplace::calibrated(0.5, 1.0).unwrap();
        let release = laplace.release(&vec![4.0; 100_000], &mut danger_from_seed(41, "laplace")).unwrap();
        assert_eq!(release.event, DpEvent::Laplace { noise_multiplier: 2.0 });
        let cdf = |x: f64| {
            let tail = 0.5 * libm::exp(-(x - 4.0).abs() / 2.0);
            if x < 4.0 { tail } else { 1.0 - tail }
        };
        assert!(ks(release.value, cdf) < KS_LIMIT);
    }

    #[test]
    fn densities_of_neighbours_differ_by_at_most_e_to_the_epsilon_on_a_grid() {
        for epsilon in [0.1, 1.0, 3.0] {
            let laplace = Laplace::calibrated(epsilon, 2.0).unwrap();
            for i in -400..=400 {
                let x = f64::from(i) * 0.05;
                let ratio = density(x, 0.0, laplace.scale()) / density(x, 2.0, laplace.scale());
                assert!(ratio <= epsilon.exp() * (1.0 + 1e-12), "{x}: {ratio}");
            }
        }
    }

    #[test]
    fn the_mean_absolute_error_is_the_stated_one() {
        // |error| is exponential with mean and standard deviation b: the sum over n deviates by 4.9·b·√n with 1e-6.
        let laplace = Laplace::new(3.0, 1.0).unwrap();
        let n = 100_000;
        let release = laplace.release(&vec![0.0; n], &mut danger_from_seed(42, "laplace")).unwrap();
        let error: f64 = release.value.iter().map(|x| x.abs()).sum();
        assert!((error - laplace.expected_error(n)).abs() < 4.9 * 3.0 * (n as f64).sqrt(), "{error}");
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        for bad in NOT_POSITIVE {
            assert!(Laplace::new(bad, 1.0).unwrap_err().to_string().contains("Scale"));
            assert!(Laplace::calibrated(bad, 1.0).unwrap_err().to_string().contains("Epsilon"));
            assert!(Laplace::calibrated(1.0, bad).unwrap_err().to_string().contains("Sensitivity"));
        }
        let error = Laplace::calibrated(1e-300, 1e300).unwrap_err();
        assert!(matches!(error, MechanismError::NoSuchNoise { .. }));
        let laplace = Laplace::new(1.0, 1.0).unwrap();
        assert!(laplace.release(&[f64::INFINITY], &mut danger_from_seed(43, "laplace")).is_err());
    }
}
