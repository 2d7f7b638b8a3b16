//! The list of what an inspection must find, and whom it must never name.

use privacy::clip::ClipNorm;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize};
use privacy::noise::danger_from_seed;

use super::*;

const K: usize = 32;
const T: f64 = 20.7;

/// The noise of small contributions: parameter s = 40 steps at least.
fn mechanism(dimension: usize) -> GridGaussian {
    let load = Load { nodes: 8, dimension, noise_multiplier: 2.0, largest: 1, steps_at_most: Some(200) };
    let grid = Grid::new(WordSize::Bits32, load, ClipNorm::new(1.0).unwrap()).unwrap();
    GridGaussian::with_multiplier(grid, 2.0, grid.sensitivity(1.0)).unwrap()
}

fn yardstick(mechanism: &GridGaussian, dimension: usize) -> Yardstick {
    let longest = mechanism.grid().steps() as f64 + (dimension as f64).sqrt();
    Yardstick::new(WordSize::Bits32, (K as u64, dimension as u64), (longest, mechanism.noise() as f64), T)
        .unwrap()
}

fn seed(number: u32) -> [u8; 32] {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    seed
}

/// A round of eight: words of all, with streams, and what honest members open.
struct Round {
    rows: Rows,
    words: BTreeMap<PeerIx, Words>,
    openings: BTreeMap<PeerIx, Opening>,
    yardstick: Yardstick,
}

const D: usize = 300;

/// What each adds to honest noise: `lie(member, place)`.
fn round_with(lie: impl Fn(PeerIx, usize) -> i64, number: u32) -> Round {
    let mechanism = mechanism(D);
    let members: Vec<PeerIx> = vec![0, 1, 3, 4, 5, 7, 8, 9];
    let rows = Rows::new(&seed(number), K, D).unwrap();
    let mut all = BTreeMap::new();
    let mut openings = BTreeMap::new();
    let noise = &mut danger_from_seed(u64::from(number), "inspection");
    for &member in &members {
        let mut words = mechanism.noise_alone(D + K, noise).into_words();
        let lies = (0..D + K).map(|place| if place < D { lie(member, place) } else { 0 });
        words.add(&Words::of(WordSize::Bits32, lies)).unwrap();
        let mut pairs = BTreeMap::new();
        for &other in members.iter().filter(|other| **other != member) {
            let mut key = [0; 32];
            (key[0], key[1], key[2]) = (member.min(other) as u8, member.max(other) as u8, number as u8);
            let mut stream = Words::zeros(WordSize::Bits32, D + K);
            stream.add_mask(&key);
            if member < other {
                words.add(&stream).unwrap()
            } else {
                words.subtract(&stream).unwrap()
            }
            pairs.insert(other, rows.project(&stream).unwrap());
        }
        openings.insert(member, Opening { own: rows.project(&words).unwrap(), pairs });
        all.insert(member, words);
    }
    Round { rows, words: all, openings, yardstick: yardstick(&mechanism, D) }
}

impl Round {
    fn look(&self) -> Finding {
        look(&self.openings, &self.yardstick)
    }
}

fn named(members: &[PeerIx]) -> Finding {
    Finding { named: members.iter().copied().collect(), ..Finding::default() }
}

/// The largest length that is believed, in steps.
fn longest() -> f64 {
    let mechanism = mechanism(D);
    let longest = mechanism.grid().steps() as f64 + (D as f64).sqrt();
    privacy::network::inspection::length_squared(longest, mechanism.noise() as f64, D as u64, T).sqrt()
}

