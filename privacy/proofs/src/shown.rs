//! What a member publishes, and its bytes.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::scalar::Scalar;

use crate::{Rules, ShapeError};

/// A point or a number in 32 bytes.
pub(crate) type Packed = [u8; 32];

/// What a member publishes: commitments and their proof, commitments to the mask of each pair, masked numbers and their opening.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown {
    /// Who.
    pub member: u32,
    /// V: one commitment for each number.
    pub(crate) commitments: Vec<Packed>,
    /// That all of them are in range.
    pub(crate) proof: Vec<u8>,
    /// P: for every other member, in increasing order, one commitment for each number.
    pub(crate) pairs: Vec<Vec<Packed>>,
    /// s: the masked numbers.
    pub(crate) masked: Vec<Packed>,
    /// t: their masked blindings.
    pub(crate) opening: Vec<Packed>,
}

impl Shown {
    /// As bytes: everything has a place that follows from the rules, and the proof is the rest.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.member.to_le_bytes().to_vec();
        let parts = [&self.commitments, &self.masked, &self.opening].into_iter().chain(&self.pairs);
        parts.flatten().for_each(|packed| bytes.extend(packed));
        bytes.extend(&self.proof);
        bytes
    }

    /// From bytes, which may be anything.
    ///
    /// # Errors
    /// Fewer bytes than commitments, or more than any proof.
    pub fn from_bytes(bytes: &[u8], rules: &Rules) -> Result<Self, ShapeError> {
        /// 9 points and numbers, and two points for each halving of at most 2¹⁵.
        const LONGEST_PROOF: usize = 32 * (9 + 2 * 15);
        let numbers = rules.numbers();
        let shape = ShapeError { bytes: bytes.len(), numbers, members: rules.members().len() };
        let (member, rest) = bytes.split_first_chunk::<4>().ok_or(shape)?;
        let others = rules.others(u32::from_le_bytes(*member)).count();
        let count = numbers * (3 + others);
        let (packed, proof) = rest.split_at_checked(32 * count).ok_or(shape)?;
        if proof.len() > LONGEST_PROOF {
            return Err(shape);
        }
        let mut parts = packed.as_chunks::<32>().0.chunks_exact(numbers).map(<[Packed]>::to_vec);
        let mut next = || parts.next().ok_or(shape);
        let (commitments, masked, opening) = (next()?, next()?, next()?);
        let pairs = parts.collect();
        let member = u32::from_le_bytes(*member);
        Ok(Self { member, commitments, proof: proof.to_vec(), pairs, masked, opening })
    }

    /// As a member publishes it that adds so much more to its first number than its proof is about, for tests: everything opens, and the proof does not hold.
    pub fn danger_beyond(&mut self, rules: &Rules, more: u64) {
        let more = Scalar::from(more);
        let committed = self.commitments.first_mut().and_then(|first| {
            let before = CompressedRistretto(*first).decompress()?;
            *first = (before + rules.commit.B * more).compress().to_bytes();
            self.masked.first_mut()
        });
        if let Some(masked) = committed {
            *masked = (Scalar::from_bytes_mod_order(*masked) + more).to_bytes();
        }
    }

    /// The same with another first number than it committed to, for tests.
    pub fn danger_other(&mut self, more: u64) {
        if let Some(masked) = self.masked.first_mut() {
            *masked = (Scalar::from_bytes_mod_order(*masked) + Scalar::from(more)).to_bytes();
        }
    }

    /// Whether there is as much of everything as the rules say.
    pub(crate) fn fits(&self, rules: &Rules) -> bool {
        let fits = |part: &Vec<Packed>| part.len() == rules.numbers();
        rules.members().contains(&self.member)
            && self.pairs.len() == rules.others(self.member).count()
            && [&self.commitments, &self.masked, &self.opening].into_iter().chain(&self.pairs).all(fits)
    }

    /// What it committed to for the pair with another member.
    pub(crate) fn pair_with(&self, rules: &Rules, other: u32) -> Option<&Vec<Packed>> {
        let at = rules.others(self.member).position(|member| member == other)?;
        self.pairs.get(at)
    }
}

/// Numbers are never printed.
impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shown(member {}, {} numbers)", self.member, self.masked.len())
    }
}
