//! Totals of honest members, and who is named where somebody lies.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proofs::{Bits, Blame, Lie, Member, Pad, ProofError, Rules, Shown, verify};
use zeroize::Zeroizing;

const MEMBERS: [u32; 4] = [2, 3, 7, 9];
const NUMBERS: usize = 3;

fn rules(context: &[u8]) -> Rules {
    Rules::new(context, &MEMBERS, NUMBERS, Bits::Sixteen).unwrap()
}

/// The key of a pair: both ends know it.
fn key(one: u32, other: u32) -> Zeroizing<[u8; 32]> {
    let (first, second) = (one.min(other) as u8, one.max(other) as u8);
    Zeroizing::new(std::array::from_fn(|at| if at % 2 == 0 { first } else { second }))
}

fn pads(me: u32) -> Vec<Pad> {
    MEMBERS
        .iter()
        .filter(|&&other| other != me)
        .map(|&other| Pad { with: other, key: key(me, other) })
        .collect()
}

fn values(member: u32) -> Vec<i64> {
    let member = i64::from(member);
    vec![member * member, -100 * member, [-32768, 32767, 0, 1][member as usize % 4]]
}

fn show(rules: &Rules, member: u32, pads: &[Pad]) -> Shown {
    let secret = Zeroizing::new([member as u8 + 100; 32]);
    Member { rules, position: member }.show(&values(member), pads, secret).unwrap()
}

fn all(rules: &Rules) -> Vec<Shown> {
    MEMBERS.iter().map(|&member| show(rules, member, &pads(member))).collect()
}

fn named(member: u32, lie: Lie) -> Vec<Blame> {
    vec![Blame::Member { member, lie }]
}

/// With `byte` of the contribution of a member changed.
fn changed(rules: &Rules, at: usize, byte: usize) -> Vec<Shown> {
    let mut shown = all(rules);
    let mut bytes = shown[at].to_bytes();
    bytes[byte] ^= 1;
    shown[at] = Shown::from_bytes(&bytes, rules).unwrap();
    shown
}

#[test]
fn honest_parts_add_up() {
    let rules = rules(b"round 1");
    let expected: Vec<i64> = (0..NUMBERS).map(|at| MEMBERS.iter().map(|&m| values(m)[at]).sum()).collect();
    let shown = all(&rules);
    assert_eq!(verify(&rules, &shown).unwrap(), expected);
    // In any order, repeated or through bytes.
    let again = |shown: &Shown| Shown::from_bytes(&shown.to_bytes(), &rules).unwrap();
    let more: Vec<Shown> = shown.iter().rev().chain(&shown[..1]).map(again).collect();
    assert_eq!(verify(&rules, &more).unwrap(), expected);
}

/// Places of the bytes: member, V, s, t, pairs, proof, each of 32 bytes times the numbers.
#[test]
fn whatever_is_tampered_with_names_who_did() {
    let rules = rules(b"round 1");
    let part = 32 * NUMBERS;
    for (what, byte, lies) in [
        ("a commitment", 4, [Lie::Malformed, Lie::Range]),
        ("a masked number", 4 + part, [Lie::Opening, Lie::Opening]),
        ("an opening", 4 + 2 * part, [Lie::Opening, Lie::Opening]),
        // Of the proof: the last number, which is canonical with its lowest bit turned.
        ("the proof", all(&rules)[1].to_bytes().len() - 32, [Lie::Range, Lie::Range]),
    ] {
        let blamed = verify(&rules, &changed(&rules, 1, byte)).unwrap_err();
        assert!(lies.iter().any(|&lie| blamed == named(3, lie)), "{what}: {blamed:?}");
    }
    let missing = verify(&rules, &all(&rules)[1..]).unwrap_err();
    assert_eq!(missing, named(2, Lie::Missing));
    let mut twice = all(&rules);
    twice.push(twice[2].clone());
    twice.push(changed(&rules, 2, 4 + part)[2].clone());
    assert_eq!(verify(&rules, &twice).unwrap_err(), named(7, Lie::Twice));
}

#[test]
fn a_proof_of_another_round_or_member_does_not_hold() {
    let (one, two) = (rules(b"round 1"), rules(b"round 2"));
    let mut shown = all(&one);
    shown[3] = show(&two, 9, &pads(9));
    assert_eq!(verify(&one, &shown).unwrap_err(), named(9, Lie::Range));
}

/// A member with another key than the other end: its own opening fits, so only the pair can be named.
#[test]
fn of_a_pair_that_differs_both_are_named() {
    let rules = rules(b"round 1");
    let mut other = pads(3);
    other[2].key = key(50, 51);
    let mut shown = all(&rules);
    shown[1] = show(&rules, 3, &other);
    assert_eq!(verify(&rules, &shown).unwrap_err(), [Blame::Pair { first: 3, second: 9 }]);
}

/// Masked numbers and openings change places: all commitments agree, and do not open to what was sent.
#[test]
fn what_changes_places_is_a_wrong_opening() {
    let rules = rules(b"round 1");
    let honest = show(&rules, 2, &pads(2)).to_bytes();
    let mut bytes = honest.clone();
    // s and t of the first two numbers change places.
    for part in [1, 2] {
        let at = 4 + 32 * NUMBERS * part;
        bytes[at..at + 32].copy_from_slice(&honest[at + 32..at + 64]);
    }
    let mut shown = all(&rules);
    shown[0] = Shown::from_bytes(&bytes, &rules).unwrap();
    assert_eq!(verify(&rules, &shown).unwrap_err(), named(2, Lie::Opening));
}

