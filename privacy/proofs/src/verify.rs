//! Checks what all members published, and adds up.

use bulletproofs::RangeProof;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{Identity, VartimeMultiscalarMul};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use crate::shown::Packed;
use crate::{Blame, Lie, Rules, Shown};

/// The total of all members' numbers, or who is to blame that there is none; all who can be named are.
///
/// # Guarantee
/// A total is the sum of numbers, one of each member, each of which is in the range of the rules. A member that did as the rules say is not named alone; of a pair that is
/// named, one end did not.
///
/// # Assumes
/// Discrete logarithms on ristretto255 are hard, and the proofs are sound in the random oracle model; what is shown is what its member published, and all see the same.
pub fn verify(rules: &Rules, shown: &[Shown]) -> Result<Vec<i64>, Vec<Blame>> {
    let mut blamed = Vec::new();
    let mut there: Vec<&Shown> = Vec::new();
    for &member in rules.members() {
        let mut of_it = shown.iter().filter(|one| one.member == member);
        let lie = match of_it.next() {
            None => Some(Lie::Missing),
            Some(first) if of_it.any(|other| other != first) => Some(Lie::Twice),
            Some(one) => {
                let lie = lie_of(rules, one).err();
                if lie != Some(Lie::Malformed) {
                    there.push(one);
                }
                lie
            }
        };
        blamed.extend(lie.map(|lie| Blame::Member { member, lie }));
    }
    for (at, first) in there.iter().enumerate() {
        let differs =
            |second: &&&Shown| first.pair_with(rules, second.member) != second.pair_with(rules, first.member);
        let shares = |second: &&&Shown| rules.others(first.member).any(|other| other == second.member);
        let pair = |second: &&Shown| Blame::Pair { first: first.member, second: second.member };
        blamed.extend(there[at + 1..].iter().filter(shares).filter(differs).map(pair));
    }
    if blamed.is_empty() { Ok(total(rules, &there)) } else { Err(blamed) }
}

/// What can be said against a member by what it published alone.
fn lie_of(rules: &Rules, shown: &Shown) -> Result<(), Lie> {
    if !shown.fits(rules) {
        return Err(Lie::Malformed);
    }
    let commitments = points(&shown.commitments)?;
    let pairs = shown.pairs.iter().map(|pair| points(pair)).collect::<Result<Vec<_>, _>>()?;
    let (masked, opening) = (scalars(&shown.masked)?, scalars(&shown.opening)?);
    let proof = RangeProof::from_bytes(&shown.proof).map_err(|_| Lie::Malformed)?;
    let mut packed: Vec<CompressedRistretto> =
        shown.commitments.iter().map(|&bytes| CompressedRistretto(bytes)).collect();
    packed.resize(rules.width(), rules.commit.B_blinding.compress());
    let mut coins = coins(rules, shown);
    let transcript = &mut rules.transcript(shown.member);
    let (generators, bits) = (&rules.generators, rules.bits().count());
    proof
        .verify_multiple_with_rng(generators, &rules.commit, transcript, &packed, bits, &mut coins)
        .map_err(|_| Lie::Range)?;
    opens(rules, shown, (&commitments, &pairs), (&masked, &opening), &mut coins)
}

/// Coins with which several equations are checked as one. They follow from every byte that was published, the last of the proof included: who knew them before it
/// had chosen all of it could make false equations add up.
fn coins(rules: &Rules, shown: &Shown) -> ChaCha20Rng {
    let mut transcript = rules.transcript(shown.member);
    transcript.append_message(b"shown", &shown.to_bytes());
    let mut seed = [0; 32];
    transcript.challenge_bytes(b"coins", &mut seed);
    ChaCha20Rng::from_seed(seed)
}

/// g^s·h^t = V·ΠP^± for all numbers at once: with weights that follow from everything published, a false equation holds with probability 2⁻¹²⁸.
fn opens(
    rules: &Rules,
    shown: &Shown,
    (commitments, pairs): (&[RistrettoPoint], &[Vec<RistrettoPoint>]),
    (masked, opening): (&[Scalar], &[Scalar]),
    coins: &mut ChaCha20Rng,
) -> Result<(), Lie> {
    let weights: Vec<Scalar> = (0..masked.len()).map(|_| weight(coins)).collect();
    let weighted = |numbers: &[Scalar]| numbers.iter().zip(&weights).map(|(a, b)| a * b).sum::<Scalar>();
    let sides = rules.others(shown.member).map(|other| shown.member < other);
    let mut factors = vec![-weighted(masked), -weighted(opening)];
    let mut points = vec![rules.commit.B, rules.commit.B_blinding];
    factors.extend(&weights);
    points.extend(commitments);
    for (pair, adds) in pairs.iter().zip(sides) {
        factors.extend(weights.iter().map(|weight| if adds { *weight } else { -weight }));
        points.extend(pair);
    }
    let left = RistrettoPoint::vartime_multiscalar_mul(factors, points);
    if left == RistrettoPoint::identity() { Ok(()) } else { Err(Lie::Opening) }
}

fn weight(coins: &mut ChaCha20Rng) -> Scalar {
    let mut bytes = [0; 16];
    coins.fill_bytes(&mut bytes);
    Scalar::from(u128::from_le_bytes(bytes))
}

fn points(packed: &[Packed]) -> Result<Vec<RistrettoPoint>, Lie> {
    let point = |&bytes: &Packed| CompressedRistretto(bytes).decompress().ok_or(Lie::Malformed);
    packed.iter().map(point).collect()
}

fn scalars(packed: &[Packed]) -> Result<Vec<Scalar>, Lie> {
    let scalar = |&bytes: &Packed| Option::from(Scalar::from_canonical_bytes(bytes)).ok_or(Lie::Malformed);
    packed.iter().map(scalar).collect()
}

/// Σs: all masks are gone, and what is left is below 2³² times the number of members.
fn total(rules: &Rules, there: &[&Shown]) -> Vec<i64> {
    let shift = rules.bits().shift() * there.len() as i64;
    let sum = |at: usize| -> i64 {
        let sum: Scalar = there.iter().map(|shown| Scalar::from_bytes_mod_order(shown.masked[at])).sum();
        let (low, _) = sum.as_bytes().split_first_chunk::<8>().expect("32 bytes");
        i64::from_le_bytes(*low) - shift
    };
    (0..rules.numbers()).map(sum).collect()
}
