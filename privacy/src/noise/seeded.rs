//! Reproducible noise for tests and simulation, marked as what it is.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::key::Key;
use super::sealed::Keys;
use super::{NoiseSource, RootSeed};

/// Noise that anyone who knows `seed` can compute, for tests and simulation.
///
/// `stream` names the stream, as in [`RootSeed`]: nodes of one simulation use different names, such as `"noise/7"`.
///
/// # Guarantee
/// None: [`NoiseSource::is_private`] is `false` and the report of the run says so. The numbers are the same on every
/// machine.
pub fn danger_from_seed(seed: u64, stream: &str) -> SeededNoise {
    SeededNoise { keys: ChaCha20Rng::from_seed(RootSeed(seed).key(stream)) }
}

/// Reproducible noise; made by [`danger_from_seed`]. Its releases protect nobody.
#[derive(Clone, Debug)]
pub struct SeededNoise {
    keys: ChaCha20Rng,
}

impl NoiseSource for SeededNoise {
    fn is_private(&self) -> bool {
        false
    }
}

impl Keys for SeededNoise {
    fn next_key(&mut self, _samples: usize) -> Key {
        let mut key = [0; 32];
        self.keys.fill_bytes(&mut key);
        Key::EightRounds(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
