//! Random words one at a time, for samplers that decide word by word.
//!
//! Lives only during one release, so that no word is ever kept across a fork or a change of key.

use super::NoiseSource;

/// Words drawn first: enough for one answer of a randomized response.
const FIRST: usize = 8;
/// Words drawn at a time after that.
const MORE: usize = 64;

/// A short buffer of uniform words over a source.
pub(crate) struct Bits<'a> {
    source: &'a mut dyn NoiseSource,
    words: [u64; MORE],
    used: usize,
    filled: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(source: &'a mut dyn NoiseSource) -> Self {
        Self { source, words: [0; MORE], used: 0, filled: 0 }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        if self.used == self.filled {
            self.filled = if self.filled == 0 { FIRST } else { MORE };
            self.source.words(&mut self.words[..self.filled]);
            self.used = 0;
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }

    fn next_u128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }

    /// Exactly uniform on `0..bound`, by rejection of the bits that fit no whole multiple.
    pub(crate) fn below(&mut self, bound: u128) -> u128 {
        assert!(bound > 0, "a range must not be empty");
        let mask = u128::MAX >> (bound - 1).leading_zeros().min(127);
        loop {
            let draw =
                if mask <= u128::from(u64::MAX) { u128::from(self.next_u64()) } else { self.next_u128() };
            if draw & mask < bound {
                return draw & mask;
            }
        }
    }

    /// Uniform on the open unit interval with full relative precision near 0: −ln of it reaches beyond 700, where
    /// a uniform of 53 bits stops at 37.
    pub(crate) fn unit(&mut self) -> f64 {
        // A geometric number of halvings, then a uniform position within the binade.
        let mut binade = 0.5;
        loop {
            let word = self.next_u64();
            binade *= f64::exp2(-f64::from(word.leading_zeros()));
            if word != 0 {
                return binade * (1.0 + open_unit(self.next_u64()));
            }
        }
    }
}

/// The top 52 bits as an odd multiple of 2⁻⁵³, exactly.
#[inline(always)]
pub(super) fn open_unit(word: u64) -> f64 {
    f64::from_bits(0x3ff0_0000_0000_0000 | word >> 12) - (1.0 - f64::EPSILON / 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::danger_from_seed;
    use super::*;
    use crate::mechanisms::testing::assert_counts_follow;

    #[test]
    fn the_open_unit_interval_excludes_its_ends_and_is_symmetric() {
        assert_eq!(open_unit(0), f64::EPSILON / 2.0);
        assert_eq!(1.0 - open_unit(u64::MAX), open_unit(0));
        assert_eq!(open_unit(1 << 63), 0.5 + open_unit(0));
    }

    #[test]
    fn the_unit_has_the_right_weight_near_zero_and_in_the_middle() {
        // Binomial counts below 2^-k, 4.9 standard deviations: false alarm 1e-6 each.
        let mut noise = danger_from_seed(13, "unit");
        let mut bits = Bits::new(&mut noise);
        let draws: Vec<f64> = (0..400_000).map(|_| bits.unit()).collect();
        for p in [0.9, 0.5, 0.3, 0.125, 0.01, 1.0 / 1024.0] {
            let count = draws.iter().filter(|&&u| u < p).count() as f64;
            assert!((count - 4e5 * p).abs() < 4.9 * (4e5 * p * (1.0 - p)).sqrt(), "{p}: {count}");
        }
        assert!(draws.iter().all(|&u| u > 0.0 && u < 1.0));
    }

    #[test]
    fn below_a_bound_every_value_is_equally_likely() {
        let mut noise = danger_from_seed(11, "below");
        let mut bits = Bits::new(&mut noise);
        let mut counts = [0; 10];
        (0..100_000).for_each(|_| counts[bits.below(10) as usize] += 1);
        assert_counts_follow(&counts, &[0.1; 10]);
    }

    #[test]
    fn below_handles_one_powers_of_two_and_the_largest_bounds() {
        let mut noise = danger_from_seed(12, "below");
        let mut bits = Bits::new(&mut noise);
        assert_eq!(bits.below(1), 0);
        for bound in [2, 3, 1 << 63, 1 << 64, (1 << 64) + 1, u128::MAX] {
            let mut top = 0;
            for _ in 0..200 {
                let draw = bits.below(bound);
                assert!(draw < bound);
                top = top.max(draw);
            }
            // All 200 in the lower half: probability 2^-200 (for 2 and 3: a bit more, still below 1e-30).
            assert!(top >= bound / 2, "{bound}: {top}");
        }
    }
}
