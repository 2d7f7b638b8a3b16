//! Seeded draws that are the same on every machine.
//!
//! Invariant: everything is derived from ChaCha8 words by integer arithmetic, IEEE basic operations and `libm`;
//! neither the standard library's `ln` nor a sampler of another crate, whose streams may change, takes part.
//! This is for generating, splitting and shuffling data. It is never the noise of a mechanism.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A named stream of draws.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    words: ChaCha8Rng,
    /// The second normal of the last pair.
    spare_normal: Option<f64>,
}

impl Draws {
    /// The stream `name` of `seed`: different names give independent streams.
    ///
    /// # Panics
    /// A name longer than 24 bytes; names are constants of this crate.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        assert!(name.len() <= 24, "the name of a stream fits the key");
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..8 + name.len()].copy_from_slice(name.as_bytes());
        Self { words: ChaCha8Rng::from_seed(key), spare_normal: None }
    }

    /// The same name and seed, another independent stream for each `index` (a node, say).
    pub(crate) fn indexed(seed: u64, name: &str, index: u64) -> Self {
        let mut draws = Self::new(seed, name);
        draws.words.set_stream(index);
        draws
    }

    /// Uniform on [0, 1) with 53 bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.words.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0..bound`, without bias (Lemire 2019).
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "nothing to choose from");
        let bound = bound as u64;
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.words.next_u64()) * u128::from(bound);
            if wide as u64 >= threshold {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Standard normal (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                let factor = libm::sqrt(-2.0 * libm::log(square) / square);
                self.spare_normal = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// The logarithm of a Gamma(shape, 1) variable (Marsaglia and Tsang 2000).
    ///
    /// In logarithms, because for shape 0.01 most draws are below the smallest positive number.
    pub(crate) fn log_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Gamma(a) = Gamma(a + 1) · U^(1/a); 1 − U avoids the logarithm of zero.
            let boost = libm::log(1.0 - self.uniform()) / shape;
            return self.log_gamma(shape + 1.0) + boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let log_v = 3.0 * libm::log(v);
            if libm::log(1.0 - self.uniform()) < 0.5 * x * x + d * (1.0 - v * v * v + log_v) {
                return libm::log(d) + log_v;
            }
        }
    }

    /// Proportions from the symmetric Dirichlet distribution; they sum to one.
    pub(crate) fn dirichlet(&mut self, alpha: f64, parts: usize) -> Vec<f64> {
        let logs: Vec<f64> = (0..parts).map(|_| self.log_gamma(alpha)).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// A uniformly random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Beta, Distribution, Gamma, StandardNormal};

    use super::*;

    /// 40,000 draws: each check allows 5 standard errors, a false alarm in less than one of a million seeds.
    const DRAWS: usize = 40_000;

    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / DRAWS as f64)
    }

    #[test]
    fn normals_have_mean_zero_and_variance_one() {
        let mut draws = Draws::new(1, "test");
        let (mean, variance) = moments(|| draws.normal());
        assert!(mean.abs() < 5.0 / 200.0, "{mean}");
        assert!((variance - 1.0).abs() < 5.0 * (2.0f64).sqrt() / 200.0, "{variance}");
    }

    #[test]
    fn gamma_variables_have_mean_and_variance_equal_to_their_shape() {
        for shape in [0.3, 1.0, 4.5] {
            let mut draws = Draws::new(2, "test");
            let (mean, variance) = moments(|| draws.log_gamma(shape).exp());
            assert!((mean - shape).abs() < 5.0 * shape.sqrt() / 200.0, "shape {shape}: mean {mean}");
            // The fourth central moment of Gamma(a) is 3a² + 6a, so the variance's own variance is (2a² + 6a)/n.
            let error = 5.0 * (2.0 * shape * shape + 6.0 * shape).sqrt() / 200.0;
            assert!((variance - shape).abs() < error, "shape {shape}: variance {variance}");
        }
    }

    /// Largest distance between the empirical laws of two samples of [`DRAWS`] (Kolmogorov and Smirnov).
    fn distance(mut ours: Vec<f64>, mut theirs: Vec<f64>) -> f64 {
        ours.sort_by(f64::total_cmp);
        theirs.sort_by(f64::total_cmp);
        let below = |value: f64| theirs.partition_point(|other| *other <= value) as f64;
        let gaps = ours.iter().enumerate().map(|(at, value)| (at as f64 + 1.0 - below(*value)).abs());
        gaps.fold(0.0, f64::max) / DRAWS as f64
    }

    #[test]
    fn draws_have_the_laws_of_an_independent_library() {
        // P(distance > 0.0184) is about 2 exp(−n · 0.0184²) = 3e-6 for equal laws; seeds are fixed.
        let mut reference = ChaCha8Rng::seed_from_u64(5);
        let mut draws = Draws::new(4, "test");
        let ours = (0..DRAWS).map(|_| draws.normal()).collect();
        let theirs = (0..DRAWS).map(|_| StandardNormal.sample(&mut reference)).collect();
        assert!(distance(ours, theirs) < 0.0184, "normal");
        for shape in [0.3, 1.0, 4.5] {
            let law = Gamma::new(shape, 1.0).unwrap();
            let ours = (0..DRAWS).map(|_| draws.log_gamma(shape).exp()).collect();
            let theirs = (0..DRAWS).map(|_| law.sample(&mut reference)).collect();
            assert!(distance(ours, theirs) < 0.0184, "Gamma({shape})");
        }
        // One share of a symmetric Dirichlet law is Beta(α, (k − 1)α).
        let law = Beta::new(0.5, 1.0).unwrap();
        let ours = (0..DRAWS).map(|_| draws.dirichlet(0.5, 3)[0]).collect();
        let theirs = (0..DRAWS).map(|_| law.sample(&mut reference)).collect();
        assert!(distance(ours, theirs) < 0.0184, "Dirichlet");
    }

    #[test]
    fn tiny_alpha_gives_finite_proportions_that_sum_to_one() {
        let mut draws = Draws::new(3, "test");
        for alpha in [1e-6, 0.01, 1.0, 1e6] {
            let shares = draws.dirichlet(alpha, 7);
            assert!(shares.iter().all(|s| s.is_finite() && *s >= 0.0), "{shares:?}");
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn streams_differ_by_seed_name_and_index() {
        let first = |mut draws: Draws| draws.words.next_u64();
        let values = [
            first(Draws::new(1, "a")),
            first(Draws::new(2, "a")),
            first(Draws::new(1, "b")),
            first(Draws::indexed(1, "a", 1)),
        ];
        for i in 0..4 {
            for j in 0..i {
                assert_ne!(values[i], values[j]);
            }
        }
        assert_eq!(values[0], first(Draws::indexed(1, "a", 0)));
    }
}
