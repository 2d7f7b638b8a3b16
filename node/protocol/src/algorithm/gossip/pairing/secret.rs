//! What two neighbours share: a secret by X25519, and from it the noise that one adds and the other subtracts.

use hkdf::Hkdf;
use privacy::noise::add_shared_normals;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use crate::PeerIx;
use crate::masks::{MaskKey, Masks};
use crate::settings::RunId;

/// Says what the secret is used for; other words, other noise.
const PURPOSE: &[u8] = b"murmur gopa 1";

/// What the public half is where masks are pretended.
const NO_KEY: MaskKey = [0; 32];

/// One end of a pair.
pub(super) type End = (PeerIx, MaskKey);

/// What others are told.
pub(super) fn public(masks: &Masks) -> MaskKey {
    match masks {
        Masks::Real(secret) | Masks::DangerBared(secret, _) => secret.public(),
        Masks::DangerPretended => NO_KEY,
    }
}

/// Whether a key is one with which something can be shared.
pub(super) fn fits(masks: &Masks, theirs: &MaskKey) -> bool {
    match masks {
        Masks::Real(secret) | Masks::DangerBared(secret, _) => secret.shared_with(theirs).is_some(),
        Masks::DangerPretended => true,
    }
}

/// Adds the noise of a pair: with the sign `+` at the end of the smaller position, `−` at the other. Bound to run, round, both positions and
/// both keys: ends that were told different things do not cancel, which is noise and reveals nothing.
///
/// # Guarantee
/// Both ends add opposite numbers to the last bit; to everybody else they are independent normals of deviation `deviation`, where masks are not pretended.
///
/// # Assumes
/// X25519 and HKDF-SHA256; a round is used for one vector.
pub(super) fn add_noise(
    values: &mut [f64],
    (masks, deviation): (&Masks, f64),
    (run, round): (RunId, u32),
    (mine, theirs): (End, End),
) {
    let salt = run.0.to_le_bytes();
    let (mut extracted, expanding) = match masks {
        Masks::Real(secret) | Masks::DangerBared(secret, _) => match secret.shared_with(&theirs.1) {
            Some(shared) => Hkdf::<Sha256>::extract(Some(&salt), shared.as_bytes()),
            None => return,
        },
        Masks::DangerPretended => Hkdf::<Sha256>::extract(Some(&salt), b"pretended"),
    };
    extracted.as_mut_slice().zeroize();
    let (first, second) = if mine.0 < theirs.0 { (mine, theirs) } else { (theirs, mine) };
    let mut info = PURPOSE.to_vec();
    info.extend(round.to_le_bytes());
    for (position, key) in [first, second] {
        info.extend(position.to_le_bytes());
        info.extend(key);
    }
    info.extend((values.len() as u64).to_le_bytes());
    info.extend(deviation.to_bits().to_le_bytes());
    let mut key = Zeroizing::new([0; 32]);
    expanding.expand(&info, key.as_mut_slice()).expect("32 bytes are within reach of HKDF");
    let signed = if mine.0 < theirs.0 { deviation } else { -deviation };
    add_shared_normals(&key, signed, values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masks::MaskSecret;

    const RUN: RunId = RunId(7);

    fn masks(node: u8) -> Masks {
        Masks::Real(MaskSecret::new([node + 1; 32]))
    }

    fn end(node: u8) -> End {
        (PeerIx::from(node), public(&masks(node)))
    }

    fn noise(me: u8, other: u8, (run, round): (RunId, u32)) -> Vec<f64> {
        let mut values = vec![0.0; 50];
        add_noise(&mut values, (&masks(me), 2.0), (run, round), (end(me), end(other)));
        values
    }

    #[test]
    fn both_ends_add_opposite_numbers() {
        let (one, other) = (noise(3, 5, (RUN, 0)), noise(5, 3, (RUN, 0)));
        assert!(one.iter().zip(&other).all(|(a, b)| *a == -b && *a != 0.0));
    }

    #[test]
    fn another_run_round_pair_or_key_is_other_noise() {
        let usual = noise(3, 5, (RUN, 0));
        assert_ne!(usual, noise(3, 5, (RunId(8), 0)));
        assert_ne!(usual, noise(3, 5, (RUN, 1)));
        assert_ne!(usual, noise(3, 6, (RUN, 0)));
        let mut swapped = vec![0.0; 50];
        let (mine, theirs) = ((4, public(&masks(3))), end(5));
        add_noise(&mut swapped, (&masks(3), 2.0), (RUN, 0), (mine, theirs));
        assert_ne!(usual, swapped);
    }

    #[test]
    fn a_key_that_shares_the_same_with_everybody_is_none() {
        assert!(!fits(&masks(1), &[0; 32]) && fits(&masks(1), &end(2).1));
        let mut values = vec![1.0; 3];
        add_noise(&mut values, (&masks(1), 2.0), (RUN, 0), (end(1), (2, [0; 32])));
        assert_eq!(values, [1.0; 3]);
    }
}