#[test]
fn what_no_proof_covers_is_refused_with_its_place() {
    let rules = rules(b"round 1");
    let member = Member { rules: &rules, position: 2 };
    let refused =
        |values: &[i64], pads: &[Pad]| member.show(values, pads, Zeroizing::new([1; 32])).unwrap_err();
    let out = refused(&[0, 32768, 0], &pads(2));
    assert_eq!(out, ProofError::OutOfRange { at: 1, value: 32768, bits: 16 });
    assert!(out.to_string().contains("32768") && out.to_string().contains("-32768"), "{out}");
    assert_eq!(refused(&[0, 0], &pads(2)), ProofError::Length { found: 2, expected: 3 });
    assert!(matches!(refused(&[0; 3], &pads(2)[1..]), ProofError::Members { .. }));
    assert!(matches!(refused(&[0; 3], &pads(3)), ProofError::Members { .. }));
    for (members, numbers) in [(&[1][..], 3), (&[1, 1], 3), (&[1, 2], 0), (&[1, 2], 1025)] {
        assert!(Rules::new(b"", members, numbers, Bits::Eight).is_err(), "{members:?} {numbers}");
    }
}

#[test]
fn bytes_that_are_no_contribution_are_refused_or_named() {
    let rules = rules(b"round 1");
    let bytes = all(&rules)[0].to_bytes();
    for length in [0, 3, 100, 4 + 32 * NUMBERS * 6 - 1] {
        assert!(Shown::from_bytes(&bytes[..length], &rules).is_err(), "{length}");
    }
    assert!(Shown::from_bytes(&[bytes.clone(), vec![0; 5000]].concat(), &rules).is_err());
    let mut shown = all(&rules);
    shown[0] = Shown::from_bytes(&bytes[..bytes.len() - 1], &rules).unwrap();
    assert_eq!(verify(&rules, &shown).unwrap_err(), named(2, Lie::Malformed));
    // No point has all bits set.
    let mut bytes = bytes;
    bytes[4..36].fill(255);
    shown[0] = Shown::from_bytes(&bytes, &rules).unwrap();
    assert_eq!(verify(&rules, &shown).unwrap_err(), named(2, Lie::Malformed));
}

/// The smallest and the largest number of every width, and a width that is no power of two.
#[test]
fn ranges_hold_at_their_ends() {
    for (bits, end) in [(Bits::Eight, 1 << 7), (Bits::Sixteen, 1 << 15), (Bits::ThirtyTwo, 1_i64 << 31)] {
        let rules = Rules::new(b"ends", &[1, 2], 5, bits).unwrap();
        let values = [[-end, end - 1, 0, -1, 1], [-end, end - 1, 5, 6, 7]];
        let show = |at: usize| {
            let position = at as u32 + 1;
            let pads = [Pad { with: 3 - position, key: key(1, 2) }];
            Member { rules: &rules, position }
                .show(&values[at], &pads, Zeroizing::new([9 + at as u8; 32]))
                .unwrap()
        };
        let total = verify(&rules, &[show(0), show(1)]).unwrap();
        assert_eq!(total, [-2 * end, 2 * (end - 1), 5, 5, 8]);
        let (width, most) = (bits.count(), end);
        let member = Member { rules: &rules, position: 1 };
        let pads = [Pad { with: 2, key: key(1, 2) }];
        assert!(member.show(&[most; 5], &pads, Zeroizing::new([1; 32])).is_err(), "{width}");
    }
}

/// A number beyond the range, committed to and opened as it is: the proof is about another one.
#[test]
fn who_adds_what_is_out_of_range_is_named() {
    let rules = rules(b"round 1");
    for (lie, expected) in [(true, Lie::Range), (false, Lie::Opening)] {
        let mut shown = all(&rules);
        if lie {
            shown[2].danger_beyond(&rules, 1 << 40);
        } else {
            shown[2].danger_other(1 << 40);
        }
        assert_eq!(verify(&rules, &shown).unwrap_err(), named(7, expected));
    }
}

/// Two that do not agree on a mask share none, and the others' masks still cancel.
#[test]
fn pairs_that_are_apart_share_no_mask() {
    let rules = rules(b"round 1").again(b"round 2", &MEMBERS).unwrap().without(&[(9, 3)]);
    let without = |me: u32, other: u32| (me.min(other), me.max(other)) == (3, 9);
    let shown: Vec<Shown> = MEMBERS
        .iter()
        .map(|&me| {
            let pads: Vec<Pad> = pads(me).into_iter().filter(|pad| !without(me, pad.with)).collect();
            let shown = show(&rules, me, &pads);
            Shown::from_bytes(&shown.to_bytes(), &rules).unwrap()
        })
        .collect();
    let expected: Vec<i64> = (0..NUMBERS).map(|at| MEMBERS.iter().map(|&m| values(m)[at]).sum()).collect();
    assert_eq!(verify(&rules, &shown).unwrap(), expected);
    let secret = || Zeroizing::new([1; 32]);
    let refused = Member { rules: &rules, position: 3 }.show(&values(3), &pads(3), secret());
    assert!(matches!(refused, Err(ProofError::Members { .. })), "a pad too many");
}
