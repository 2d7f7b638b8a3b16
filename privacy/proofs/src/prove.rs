//! One member's part: commitments, proof, masks.

use bulletproofs::RangeProof;
use curve25519_dalek::scalar::Scalar;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use zeroize::{Zeroize, Zeroizing};

use crate::shown::Packed;
use crate::{ProofError, Rules, Shown};

/// What a member shares with another one for this round: 32 bytes that both derive from their secret, and nobody else knows.
pub struct Pad {
    /// The other one.
    pub with: u32,
    /// The key, for one round only.
    pub key: Zeroizing<[u8; 32]>,
}

/// One member of a round.
pub struct Member<'a> {
    /// What all agreed on.
    pub rules: &'a Rules,
    /// Its position.
    pub position: u32,
}

/// What goes on top of a contribution: masks and their blindings, and the commitments to each pair's.
struct Masks {
    masks: Vec<Scalar>,
    blindings: Vec<Scalar>,
    pairs: Vec<Vec<Packed>>,
}

impl Member<'_> {
    /// All that this member publishes of these numbers, which carry their noise.
    ///
    /// # Guarantee
    /// Who knows the pads of some members only learns the sum of the others' numbers, and that each is in range: s and t of the others are uniform but for their sums,
    /// commitments hide perfectly, and the proof is of zero knowledge.
    ///
    /// # Assumes
    /// `secret` and pads are uniform, secret, and used for this round and these numbers only; ChaCha20 is a pseudo-random function; the proof is of zero knowledge in the
    /// random oracle model, and binds as long as discrete logarithms on ristretto255 are hard.
    ///
    /// # Errors
    /// Numbers out of range or not as many as agreed on, pads that are not one for each other member.
    pub fn show(
        &self,
        values: &[i64],
        pads: &[Pad],
        secret: Zeroizing<[u8; 32]>,
    ) -> Result<Shown, ProofError> {
        let rules = self.rules;
        let (mut numbers, mut rng) = (self.shifted(values)?, ChaCha20Rng::from_seed(*secret));
        let mut blindings: Vec<Scalar> = values.iter().map(|_| Scalar::random(&mut rng)).collect();
        let mut masks = self.masks(pads)?;
        // Numbers that fill up are zero with a blinding that everybody knows.
        numbers.resize(rules.width(), 0);
        blindings.resize(rules.width(), Scalar::ONE);
        let made = RangeProof::prove_multiple_with_rng(
            &rules.generators,
            &rules.commit,
            &mut rules.transcript(self.position),
            &numbers,
            &blindings,
            rules.bits().count(),
            &mut rng,
        );
        let (proof, commitments) = made.map_err(|_| ProofError::Refused)?;
        for ((mask, blinded), (number, blinding)) in
            masks.masks.iter_mut().zip(&mut masks.blindings).zip(numbers.iter().zip(&blindings))
        {
            *mask += Scalar::from(*number);
            *blinded += blinding;
        }
        numbers.zeroize();
        blindings.zeroize();
        Ok(Shown {
            member: self.position,
            commitments: commitments[..values.len()].iter().map(|point| point.to_bytes()).collect(),
            proof: proof.to_bytes(),
            pairs: masks.pairs,
            masked: masks.masks.iter().map(Scalar::to_bytes).collect(),
            opening: masks.blindings.iter().map(Scalar::to_bytes).collect(),
        })
    }

    fn shifted(&self, values: &[i64]) -> Result<Vec<u64>, ProofError> {
        let (expected, bits) = (self.rules.numbers(), self.rules.bits());
        if values.len() != expected {
            return Err(ProofError::Length { found: values.len(), expected });
        }
        let shifted = |(at, &value): (usize, &i64)| {
            let fits = (-bits.shift()..bits.shift()).contains(&value);
            let out = ProofError::OutOfRange { at, value, bits: bits.count() };
            if fits { Ok((value + bits.shift()) as u64) } else { Err(out) }
        };
        values.iter().enumerate().map(shifted).collect()
    }

    /// The masks of all pairs; the smaller position adds.
    fn masks(&self, pads: &[Pad]) -> Result<Masks, ProofError> {
        let numbers = self.rules.numbers();
        let nothing = || vec![Scalar::ZERO; numbers];
        let mut all = Masks { masks: nothing(), blindings: nothing(), pairs: Vec::new() };
        if !self.rules.members().contains(&self.position)
            || pads.len() != self.rules.others(self.position).count()
        {
            return Err(ProofError::Members {
                what: "a member needs a pad with each that it shares masks with",
            });
        }
        for other in self.rules.others(self.position) {
            let pad = pads.iter().find(|pad| pad.with == other);
            let pad = pad.ok_or(ProofError::Members { what: "the pad with a member is missing" })?;
            let mut stream = ChaCha20Rng::from_seed(*pad.key);
            let mut commitments = Vec::with_capacity(numbers);
            for at in 0..numbers {
                let (mask, blinding) = (Scalar::random(&mut stream), Scalar::random(&mut stream));
                commitments.push(self.rules.commit.commit(mask, blinding).compress().to_bytes());
                let signed = |scalar: Scalar| if self.position < other { scalar } else { -scalar };
                all.masks[at] += signed(mask);
                all.blindings[at] += signed(blinding);
            }
            all.pairs.push(commitments);
        }
        Ok(all)
    }
}
