//! The seeded noise of a simulation: one stream per contribution, so that it does not depend on the order of work.

use privacy::noise::{NoiseSource, SeededNoise, danger_from_seed};
use protocol::masks::{MaskSecret, Masks};
use protocol::{PeerIx, Setup};

/// The noise of the `count`-th contribution that `node` computes in a run with this root seed.
///
/// # Guarantee
/// None: anyone who knows the seed can subtract it. The numbers are the same on every machine, and no two contributions share them.
pub fn contribution_noise(seed: u64, node: PeerIx, count: u32) -> SeededNoise {
    danger_from_seed(mix(seed, node, count), "noise")
}

/// The noise on the messages of `node` in its `life`-th life (a crash begins another one).
///
/// # Guarantee
/// None, as [`contribution_noise`].
pub fn message_noise(seed: u64, node: PeerIx, life: u32) -> SeededNoise {
    danger_from_seed(mix(seed, node, life), "noise/messages")
}

/// The masks of `node` in its `life`-th life.
///
/// # Guarantee
/// None, as [`contribution_noise`]: they are real, and anyone who knows the seed can take them off.
pub fn seeded_masks(seed: u64, node: PeerIx, life: u32) -> Masks {
    Masks::Real(mask_secret(seed, node, life))
}

/// The secret of [`seeded_masks`].
///
/// # Guarantee
/// None, as there.
pub fn mask_secret(seed: u64, node: PeerIx, life: u32) -> MaskSecret {
    let mut words = [0; 4];
    danger_from_seed(mix(seed, node, life), "masks").words(&mut words);
    let mut secret = [0; 32];
    secret.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    MaskSecret::new(secret)
}

/// Words of masks that a round may take before they are left out.
const MOST_MASK_WORDS: usize = 1 << 26;

/// Whether the masks of all pairs cost less than a fraction of a second a round.
pub(crate) fn masks_are_cheap(setup: &Setup) -> bool {
    let words = setup.settings.nodes.saturating_pow(2).saturating_mul(setup.settings.initial.len());
    words <= MOST_MASK_WORDS
}

/// A seed of its own for each (node, count): a bijection of the pair for a fixed seed, so that no two collide.
pub(crate) fn mix(seed: u64, node: PeerIx, count: u32) -> u64 {
    finalise(
        finalise(u64::from(node) << 32 | u64::from(count))
            ^ finalise(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)),
    )
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection whose output bits each depend on all input bits.
pub(crate) fn finalise(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_contributions_of_a_run_share_a_seed() {
        let mut seeds: Vec<u64> =
            (0..100).flat_map(|node| (0..100).map(move |count| mix(7, node, count))).collect();
        seeds.sort_unstable();
        assert!(seeds.windows(2).all(|pair| pair[0] != pair[1]));
        assert_ne!(mix(7, 0, 0), mix(8, 0, 0));
    }
}
