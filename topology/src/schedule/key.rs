//! Public randomness of a run: ChaCha streams keyed by SHA-256 of run id, purpose, round and step.
//!
//! Invariant: a stream depends on nothing else, and draws are written out here rather than taken from a
//! library whose algorithms may change, so all machines and versions draw the same.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Separates these hashes from any other use of SHA-256 on a run id.
const DOMAIN: &[u8] = b"murmur schedule v1";

/// Hash of a run id, from which all public randomness of the run follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunKey([u8; 32]);

impl RunKey {
    /// The key of a run.
    pub fn new(run_id: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(run_id.as_bytes());
        Self(hash.finalize().into())
    }

    /// A stream of its own for each purpose, round and step.
    pub fn stream(&self, purpose: &str, round: u64, step: u64) -> ChaCha20Rng {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(round.to_le_bytes());
        hash.update(step.to_le_bytes());
        hash.update(purpose.as_bytes());
        ChaCha20Rng::from_seed(hash.finalize().into())
    }

    /// A seed of its own for each purpose and round.
    pub fn seed(&self, purpose: &str, round: u64) -> u64 {
        self.stream(purpose, round, 0).next_u64()
    }
}

/// A uniform draw from `0..bound`, by rejection, so without bias.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    let rejected = (u64::MAX % bound + 1) % bound;
    loop {
        let draw = rng.next_u64();
        if draw <= u64::MAX - rejected {
            return draw % bound;
        }
    }
}

/// Fisher–Yates.
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_key_changes_the_stream() {
        let draw =
            |run: &str, purpose: &str, round, step| RunKey::new(run).stream(purpose, round, step).next_u64();
        let first = draw("a", "p", 0, 0);
        assert_eq!(first, draw("a", "p", 0, 0));
        for other in [draw("b", "p", 0, 0), draw("a", "q", 0, 0), draw("a", "p", 1, 0), draw("a", "p", 0, 1)]
        {
            assert_ne!(first, other);
        }
    }

    /// A bug here would split a swarm whose nodes run different versions. The value was computed with Python's
    /// hashlib and an independent ChaCha20 (key = the hash, nonce 0, counter 0, first eight bytes).
    #[test]
    fn the_stream_is_pinned() {
        assert_eq!(RunKey::new("run").seed("test", 7), PINNED);
    }

    const PINNED: u64 = 0xbb7d_756b_ca1a_ac77;

    /// Pearson's χ² with 5 degrees of freedom; the bound 30 has a false-alarm rate of 1.5e-5, and the seed is
    /// fixed.
    #[test]
    fn the_six_orders_of_three_items_are_equally_frequent() {
        let mut rng = RunKey::new("orders").stream("test", 0, 0);
        let mut counts = std::collections::BTreeMap::<[u8; 3], f64>::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut rng);
            *counts.entry(items).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 6);
        let chi2: f64 = counts.values().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 30.0, "χ² = {chi2}");
    }
}