/// By theory an honest contribution is named with probability at most 4e^(−20.7) = 4·10⁻⁹: one of 10⁵ with 4·10⁻⁴. Half of them are as long as they may be.
#[test]
fn of_a_hundred_thousand_honest_contributions_none_is_named() {
    let dimension = 64;
    let mechanism = mechanism(dimension);
    let yardstick = yardstick(&mechanism, dimension);
    let noise = &mut danger_from_seed(3, "honest");
    let steps = mechanism.grid().steps() as i64;
    let mut longest: f64 = 0.0;
    for draw in 0..1_000 {
        let rows = Rows::new(&seed(draw), K, dimension).unwrap();
        for at in 0..100 {
            let mut words = mechanism.noise_alone(dimension + K, noise).into_words();
            let place = at % dimension;
            let all = (0..dimension + K).map(|it| if it == place && at % 2 == 0 { steps } else { 0 });
            words.add(&Words::of(WordSize::Bits32, all)).unwrap();
            let projections = rows.project(&words).unwrap();
            assert!(!yardstick.is_passed_by(&projections), "draw {draw}, member {at}");
            longest = longest.max(projections.centred().map(|x| (x * x) as f64).sum());
        }
    }
    // The bound is not far off: it has room for what happens once in 10⁹.
    assert!(longest > 0.15 * yardstick.most, "{longest} of {}", yardstick.most);
}

#[test]
fn an_honest_round_is_clean() {
    assert!((0..3).all(|number| round_with(|_, _| 0, number).look().eq(&Finding::default())));
}

/// Of length 4ℓ: passes with probability 10⁻⁶.
#[test]
fn a_huge_vector_is_named_alone_or_shared() {
    let each = (4.0 * longest() / (D as f64).sqrt()).ceil() as i64;
    assert_eq!(round_with(|member, _| if member == 4 { each } else { 0 }, 5).look(), named(&[4]));
    let shared = |member: PeerIx, place: usize| match member {
        1 | 5 | 9 if place.is_multiple_of(2) => 2 * each,
        1 | 5 | 9 => -each,
        _ => 0,
    };
    assert_eq!(round_with(shared, 6).look(), named(&[1, 5, 9]));
}

/// Rows of ±1 would never see it: 2³¹ ± 2³¹ is 0. Here each row sees it with probability one half.
#[test]
fn half_the_ring_in_two_coordinates_is_named() {
    let lie =
        |member: PeerIx, place: usize| if member == 8 && (place == 10 || place == 77) { 1 << 31 } else { 0 };
    for number in 0..10 {
        assert_eq!(round_with(lie, number).look(), named(&[8]));
    }
}

#[test]
fn a_false_pair_word_is_seen_and_who_does_not_open_is_not_named() {
    let mut false_pair = round_with(|_, _| 0, 2);
    let one = Words::of(WordSize::Bits32, (0..K).map(|at| i64::from(at == 3)));
    let opening = false_pair.openings.get_mut(&7).unwrap();
    opening.pairs.get_mut(&3).unwrap().add(&one).unwrap();
    assert_eq!(false_pair.look().disputed, [(3, 7)].into());
    assert!(false_pair.look().named.is_empty(), "one step more is no length");

    let mut silent = round_with(|_, _| 0, 3);
    silent.openings.remove(&5);
    assert_eq!(silent.look(), Finding::default());
}

/// Parts of a vector have projections that add up to that of the whole, wherever they begin and end.
#[test]
fn projections_of_parts_add_up() {
    let round = round_with(|_, _| 0, 4);
    for words in round.words.values() {
        let Words::Narrow(all) = words else { panic!("narrow") };
        for cut in [0, 1, 64, 150, D, D + 5, D + K] {
            let bytes: Vec<u8> = all[cut..].iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut sum = round.rows.project_part(&Words::Narrow(all[..cut].to_vec()), 0);
            sum.add(&round.rows.project_bytes(WordSize::Bits32, cut, &bytes)).unwrap();
            assert_eq!(Some(sum), round.rows.project(words), "{cut}");
        }
    }
    // What stands behind has no direction, and nothing is read beyond.
    let nothing = Words::zeros(WordSize::Bits32, K);
    assert_eq!(round.rows.project_part(&Words::of(WordSize::Bits32, [7, 8]), D + K), nothing);
    assert_eq!(round.rows.project_part(&Words::of(WordSize::Bits32, [7, 8]), 10 * D), nothing);
}

/// Who hides a huge vector in a false pair word of somebody else is disputed by that one; the honest end is not named.
#[test]
fn a_huge_vector_behind_a_false_pair_word_is_a_dispute() {
    let each = (4.0 * longest() / (D as f64).sqrt()).ceil() as i64;
    let mut round = round_with(|member, _| if member == 4 { each } else { 0 }, 5);
    let hidden = Words::of(WordSize::Bits32, (0..D + K).map(|at| if at < D { each } else { 0 }));
    let hidden = round.rows.project(&hidden).unwrap();
    let opening = round.openings.get_mut(&4).unwrap();
    opening.pairs.get_mut(&8).unwrap().add(&hidden).unwrap();
    assert_eq!(round.look(), Finding { disputed: [(4, 8)].into(), ..Finding::default() });
}

