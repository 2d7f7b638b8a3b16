//! Integer noise by exact sampling: no floating point between the random bits and the result.
//!
//! Samplers of Canonne, Kamath and Steinke ("The discrete Gaussian for differential privacy", 2020, algorithms 1–3), in
//! 128-bit integers with checked limits. Use them for counts, or for any value rounded to a grid (multiply, round, add
//! noise, divide): their guarantees hold for the bytes that leave the process, without the [gaps of floating-point
//! noise](crate::noise#known-gaps-of-floating-point-noise).
//!
//! Parameters are fractions of whole numbers, so that they too are exact.
//!
//! ```
//! use privacy::mechanisms::discrete::{DiscreteGaussian, Fraction};
//! use privacy::noise::SystemNoise;
//!
//! let mut noise = SystemNoise::new()?;
//! // Standard deviation 2.5: variance 25/4. One person changes one count by one.
//! let mechanism = DiscreteGaussian::new(Fraction::new(25, 4)?, 1.0)?;
//! let counts = mechanism.release(&[120, 75, 3], &mut noise);
//! println!("{:?} for {:?}", counts.value, counts.event);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bernoulli;
mod gaussian;
mod laplace;

pub use gaussian::DiscreteGaussian;
pub use laplace::DiscreteLaplace;

use super::MechanismError;

/// A positive fraction of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// `numerator / denominator`, in lowest terms.
    ///
    /// # Errors
    /// If one of them is zero.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, MechanismError> {
        for (name, value) in [("Numerator", numerator), ("Denominator", denominator)] {
            if value == 0 {
                return Err(MechanismError::NotPositive { name, value: 0.0 });
            }
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The numerator, in lowest terms.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// The denominator, in lowest terms.
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest double, for formulas of error; never used for sampling.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    fn too_large(self, name: &'static str) -> MechanismError {
        MechanismError::RationalTooLarge { name, numerator: self.numerator, denominator: self.denominator }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Value plus noise, held at the ends of the range: clamping is post-processing and reveals nothing more.
fn add_clamped(value: i64, noise: i128) -> i64 {
    let sum = i128::from(value).saturating_add(noise);
    sum.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms_and_never_zero() {
        let fraction = Fraction::new(50, 20).unwrap();
        assert_eq!((fraction.numerator(), fraction.denominator()), (5, 2));
        assert!(Fraction::new(0, 1).is_err());
        assert!(Fraction::new(1, 0).is_err());
    }

    #[test]
    fn sums_stay_in_range() {
        assert_eq!(add_clamped(i64::MAX, 1), i64::MAX);
        assert_eq!(add_clamped(i64::MIN, -1), i64::MIN);
        assert_eq!(add_clamped(0, i128::MAX), i64::MAX);
        assert_eq!(add_clamped(5, -7), -2);
    }
}
