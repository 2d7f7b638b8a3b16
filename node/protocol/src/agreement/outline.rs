//! What a sum of real numbers is, without its numbers: what its digest is made of, so that a signature under the digest is one under this.
//!
//! # Guarantee
//! [`Bounds::refuse`] refuses nothing that an honest member signs: it checks sums before it passes them on, and what these allow it stays within.
//! # Assumes
//! Members differ by less than a factor of two in what they take for the largest contribution; the configuration says it, and they compare it to ten digits when they meet.

use super::Fingerprint;
use super::codec::wire;
use crate::settings::Settings;

/// A sum, or a contribution in the open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outline {
    /// How many contributions it says that it has.
    pub count: u32,
    /// How many numbers.
    pub length: u32,
    /// Bits of the sum of their squares.
    pub square: u64,
    /// Digest of the numbers.
    pub numbers: Fingerprint,
}

wire!(Outline { count: u32, length: u32, square: u64, numbers: Fingerprint });

impl Outline {
    /// Of these numbers, whose squares add up to this.
    pub fn of(count: u32, numbers: &[f32], square: f64) -> Self {
        let bytes: Vec<u8> = numbers.iter().flat_map(|value| value.to_le_bytes()).collect();
        let length = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        // What is not a number has many forms, and they must have one digest.
        let square = if square.is_nan() { f64::NAN } else { square };
        let numbers = Fingerprint::of("murmur sum numbers 2", &bytes);
        Self { count, length, square: square.to_bits(), numbers }
    }

    /// The digest by which the sum is known.
    pub fn digest(&self) -> Fingerprint {
        Fingerprint::of_wire("murmur sum 2", self)
    }
}

/// How large honest sums can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Numbers in a sum.
    parameters: u32,
    /// A power of two well above the norm of any honest contribution, the same at all members though they may know the norm to ten digits only; none where nothing is.
    exponent: Option<i32>,
}

impl Bounds {
    /// For models of so many parameters and contributions up to this norm.
    pub fn new(parameters: usize, largest_norm: f64) -> Self {
        let exponent = libm::ceil(libm::log2(2.0 * largest_norm));
        let exponent = exponent.is_finite().then_some(exponent as i32);
        Self { parameters: u32::try_from(parameters).unwrap_or(u32::MAX), exponent }
    }

    /// As the settings of a run say.
    pub fn of(settings: &Settings) -> Self {
        Self::new(settings.initial.len(), settings.largest_norm)
    }

    /// Whether no honest one of so many members says this.
    pub(super) fn refuse(&self, outline: &Outline, members: usize) -> bool {
        let square = f64::from_bits(outline.square);
        let largest = match self.exponent {
            _ if outline.count == 0 => 0.0,
            Some(exponent) => f64::from(outline.count) * libm::exp2(f64::from(exponent)),
            None => f64::INFINITY,
        };
        let fits = square.is_finite() && square <= largest * largest;
        !fits || outline.length != self.parameters || outline.count as usize > members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_honest_member_can_say_is_not_refused_and_what_none_can_is() {
        // Contributions of norm 3 and sums of four of them: up to 12, and a little more for rounding.
        let bounds = Bounds::new(2, 3.0);
        let refuses = |count, numbers: &[f32]| {
            let square = numbers.iter().map(|&it| f64::from(it) * f64::from(it)).sum();
            bounds.refuse(&Outline::of(count, numbers, square), 4)
        };
        for (count, numbers) in [(0, [0.0, 0.0]), (1, [3.0, 0.0]), (4, [12.1, 0.0]), (4, [-0.0, 12.0])] {
            assert!(!refuses(count, &numbers), "{count} {numbers:?}");
        }
        // The power of two above twice the norm is 8.
        assert!(!refuses(1, &[8.0, 0.0]) && refuses(1, &[8.1, 0.0]) && refuses(4, &[32.1, 0.0]));
        for (count, numbers) in
            [(0, vec![1e-20, 0.0]), (1, vec![f32::NAN, 0.0]), (1, vec![f32::INFINITY, 0.0])]
        {
            assert!(refuses(count, &numbers), "{count} {numbers:?}");
        }
        assert!(refuses(5, &[1.0, 0.0]) && refuses(1, &[1.0]) && refuses(1, &[1.0; 3]));
        assert!(!Bounds::new(2, f64::INFINITY).refuse(&Outline::of(1, &[1e30, 0.0], 1e60), 4));
        // Ten digits are enough to find the same.
        assert_eq!(Bounds::new(2, 3.0), Bounds::new(2, 3.000_000_000_1));
    }
}
