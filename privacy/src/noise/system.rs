//! Noise that nobody can predict: ChaCha keyed by the operating system's generator. Keys are drawn with twenty rounds, the noise of a
//! call with twelve.
//!
//! Policy, from the strongest need down:
//! - *Key erasure.* Each bulk call draws its own key and the source's next key from the present one, and forgets it. Who
//!   reads the memory of a node today cannot recompute the noise of yesterday's releases.
//! - *Fork.* If the process id changed since the last call (a program that embeds this crate forked), the source is
//!   keyed anew, so parent and child never add the same noise to two values. A virtual machine that is snapshotted
//!   and resumed twice cannot be noticed: do not do that between two releases.
//! - *Reseed.* After every 2²¹ samples (16 MiB of key stream) fresh bytes of the operating system are mixed in. ChaCha
//!   does not need it; it bounds the time for which a captured state is useful.

use rand::rngs::SysRng;
use rand_chacha::rand_core::TryRng;
use sha2::{Digest, Sha256};
use topology::Hint;

use super::key::Key;
use super::sealed::Keys;
use super::{NoiseSource, chacha};

const RESEED_AFTER_SAMPLES: usize = 1 << 21;

/// The noise of real runs.
///
/// # Guarantee
/// Words are computationally indistinguishable from uniform, and so normals from those of exact uniform words, to
/// everybody who cannot read this process's memory during the call.
///
/// # Assumes
/// The operating system's generator is seeded and sound; ChaCha with twelve rounds is a pseudo-random function. (A guarantee
/// against unbounded observers would need as many true random bits as noise.)
#[derive(Debug)]
pub struct SystemNoise {
    key: [u8; 32],
    process: u32,
    samples_since_reseed: usize,
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("The operating system's random generator failed")]
pub struct NoiseError {
    source: rand::rngs::SysError,
}

impl Hint for NoiseError {
    fn hint(&self) -> Option<String> {
        Some("Private noise needs the operating system's generator (getrandom, /dev/urandom): check the sandbox or container".to_owned())
    }
}

impl SystemNoise {
    /// A source keyed by the operating system.
    ///
    /// # Errors
    /// If the operating system's generator fails: then there is no private noise to be had.
    pub fn new() -> Result<Self, NoiseError> {
        let mut key = [0; 32];
        SysRng.try_fill_bytes(&mut key).map_err(|source| NoiseError { source })?;
        Ok(Self { key, process: std::process::id(), samples_since_reseed: 0 })
    }

    /// Mixes in fresh bytes, and the process id for the case that there are none: a forked child then still differs
    /// from its parent, and without a fork the old key is still secret.
    fn reseed(&mut self) {
        let mut fresh = [0; 32];
        let had_fresh = SysRng.try_fill_bytes(&mut fresh).is_ok();
        self.process = std::process::id();
        self.samples_since_reseed = 0;
        self.key = Sha256::new()
            .chain_update(b"murmuration reseed v1\0")
            .chain_update(self.key)
            .chain_update([u8::from(had_fresh)])
            .chain_update(fresh)
            .chain_update(self.process.to_le_bytes())
            .finalize()
            .into();
    }
}

impl NoiseSource for SystemNoise {
    fn is_private(&self) -> bool {
        true
    }
}

impl Keys for SystemNoise {
    fn next_key(&mut self, samples: usize) -> Key {
        if self.process != std::process::id() || self.samples_since_reseed > RESEED_AFTER_SAMPLES {
            self.reseed();
        }
        self.samples_since_reseed = self.samples_since_reseed.saturating_add(samples);
        let call_key;
        [self.key, call_key] = chacha::keys(&self.key, 0);
        Key::TwelveRounds(call_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_system_sources_differ() {
        let mut draw = [[0_u64; 4]; 2];
        for words in &mut draw {
            SystemNoise::new().unwrap().words(words);
        }
        assert_ne!(draw[0], draw[1]);
    }

    #[test]
    fn a_copy_of_the_state_in_another_process_gives_other_noise() {
        let mut parent = SystemNoise::new().unwrap();
        // What a forked child holds: the same key, but its process id is not the one stored.
        let mut child = SystemNoise { key: parent.key, process: parent.process ^ 1, samples_since_reseed: 0 };
        assert_ne!(parent.next_key(1), child.next_key(1));
    }

    #[test]
    fn the_key_is_erased_by_every_call_and_reseeded_after_the_stated_amount() {
        let mut noise = SystemNoise::new().unwrap();
        let mut twin = SystemNoise { key: noise.key, ..noise };
        let before = noise.key;
        assert_eq!(noise.next_key(RESEED_AFTER_SAMPLES + 1), twin.next_key(1), "same state, same key");
        assert_ne!(noise.key, before);
        assert_ne!(noise.next_key(1), twin.next_key(1), "the first was reseeded, the second was not");
    }
}
