//! What masks must do, and every way in which they must not be used.

use privacy::clip::ClipNorm;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize, Words};

use super::pads::{Pads, Use};
use super::roster::KeyedRoster;
use super::*;
use crate::PeerIx;
use crate::settings::RunId;
use crate::values::Digest;

const NUMBERS: usize = 40;

fn mechanism(size: WordSize) -> GridGaussian {
    let load = Load { nodes: 5, dimension: NUMBERS, noise_multiplier: 2.0, largest: 1, steps_at_most: None };
    let grid = Grid::new(size, load, ClipNorm::new(1.0).unwrap()).unwrap();
    GridGaussian::with_multiplier(grid, 2.0, grid.sensitivity(1.0)).unwrap()
}

fn secret(node: PeerIx) -> MaskSecret {
    MaskSecret::new([node as u8 + 1; 32])
}

fn roster(members: &[PeerIx]) -> KeyedRoster {
    let members = members.iter().map(|&member| (member, secret(member).public())).collect();
    KeyedRoster { run: RunId(3), epoch: 1, members, unmasked: Vec::new() }
}

/// The words of a member: its number in every place, and the check words.
fn contribution(member: PeerIx, size: WordSize) -> Words {
    let mut words = Words::of(size, std::iter::repeat_n(i64::from(member) - 3, NUMBERS));
    words.extend([i64::from(member != 2), 0, 0, 0]);
    words
}

const MEMBERS: [PeerIx; 5] = [0, 2, 3, 5, 9];

/// The total of all members, each masked as `masked` does it.
fn total(size: WordSize, mut masked: impl FnMut(PeerIx, &mut Words)) -> Words {
    let mut total = Words::zeros(size, NUMBERS + CHECK_WORDS);
    for member in MEMBERS {
        let mut words = contribution(member, size);
        masked(member, &mut words);
        total.add(&words).unwrap();
    }
    total
}

fn put_on(member: PeerIx, words: &mut Words, roster: &KeyedRoster, of: &Use<'_>) {
    Pads::new(roster, member, &secret(member)).unwrap().mask(words, of);
}

#[test]
fn masks_cancel_to_the_bit_and_the_count_shows() {
    for size in [WordSize::Bits32, WordSize::Bits64] {
        let mechanism = mechanism(size);
        let of = Use { round: 4, model: Digest::of_text("model"), mechanism: &mechanism };
        let clear = total(size, |_, _| {});
        let masked = total(size, |member, words| {
            let before = words.clone();
            put_on(member, words, &roster(&MEMBERS), &of);
            let same = before.centred().zip(words.centred()).filter(|(a, b)| a == b).count();
            assert!(same <= 1, "{same} words of member {member} are not masked");
        });
        assert_eq!(clear, masked);
        assert_eq!(check::count(&masked, MEMBERS.len()), Some(4), "member 2 added no data");
    }
}

/// On a circle a member shares streams with some only, and they cancel all the same.
#[test]
fn masks_of_a_sparse_graph_cancel_too() {
    let mechanism = mechanism(WordSize::Bits32);
    let of = Use { round: 4, model: Digest::of_text("model"), mechanism: &mechanism };
    let told = roster(&MEMBERS);
    let graph = MaskGraph::Circle { neighbours: 2 };
    let clear = total(WordSize::Bits32, |_, _| {});
    let masked = total(WordSize::Bits32, |member, words| {
        let before = words.clone();
        Pads::on(graph, &told, (member, &secret(member))).unwrap().mask(words, &of);
        assert_ne!(*words, before);
    });
    assert_eq!(clear, masked);
    // One member with another graph, and masks are left.
    let mixed = total(WordSize::Bits32, |member, words| {
        let graph = if member == MEMBERS[1] { MaskGraph::Complete } else { graph };
        Pads::on(graph, &told, (member, &secret(member))).unwrap().mask(words, &of);
    });
    assert_eq!(check::count(&mixed, MEMBERS.len()), None);
}

