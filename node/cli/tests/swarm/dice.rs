//! Chance that is the same in every run of a test.

use std::collections::BTreeSet;

/// Numbers that are the same in every run of a test.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `sides` (SplitMix64).
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    /// So many different numbers below `sides`.
    pub(crate) fn pick(&mut self, count: usize, sides: usize) -> Vec<usize> {
        let mut picked = BTreeSet::new();
        let mut order = Vec::new();
        while order.len() < count {
            let number = self.roll(sides as u64) as usize;
            if picked.insert(number) {
                order.push(number);
            }
        }
        order
    }
}