/// `passes` of the reference vectors: a vector of length 2ℓ over many coordinates passes with probability 0.3565. Of 2,000 draws 713, deviation 21.4: beyond five of
/// them with probability 6·10⁻⁷; one per cent of slack for 1,000 coordinates instead of many.
#[test]
fn what_is_twice_as_long_passes_as_often_as_theory_says() {
    let (dimension, ratio) = (1_000, 2.0);
    let expected = privacy::network::inspection::passes(K as u64, ratio, T).unwrap();
    let edge = privacy::network::inspection::edge(K as u64, T).unwrap();
    let each = 1_000_i64;
    let length2 = dimension as f64 * (each * each) as f64;
    let limit = edge / 2.0 * length2 / (ratio * ratio);
    let yardstick = Yardstick::of_most(WordSize::Bits64, K, limit);
    let words =
        Words::of(WordSize::Bits64, (0..dimension + K).map(|at| if at < dimension { each } else { 0 }));
    let passed = (0..2_000).filter(|&draw| {
        let rows = Rows::new(&seed(draw), K, dimension).unwrap();
        !yardstick.is_passed_by(&rows.project(&words).unwrap())
    });
    let part = passed.count() as f64 / 2_000.0;
    assert!((part - expected).abs() < 5.0 * (expected * (1.0 - expected) / 2_000.0).sqrt() + 0.01, "{part}");
}

/// Against a plain matrix, entry by entry, in both sizes.
#[test]
fn projections_are_products_with_the_rows() {
    let dimension = 130;
    let rows = Rows::new(&seed(1), 5, dimension).unwrap();
    for size in [WordSize::Bits32, WordSize::Bits64] {
        let unit = |at: usize| Words::of(size, (0..dimension + 5).map(|it| i64::from(it == at)));
        let columns: Vec<Vec<i64>> =
            (0..dimension + 5).map(|at| rows.project(&unit(at)).unwrap().centred().collect()).collect();
        assert!(columns.iter().flatten().all(|entry| (-1..=1).contains(entry)));
        assert!((0..5).all(|row| (0..5).all(|at| columns[dimension + at][row] == i64::from(at == row))));
        let values = |at: usize| (at as i64 - 60) * 3;
        let words = Words::of(size, (0..dimension + 5).map(values));
        let expected: Vec<i64> =
            (0..5).map(|row| (0..dimension + 5).map(|at| columns[at][row] * values(at)).sum()).collect();
        assert_eq!(rows.project(&words).unwrap().centred().collect::<Vec<_>>(), expected);
        assert!(rows.project(&Words::zeros(size, dimension)).is_none());
    }
    // Half are zeros, a quarter each ±1: 650 entries, beyond 5 deviations with probability below 10⁻⁶.
    let zeros = (0..dimension).flat_map(|at| {
        let unit = Words::of(WordSize::Bits64, (0..dimension + 5).map(|it| i64::from(it == at)));
        rows.project(&unit).unwrap().centred().collect::<Vec<_>>()
    });
    let zeros = zeros.filter(|entry| *entry == 0).count() as f64;
    assert!((zeros - 325.0).abs() < 5.0 * 650_f64.sqrt() / 2.0, "{zeros}");
}

#[test]
fn seeds_make_other_rows_and_bad_sizes_are_refused() {
    let words = Words::of(WordSize::Bits32, 0..(D + K) as i64);
    let rows = |number| Rows::new(&seed(number), K, D).unwrap().project(&words).unwrap();
    assert_eq!(rows(1), rows(1));
    assert_ne!(rows(1), rows(2));
    assert_eq!(Rows::new(&seed(1), 0, 5).err(), Some(RowsError::TooMany { directions: 0, dimension: 5 }));
    assert_eq!(Rows::new(&seed(1), 5, 5).err(), Some(RowsError::TooMany { directions: 5, dimension: 5 }));
}
