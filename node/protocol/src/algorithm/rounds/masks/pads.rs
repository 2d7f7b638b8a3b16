//! The streams that one member shares with the others of an epoch.

use hkdf::Hkdf;
use privacy::mechanisms::grid::{GridGaussian, Words};
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use super::MaskSecret;
use super::roster::KeyedRoster;
use crate::PeerIx;
use crate::values::Digest;

/// Says what the streams are for; other words, other streams.
const PURPOSE: &[u8] = b"murmur mask 1";

/// What a stream is used for: once.
pub(super) struct Use<'a> {
    pub(super) round: u32,
    /// The model from which the round starts.
    pub(super) model: Digest,
    pub(super) mechanism: &'a GridGaussian,
}

/// One member's secrets of an epoch.
pub(super) struct Pads {
    roster: [u8; 32],
    pairs: Vec<Pair>,
}

/// What is shared with one other member.
struct Pair {
    /// Whether this side adds.
    adds: bool,
    secret: Zeroizing<[u8; 32]>,
}

impl Pads {
    /// Of member `me`; `Err` names a member whose key is none.
    pub(super) fn new(roster: &KeyedRoster, me: PeerIx, secret: &MaskSecret) -> Result<Self, PeerIx> {
        let run = roster.run.0.to_le_bytes();
        let others = roster.members.iter().filter(|(member, _)| *member != me);
        let pair = |&(member, key): &(PeerIx, super::MaskKey)| {
            let shared = secret.shared_with(&key).ok_or(member)?;
            let (mut extracted, _) = Hkdf::<Sha256>::extract(Some(&run), shared.as_bytes());
            let mut secret = Zeroizing::new([0; 32]);
            secret.copy_from_slice(&extracted);
            extracted.as_mut_slice().zeroize();
            Ok::<_, PeerIx>(Pair { adds: me < member, secret })
        };
        Ok(Self { roster: roster.digest(), pairs: others.map(pair).collect::<Result<_, _>>()? })
    }

    /// Puts on the masks of all pairs.
    ///
    /// # Guarantee
    /// For who knows the secrets of some members only, the masked words of the others are uniform but for their sum.
    ///
    /// # Assumes
    /// HKDF-SHA256 and ChaCha20 are pseudorandom; no use comes twice with different words.
    pub(super) fn mask(&self, words: &mut Words, of: &Use<'_>) {
        let info = self.info(of);
        for pair in &self.pairs {
            let mut key = Zeroizing::new([0; 32]);
            Hkdf::<Sha256>::from_prk(pair.secret.as_slice())
                .expect("a secret is as long as a digest")
                .expand(&info, key.as_mut_slice())
                .expect("32 bytes are within reach of HKDF");
            if pair.adds {
                words.add_mask(&key);
            } else {
                words.subtract_mask(&key);
            }
        }
    }

    /// Subtracts where it should add, or the other way, for one pair.
    #[cfg(test)]
    pub(super) fn turn_sign(&mut self, pair: usize) {
        self.pairs[pair].adds = !self.pairs[pair].adds;
    }

    fn info(&self, of: &Use<'_>) -> Vec<u8> {
        let grid = of.mechanism.grid();
        let mut info = PURPOSE.to_vec();
        info.extend(self.roster);
        info.extend(of.round.to_le_bytes());
        info.extend(of.model.0);
        info.extend(grid.size().bits().to_le_bytes());
        for number in [grid.steps(), grid.largest(), of.mechanism.noise(), grid.load().dimension as u64] {
            info.extend(number.to_le_bytes());
        }
        info
    }
}
