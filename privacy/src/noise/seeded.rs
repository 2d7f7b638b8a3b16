//! Reproducible noise for tests and simulation, marked as what it is.

use super::key::Key;
use super::sealed::Keys;
use super::{NoiseSource, RootSeed, chacha};

/// Noise that anyone who knows `seed` can compute, for tests and simulation.
///
/// `stream` names the stream, as in [`RootSeed`]: nodes of one simulation use different names, such as `"noise/7"`.
///
/// # Guarantee
/// None: [`NoiseSource::is_private`] is `false` and the report of the run says so. The numbers are the same on every
/// machine.
pub fn danger_from_seed(seed: u64, stream: &str) -> SeededNoise {
    SeededNoise { root: RootSeed(seed).key(stream), calls: 0 }
}

/// Reproducible noise; made by [`danger_from_seed`]. Its releases protect nobody.
#[derive(Clone, Debug)]
pub struct SeededNoise {
    root: [u8; 32],
    /// Bulk calls so far.
    calls: u64,
}

impl NoiseSource for SeededNoise {
    fn is_private(&self) -> bool {
        false
    }
}

impl Keys for SeededNoise {
    fn next_key(&mut self, _samples: usize) -> Key {
        // The keys of successive calls are the halves of successive blocks.
        let key = chacha::keys(&self.root, self.calls / 2)[(self.calls % 2) as usize];
        self.calls += 1;
        Key::EightRounds(key)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn the_keys_of_calls_are_the_bytes_of_one_stream() {
        let mut stream = ChaCha20Rng::from_seed(RootSeed(7).key("noise"));
        let mut noise = danger_from_seed(7, "noise");
        for _ in 0..21 {
            let mut key = [0; 32];
            stream.fill_bytes(&mut key);
            assert_eq!(noise.next_key(1), Key::EightRounds(key));
        }
    }

    #[test]
    fn different_seeds_and_names_give_different_noise() {
        let first = |seed, name| {
            let mut word = [0];
            danger_from_seed(seed, name).words(&mut word);
            word[0]
        };
        assert_eq!(first(1, "noise"), first(1, "noise"));
        assert_ne!(first(1, "noise"), first(2, "noise"));
        assert_ne!(first(1, "noise"), first(1, "noise/1"));
    }
}
