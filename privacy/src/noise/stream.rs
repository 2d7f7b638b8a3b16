//! Named streams: many independent generators from one root seed.
//!
//! The 256-bit ChaCha key of a stream is
//! `SHA-256("murmuration stream v1" ‖ 0x00 ‖ seed as 8 bytes little-endian ‖ name in UTF-8)`,
//! so streams are the same on every machine, and adding a stream never shifts another. In Python:
//! `hashlib.sha256(b"murmuration stream v1\0" + seed.to_bytes(8, "little") + name.encode()).digest()`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

const DOMAIN: &[u8] = b"murmuration stream v1\0";

/// The one seed of a simulation or test, from which named streams are derived.
///
/// ```
/// use privacy::noise::RootSeed;
/// use rand::Rng;
///
/// let seed = RootSeed(42);
/// let mut data = seed.stream(RootSeed::DATA);
/// let mut links = seed.stream(RootSeed::LINKS);
/// assert_ne!(data.next_u64(), links.next_u64());
/// // One stream per node: any name will do.
/// let _node_7 = seed.stream("data/7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootSeed(
    /// The seed itself, as a user writes it in a config.
    pub u64,
);

impl RootSeed {
    /// Partition of data, batches, initial models.
    pub const DATA: &str = "data";
    /// Noise of simulated mechanisms: use [`danger_from_seed`](super::danger_from_seed), which marks it.
    pub const NOISE: &str = "noise";
    /// Choice of peers: schedules, walks, permutations.
    pub const PEERS: &str = "peers";
    /// Simulated links: delays and losses.
    pub const LINKS: &str = "links";

    /// The generator of a named stream. Not for privacy noise: that is what [`NoiseSource`](super::NoiseSource) is for.
    pub fn stream(self, name: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.key(name))
    }

    /// The ChaCha key of a named stream.
    pub fn key(self, name: &str) -> [u8; 32] {
        Sha256::new()
            .chain_update(DOMAIN)
            .chain_update(self.0.to_le_bytes())
            .chain_update(name.as_bytes())
            .finalize()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_stream_is_the_documented_hash() {
        // From Python's hashlib, by the command in the module's header with seed 42.
        assert_eq!(
            hex(&RootSeed(42).key("noise")),
            "1af90bf46c128f7739e4ea203c3102bc87e045a57cba343a60f87320afd7f442"
        );
        assert_eq!(
            hex(&RootSeed(42).key("data")),
            "95fe330f5d17dd172d399add8a8f84ce9ec9ef85cdd0b2ed5be8388d0e35efbc"
        );
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
