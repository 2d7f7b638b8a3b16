//! The randomness of graphs: a named ChaCha stream and the few laws that the generators draw from.
//!
//! Invariant: the same `(name, seed, attempt)` gives the same draws on every machine and with every version of
//! the random-number crates, because only the ChaCha8 block function (RFC 8439 layout, 8 rounds) is taken from
//! them; integers below a bound (Lemire, 2019) and the geometric law are made here, with `libm`.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A seeded stream of draws.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// The stream called `name` (at most 24 bytes count) of `seed`; `attempt` numbers independent repetitions.
    pub(crate) fn new(name: &str, seed: u64, attempt: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (slot, byte) in key[8..].iter_mut().zip(name.bytes()) {
            *slot = byte;
        }
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(attempt);
        Self { rng }
    }

    /// A whole number below `bound`, each equally likely. `bound` must not be zero.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0, "there is no number below zero");
        let mut product = u64::from(self.rng.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.rng.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with the given probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Puts `items` in a uniformly random order (Fisher–Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// How many of a row of independent trials fail before the next success: P(k) = p (1−p)^k, for 0 < p < 1.
    /// `ln_failure` is ln(1−p). Saturates at `u64::MAX`.
    pub(crate) fn failures_before_success(&mut self, ln_failure: f64) -> u64 {
        // 1 − unit() lies in (0, 1], so that the logarithm is finite.
        (libm::log(1.0 - self.unit()) / ln_failure) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_seeds_and_attempts_give_different_streams() {
        let first = |name, seed, attempt| Stream::new(name, seed, attempt).rng.next_u64();
        let draws = [first("a", 0, 0), first("b", 0, 0), first("a", 1, 0), first("a", 0, 1)];
        for (i, x) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|y| x != y), "{draws:?}");
        }
        assert_eq!(draws[0], first("a", 0, 0));
    }

    /// Ten cells, 100 000 draws: Pearson's statistic has 9 degrees of freedom, and 33.7 is passed with
    /// probability 1e-4. The seed is fixed.
    #[test]
    fn numbers_below_ten_are_uniform() {
        let mut stream = Stream::new("test", 1, 0);
        let mut counts = [0f64; 10];
        (0..100_000).for_each(|_| counts[stream.below(10) as usize] += 1.0);
        let statistic: f64 = counts.iter().map(|c| (c - 1e4) * (c - 1e4) / 1e4).sum();
        assert!(statistic < 33.7, "{counts:?}");
    }

    /// Mean (1−p)/p = 9 and standard deviation sqrt(1−p)/p = 9.49: the mean of 100 000 draws has standard error
    /// 0.03, and five of them are passed with probability 6e-7.
    #[test]
    fn the_geometric_law_has_its_mean() {
        let mut stream = Stream::new("test", 2, 0);
        let ln_failure = libm::log1p(-0.1);
        let sum: u64 = (0..100_000).map(|_| stream.failures_before_success(ln_failure)).sum();
        assert!((sum as f64 / 1e5 - 9.0).abs() < 0.15, "{sum}");
    }
}