/// Everything that a stream is bound to: one member with another idea of it, and the total is void.
#[test]
fn members_that_were_told_different_things_do_not_cancel() {
    let (mechanism, other) = (mechanism(WordSize::Bits32), mechanism(WordSize::Bits64));
    let of = |round, model: &str| Use { round, model: Digest::of_text(model), mechanism: &mechanism };
    let told = roster(&MEMBERS);
    let mut later = told.clone();
    later.epoch += 1;
    let mut elsewhere = told.clone();
    elsewhere.run = RunId(4);
    let mut fewer = told.clone();
    fewer.members.pop();
    let mut forged = told.clone();
    forged.members[3].1 = secret(77).public();
    let usual = || of(4, "model");
    let cases: [(&str, KeyedRoster, Use<'_>); 7] = [
        ("epoch", later, usual()),
        ("run", elsewhere, usual()),
        ("members", fewer, usual()),
        ("a key", forged, usual()),
        ("round", told.clone(), of(5, "model")),
        ("model", told.clone(), of(4, "another")),
        ("grid", told.clone(), Use { mechanism: &other, ..usual() }),
    ];
    for (what, roster, place) in cases {
        let total = total(WordSize::Bits32, |member, words| {
            if member == 3 {
                put_on(member, words, &roster, &place);
            } else {
                put_on(member, words, &told, &usual());
            }
        });
        assert_eq!(check::count(&total, MEMBERS.len()), None, "{what}");
    }
}

#[test]
fn a_wrong_sign_or_a_mask_left_out_makes_the_total_void() {
    let mechanism = mechanism(WordSize::Bits32);
    let of = Use { round: 0, model: Digest::default(), mechanism: &mechanism };
    let told = roster(&MEMBERS);
    let turned = total(WordSize::Bits32, |member, words| {
        let mut pads = Pads::new(&told, member, &secret(member)).unwrap();
        if member == 5 {
            pads.turn_sign(2);
        }
        pads.mask(words, &of);
    });
    let left_out = total(WordSize::Bits32, |member, words| {
        if member != 9 {
            put_on(member, words, &told, &of);
        }
    });
    assert_eq!((check::count(&turned, 5), check::count(&left_out, 5)), (None, None));
}

#[test]
fn a_count_beyond_the_roster_has_the_least_effect_and_missing_words_are_void() {
    let with = |count: i64, zero: i64| {
        let mut words = Words::of(WordSize::Bits32, [7, 8]);
        words.extend([count, 0, zero, 0]);
        check::count(&words, 5)
    };
    assert_eq!((with(0, 0), with(5, 0)), (Some(0), Some(5)));
    assert_eq!((with(6, 0), with(-1, 0)), (Some(5), Some(5)), "read as all of them");
    assert_eq!(with(3, 1), None);
    assert_eq!(check::count(&Words::zeros(WordSize::Bits32, 3), 5), None);
}

/// The points of small order of Curve25519: with them everybody shares the same secret.
#[test]
fn a_key_that_shares_the_same_with_everybody_is_refused() {
    let mut one = [0; 32];
    one[0] = 1;
    for bad in [[0; 32], one] {
        assert!(secret(1).shared_with(&bad).is_none());
        let mut roster = roster(&MEMBERS);
        roster.members[0].1 = bad;
        assert_eq!(Pads::new(&roster, 3, &secret(3)).err(), Some(0));
        assert!(!Wearing::new(Masks::Real(secret(3))).learn(0, bad));
    }
}

/// χ² of the bytes of 2·10⁵ masked words of a constant vector: 255 degrees of freedom, mean 255, deviation 22.6. Beyond 400 comes with probability below 10⁻⁸.
#[test]
fn masked_words_look_uniform_whatever_is_under_them() {
    let mechanism = mechanism(WordSize::Bits32);
    let told = roster(&[0, 2, 3]);
    let mut counts = [0_u32; 256];
    let pads = Pads::new(&told, 2, &secret(2)).unwrap();
    for round in 0..200 {
        let mut words = Words::of(WordSize::Bits32, std::iter::repeat_n(1, 1000));
        pads.mask(&mut words, &Use { round, model: Digest::default(), mechanism: &mechanism });
        let Words::Narrow(words) = words else { panic!("narrow") };
        words.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| counts[byte as usize] += 1);
    }
    let expected = 200.0 * 4000.0 / 256.0;
    let chi2: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    assert!(chi2 < 400.0, "{chi2}");
}

