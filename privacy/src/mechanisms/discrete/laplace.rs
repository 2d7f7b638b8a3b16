//! The discrete Laplace mechanism (Ghosh, Roughgarden and Sundararajan 2009), sampled exactly (Canonne, Kamath and
//! Steinke 2020, algorithm 2).

use crate::event::DpEvent;
use crate::mechanisms::Release;
use crate::mechanisms::error::{MechanismError, positive};
use crate::noise::{Bits, NoiseSource};

use super::{Fraction, add_clamped, bernoulli};

/// Largest part of a scale: products of it and of sampled multiples stay far below 2¹²⁷.
const LARGEST_PART: u64 = 1 << 40;

/// Adds independent integers x with probability proportional to e^(−|x|/b) to every coordinate.
///
/// # Guarantee
/// A release is ε-DP with ε = Δ₁/b, exactly, for the integers that are released.
///
/// # Assumes
/// Neighbouring inputs give integers at most Δ₁ apart in L1 norm. Noise is secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteLaplace {
    scale: Fraction,
    sensitivity: f64,
}

impl DiscreteLaplace {
    /// Noise of scale b on integers of L1 sensitivity `sensitivity`.
    ///
    /// # Errors
    /// If the sensitivity is not positive and finite, or a part of the scale exceeds 2⁴⁰.
    pub fn new(scale: Fraction, sensitivity: f64) -> Result<Self, MechanismError> {
        positive("Sensitivity", sensitivity)?;
        if scale.numerator.max(scale.denominator) > LARGEST_PART {
            return Err(scale.too_large("Scale"));
        }
        Ok(Self { scale, sensitivity })
    }

    /// b.
    pub fn scale(&self) -> Fraction {
        self.scale
    }

    /// ε = Δ₁/b, rounded up.
    pub fn epsilon(&self) -> f64 {
        // Both parts are exact doubles; two roundings.
        self.sensitivity * self.scale.denominator as f64 / self.scale.numerator as f64
            * (1.0 + 2.0 * f64::EPSILON)
    }

    /// The event of one release.
    pub fn event(&self) -> DpEvent {
        DpEvent::PureDp { epsilon: self.epsilon() }
    }

    /// The variance of one coordinate: 2e^(1/b)/(e^(1/b) − 1)².
    pub fn variance(&self) -> f64 {
        // In the form 1/(2 sinh²(1/2b)), which does not overflow for small b.
        let sinh = libm::sinh(0.5 / self.scale.to_f64());
        0.5 / (sinh * sinh)
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
        let (numerator, denominator) = (self.scale.numerator, self.scale.denominator);
        let value = values
            .iter()
            .map(|&value| add_clamped(value, sample(&mut bits, numerator, denominator)))
            .collect();
        Release { value, event: self.event(), noise_is_private }
    }
}

/// An integer x with probability proportional to exp(−|x|·denominator/numerator).
pub(super) fn sample(bits: &mut Bits, numerator: u64, denominator: u64) -> i128 {
    let scale = u128::from(numerator);
    loop {
        // U + scale·V is geometric with parameter 1/scale: U its remainder, V its quotient.
        let remainder = bits.below(scale);
        if !bernoulli::exp_minus(bits, remainder, scale) {
            continue;
        }
        let mut quotient = 0_u128;
        while bernoulli::exp_minus(bits, 1, 1) {
            quotient += 1;
        }
        // Cannot overflow: the quotient passes 2⁶³ with probability e^(−2⁶³), the scale is below 2⁶⁴.
        let magnitude = ((remainder + scale * quotient) / u128::from(denominator)) as i128;
        match (bits.next_u64() & 1 == 1, magnitude) {
            // Zero has one sign only, or it would come twice as often as it should.
            (true, 0) => {}
            (true, _) => return -magnitude,
            (false, _) => return magnitude,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::testing::{NOT_POSITIVE, assert_counts_follow};
    use crate::noise::danger_from_seed;

    /// tanh(1/2b)·e^(−|x|/b), and the two tails together in the outermost cells.
    fn expected(scale: f64, reach: i64) -> Vec<f64> {
        let q = libm::exp(-1.0 / scale);
        (-reach..=reach)
            .map(|x| {
                let p = (1.0 - q) / (1.0 + q) * q.powi(x.unsigned_abs() as i32);
                if x.abs() == reach { p / (1.0 - q) } else { p }
            })
            .collect()
    }

    #[test]
    fn samples_follow_the_discrete_laplace_distribution() {
        for (numerator, denominator, reach, seed) in
            [(1, 1, 5, 101), (5, 2, 12, 102), (1, 3, 1, 103), (20, 1, 60, 104)]
        {
            let mechanism =
                DiscreteLaplace::new(Fraction::new(numerator, denominator).unwrap(), 1.0).unwrap();
            let release = mechanism.release(&vec![0; 40_000], &mut danger_from_seed(seed, "discrete"));
            let mut counts = vec![0; 2 * reach as usize + 1];
            release.value.iter().for_each(|&x| counts[(x.clamp(-reach, reach) + reach) as usize] += 1);
            assert_counts_follow(&counts, &expected(numerator as f64 / denominator as f64, reach));
        }
    }

    #[test]
    fn epsilon_is_sensitivity_over_scale_rounded_up_and_so_are_the_odds() {
        let mechanism = DiscreteLaplace::new(Fraction::new(5, 2).unwrap(), 2.0).unwrap();
        let DpEvent::PureDp { epsilon } = mechanism.event() else { panic!("{:?}", mechanism.event()) };
        assert!((0.8..0.8 + 1e-14).contains(&epsilon), "{epsilon}");
        let mass = |x: i64| libm::exp(-(x.abs() as f64) / 2.5);
        for x in -50..50 {
            assert!(mass(x) / mass(x - 2) <= libm::exp(epsilon) * (1.0 + 1e-13));
        }
    }

    #[test]
    fn the_stated_variance_is_the_sum_over_the_masses() {
        for scale in [0.3, 1.0, 2.5, 20.0] {
            let mass = expected(scale, 2_000);
            let sum: f64 = mass.iter().zip(-2000..=2000).map(|(p, x)| p * f64::from(x).powi(2)).sum();
            let fraction = Fraction::new((scale * 10.0) as u64, 10).unwrap();
            let stated = DiscreteLaplace::new(fraction, 1.0).unwrap().variance();
            assert!((sum / stated - 1.0).abs() < 1e-9, "{scale}: {sum} {stated}");
        }
    }

    #[test]
    fn bad_parameters_are_refused_and_large_values_stay_in_range() {
        let scale = Fraction::new(3, 1).unwrap();
        for bad in NOT_POSITIVE {
            assert!(DiscreteLaplace::new(scale, bad).is_err());
        }
        let huge = Fraction::new(u64::MAX, 1).unwrap();
        let error = DiscreteLaplace::new(huge, 1.0).unwrap_err();
        assert!(matches!(error, MechanismError::RationalTooLarge { .. }));
        let wide = DiscreteLaplace::new(Fraction::new(LARGEST_PART, 1).unwrap(), 1.0).unwrap();
        let _ = wide.release(&[i64::MAX, i64::MIN, 0], &mut danger_from_seed(105, "discrete"));
    }
}