#[test]
fn keys_that_come_in_an_epoch_are_for_the_next_one() {
    let mechanism = mechanism(WordSize::Bits32);
    let mut worn = Wearing::new(Masks::Real(secret(0)));
    assert_eq!(worn.missing(0, &[0, 2, 3]), [2, 3]);
    assert!(worn.learn(2, secret(2).public()) && worn.learn(3, secret(3).public()));
    worn.begin_epoch((RunId(3), 1), 0, (&[0, 2, 3], MaskGraph::Complete), Vec::new());
    let noise = || mechanism.noise_alone(NUMBERS, &mut privacy::noise::danger_from_seed(1, "n"));
    let words = |worn: &Wearing| worn.put_on(noise(), true, (0, Digest::default()), &mechanism).unwrap().0;
    let first = words(&worn);
    worn.learn(2, secret(50).public());
    worn.begin_epoch((RunId(3), 1), 0, (&[0, 2, 3], MaskGraph::Complete), Vec::new());
    assert_eq!(words(&worn), first);
    worn.begin_epoch((RunId(3), 2), 0, (&[0, 2, 3], MaskGraph::Complete), Vec::new());
    assert_ne!(words(&worn), first);
    worn.forget();
    assert!(worn.put_on(noise(), true, (1, Digest::default()), &mechanism).is_none(), "never in the clear");
}

/// By theory: 1/(|R| − c), all of it where nobody is left.
#[test]
fn the_price_is_known_before_the_round() {
    let masks = MaskSettings { colluders: 2, least: 2 };
    let hidden = masks.hidden(8);
    assert_eq!((hidden.among, hidden.is_enough), (8, true));
    assert!(hidden.one >= 1.0 / 7.0 && hidden.one < 1.0 / 7.0 + 1e-15);
    assert!(hidden.coalition >= 1.0 / 6.0 && hidden.coalition < 1.0 / 6.0 + 1e-15);
    assert!(masks.hidden(4).is_enough && !masks.hidden(3).is_enough);
    assert_eq!(masks.hidden(3).coalition, 1.0);
    assert_eq!(masks.hidden(2).coalition, 1.0);
    assert!(
        !MaskSettings { colluders: 1, least: 1 }.hidden(2).is_enough,
        "of two each knows the other's part"
    );
}

/// Whether these of so many members are connected by the pairs that share masks.
fn is_connected(of: &[PeerIx], unmasked: &[(PeerIx, PeerIx)]) -> bool {
    let mut reached = vec![of[0]];
    let mut at = 0;
    while let Some(&here) = reached.get(at) {
        at += 1;
        let shares = |&&there: &&PeerIx| !unmasked.contains(&(here.min(there), here.max(there)));
        let more: Vec<PeerIx> =
            of.iter().filter(shares).filter(|it| !reached.contains(it)).copied().collect();
        reached.extend(more);
    }
    reached.len() == of.len()
}

/// By enumeration of all coalitions: whoever watches, the others hide each other in one sum.
#[test]
fn who_shares_no_masks_leaves_nobody_alone() {
    let members: Vec<PeerIx> = (0..8).collect();
    let masks = MaskSettings { colluders: 2, least: 2 };
    let apart = |pairs: &[(PeerIx, PeerIx)]| -> Vec<(PeerIx, PeerIx, u32)> {
        pairs.iter().map(|&(one, other)| (one, other, u32::MAX)).collect()
    };
    let two = [(0, 6), (1, 6), (2, 7), (3, 7), (6, 7)];
    // 6 lacks masks with three, half of the six that watchers leave.
    assert!(masks.unmasked((&members, MaskGraph::Complete), &apart(&two)).is_empty());
    assert_eq!(masks.unmasked((&members, MaskGraph::Complete), &apart(&two[..4])), two[..4]);
    for watchers in 0..8 {
        for other in 0..8 {
            let rest: Vec<PeerIx> = (0..8).filter(|it| *it != watchers && *it != other).collect();
            assert!(is_connected(&rest, &two[..4]), "{watchers} {other}");
        }
    }
    // Those that are apart for a while share masks, and so does who has no seat.
    assert!(masks.unmasked((&members, MaskGraph::Complete), &[(0, 1, 70)]).is_empty());
    assert!(masks.unmasked((&members[..6], MaskGraph::Complete), &apart(&[(0, 6)])).is_empty());
}
