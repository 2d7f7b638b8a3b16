//! The law against exact probabilities, to the far tail; every way to make it against the plainest.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::curve::Point;
use super::*;
use crate::mechanisms::discrete::{DiscreteGaussian, Fraction};
use crate::mechanisms::testing::assert_counts_follow;
use crate::noise::{NoiseSource, danger_from_seed};

const MANY: usize = 4_000_000;

fn samples(parameter: u64, many: usize, seed: u64) -> Vec<i64> {
    let mut out = vec![0; many];
    let law = IntegerNormal::new(parameter).unwrap();
    danger_from_seed(seed, "integers").integer_normals(&law, &mut out);
    out
}

fn mass(parameter: u64, x: i64) -> f64 {
    libm::exp(-0.5 * (x as f64 / parameter as f64).powi(2))
}

/// Probability of each of the cells that begin at `edges`, the first and last being open.
fn probabilities(parameter: u64, edges: &[i64]) -> Vec<f64> {
    let far = 40 * parameter as i64;
    let total: f64 = (-far..=far).map(|x| mass(parameter, x)).sum();
    let ends = edges.iter().copied().chain([far]).collect::<Vec<_>>();
    let begins = [-far].into_iter().chain(edges.iter().copied()).collect::<Vec<_>>();
    begins
        .iter()
        .zip(ends)
        .map(|(&from, to)| (from..to).map(|x| mass(parameter, x)).sum::<f64>() / total)
        .collect()
}

fn counts(samples: &[i64], edges: &[i64]) -> Vec<u64> {
    let mut counts = vec![0; edges.len() + 1];
    samples.iter().for_each(|&x| counts[edges.partition_point(|&edge| edge <= x)] += 1);
    counts
}

#[test]
fn every_integer_has_its_exact_probability() {
    // Chi-square, false alarm 1e-4 each. All integers to 3.5 or four parameters on either side, so both sides of every cell's edge.
    for (parameter, reach, seed) in
        [(16, 64, 1), (17, 68, 2), (23, 92, 3), (31, 124, 4), (32, 128, 5), (45, 180, 6), (200, 700, 7)]
    {
        let edges: Vec<i64> = (-reach..=reach).collect();
        let found = counts(&samples(parameter, MANY, seed), &edges);
        assert_counts_follow(&found, &probabilities(parameter, &edges));
    }
}

#[test]
fn large_parameters_follow_the_normal_curve() {
    // The discrete and the continuous distribution function differ by less than 1/s here. False alarm 1e-4 each.
    for (parameter, seed) in [(1_000_003, 11), ((1 << 40) + 12_345, 12), (IntegerNormal::LARGEST, 13)] {
        let edges: Vec<i64> =
            (-400..=400).map(|i| (f64::from(i) / 100.0 * parameter as f64) as i64).collect();
        let below: Vec<f64> = (edges.iter())
            .map(|&x| crate::mechanisms::testing::normal_cdf((x as f64 - 0.5) / parameter as f64))
            .collect();
        let expected: Vec<f64> = (0..=below.len())
            .map(|i| below.get(i).unwrap_or(&1.0) - if i == 0 { 0.0 } else { below[i - 1] })
            .collect();
        assert_counts_follow(&counts(&samples(parameter, MANY, seed), &edges), &expected);
    }
}

#[test]
fn low_digits_are_uniform_at_large_parameters() {
    let parameter = 3 << 40;
    for (shift, seed) in [(0, 21), (16, 22), (32, 23)] {
        let mut counts = [0; 256];
        samples(parameter, MANY / 4, seed).iter().for_each(|x| counts[(x >> shift & 0xff) as usize] += 1);
        assert_counts_follow(&counts, &[1.0 / 256.0; 256]);
    }
}

#[test]
fn the_tails_have_their_weight_up_to_five_parameters() {
    // Binomial counts of 4·10⁷ samples on either side, 4.9 standard deviations (the rarest expects 11): false alarm below 1e-4 in all.
    for (parameter, seed) in [(16, 31), (1000, 32)] {
        let many = 10 * MANY;
        let xs = samples(parameter, many, seed);
        for threshold in [2.0, 3.0, 4.0, 4.2, 4.25, 4.3, 4.5, 5.0] {
            let from = (threshold * parameter as f64) as i64;
            let p = probabilities(parameter, &[from])[1];
            let above = xs.iter().filter(|&&x| x >= from).count() as f64;
            let below = xs.iter().filter(|&&x| x <= -from).count() as f64;
            let expected = many as f64 * p;
            for count in [above, below] {
                assert!(
                    (count - expected).abs() < 4.9 * expected.sqrt() + 2.0,
                    "{threshold}: {count} {expected}"
                );
            }
        }
    }
}

#[test]
fn the_far_tail_has_its_law_up_to_seven_parameters() {
    // What one sample in 47,000 is drawn from, by itself: all integers beyond the cells, false alarm 1e-4.
    for (parameter, seed) in [(16_u64, 41), (29, 42), (100, 43)] {
        let table = Table::new(Curve::new(parameter));
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let mut more = || random.next_u64();
        for negative in [false, true] {
            let tail: Vec<i64> = (0..MANY).filter_map(|_| table.tail(negative, &mut more)).collect();
            let begins = tail.iter().map(|x| x.abs()).min().unwrap();
            assert!(tail.iter().all(|&x| (x < 0) == negative));
            let width = parameter as i64 / 16;
            let edges: Vec<i64> =
                (1..).map(|i| begins + i * width).take_while(|&x| x < 7 * parameter as i64).collect();
            let all = probabilities(parameter, &[&[begins][..], &edges].concat());
            let beyond: f64 = all[1..].iter().sum();
            let expected: Vec<f64> = all[1..].iter().map(|p| p / beyond).collect();
            let sizes: Vec<i64> = tail.iter().map(|x| x.abs()).collect();
            // Cells that expect fewer than five are one.
            let few = expected.iter().position(|p| p * (tail.len() as f64) < 5.0).unwrap_or(expected.len());
            let merge = |xs: &[f64]| -> Vec<f64> { [&xs[..few - 1], &[xs[few - 1..].iter().sum()]].concat() };
            let found: Vec<u64> =
                merge(&counts(&sizes, &edges).iter().map(|&c| c as f64).collect::<Vec<_>>())
                    .iter()
                    .map(|&c| c as u64)
                    .collect();
            assert!(edges[few - 2] > 6 * parameter as i64, "the test reaches six parameters");
            assert_counts_follow(&found, &merge(&expected));
            // Tail and cells weigh each other as the law says: acceptance is the tail's mass over that of its box.
            let accepted = tail.len() as f64 / MANY as f64;
            let box_mass = table.mass_of_a_box();
            let total: f64 =
                (-40 * parameter as i64..=40 * parameter as i64).map(|x| mass(parameter, x)).sum();
            let p = beyond * total / box_mass;
            assert!((accepted - p).abs() < 4.9 * (p * (1.0 - p) / MANY as f64).sqrt(), "{accepted} {p}");
        }
    }
}

#[test]
fn the_fast_sampler_has_the_law_of_the_slow_one() {
    // Two samples, one chi-square: counts of the slow sampler given the sums of both; false alarm 1e-4.
    for (parameter, seed) in [(16_u64, 51), (40, 52)] {
        let slow = DiscreteGaussian::new(Fraction::new(parameter * parameter, 1).unwrap(), 1.0).unwrap();
        let slow = slow.release(&vec![0; 400_000], &mut danger_from_seed(seed, "slow")).value;
        let fast = samples(parameter, 400_000, seed);
        let edges: Vec<i64> = (-3 * parameter as i64..=3 * parameter as i64).step_by(2).collect();
        let (a, b) = (counts(&slow, &edges), counts(&fast, &edges));
        let chi2: f64 = a.iter().zip(&b).map(|(&a, &b)| (a as f64 - b as f64).powi(2) / (a + b) as f64).sum();
        let freedom = edges.len() as f64;
        let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.719 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
        assert!(chi2 < limit, "{chi2} against {limit}");
    }
}

#[test]
fn samples_are_the_same_if_integers_decide_everything() {
    for parameter in [16, 1000, (1 << 44) + 7] {
        let quick = Table::new(Curve::new(parameter));
        let by_integers = Table::new(Curve { margin: f64::INFINITY, ..Curve::new(parameter) });
        let words: Vec<u64> = {
            let mut random = ChaCha20Rng::seed_from_u64(parameter);
            (0..40_000).map(|_| random.next_u64()).collect()
        };
        let [first, second] = [quick, by_integers].map(|table| {
            let mut more = ChaCha20Rng::seed_from_u64(9);
            let out: Vec<i64> =
                words.iter().map(|&word| table.careful(word, &mut || more.next_u64())).collect();
            (out, more.next_u64())
        });
        assert_eq!(first, second, "{parameter}");
    }
}

#[test]
fn a_double_that_decides_decides_as_integers_do_also_next_to_the_curve() {
    let mut random = ChaCha20Rng::seed_from_u64(61);
    let (mut decided, mut open) = (0, 0);
    for parameter in [16_u64, 1000, 1 << 40, IntegerNormal::LARGEST] {
        let curve = Curve::new(parameter);
        for i in 0..4_000 {
            let x = random.next_u64() % (5 * parameter);
            let boxes = 150.0 * curve.double(x);
            // From a twelfth of a box off down to below the margin.
            let off =
                (0.5 - (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64) / (1_u64 << (i % 35)) as f64;
            let height = (boxes + off).clamp(0.0, 149.9);
            let part = (height.fract() * 2f64.powi(64)) as u64;
            let point = Point { x, level: height as u32, part, height: 150, doublings: 0 };
            match curve.is_above_by_double(point) {
                Some(answer) => {
                    decided += 1;
                    assert_eq!(answer, exact::is_above(&curve, point, &mut || 1 << 63), "{x} of {parameter}");
                }
                None => open += 1,
            }
        }
    }
    assert!(decided > 10_000 && open > 1_000, "{decided} {open}");
}

#[test]
fn every_processor_makes_the_same_samples_as_the_plain_loop() {
    struct Quick<'a>(&'a Table, &'a [u64], &'a mut [i64], &'a mut [u16; SAMPLES]);
    impl pulp::NullaryFnOnce for Quick<'_> {
        type Output = usize;
        #[inline(always)]
        fn call(self) -> usize {
            self.0.quick(self.1, self.2, self.3)
        }
    }
    let table = Table::new(Curve::new(1_234_567));
    let mut random = ChaCha20Rng::seed_from_u64(71);
    for length in (0..40).chain([SAMPLES - 1, SAMPLES]) {
        let words: Vec<u64> = (0..length).map(|_| random.next_u64()).collect();
        let run = |way: &dyn Fn(Quick<'_>) -> usize| {
            let (mut out, mut unsure) = (vec![0; length], [0; SAMPLES]);
            let count = way(Quick(&table, &words, &mut out, &mut unsure));
            (out, unsure[..count].to_vec())
        };
        let plain = run(&|quick| pulp::NullaryFnOnce::call(quick));
        assert_eq!(run(&|quick| pulp::Arch::new().dispatch(quick)), plain);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = pulp::x86::V3::try_new() {
                assert_eq!(run(&|quick| simd.vectorize(quick)), plain, "AVX2");
            }
            if let Some(simd) = pulp::x86::V4::try_new() {
                assert_eq!(run(&|quick| simd.vectorize(quick)), plain, "AVX-512");
            }
        }
    }
}

#[test]
fn words_get_the_very_integers_that_a_fill_gives() {
    let law = IntegerNormal::new(1 << 33).unwrap();
    let (mut fill, mut short, mut long) = (vec![0; 20_000], vec![7_u32; 20_000], vec![7_u64; 20_000]);
    danger_from_seed(81, "integers").integer_normals(&law, &mut fill);
    danger_from_seed(81, "integers").add_integer_normals_u32(&law, &mut short);
    danger_from_seed(81, "integers").add_integer_normals_u64(&law, &mut long);
    for ((&noise, &short), &long) in fill.iter().zip(&short).zip(&long) {
        assert_eq!(short, (noise as u32).wrapping_add(7));
        assert_eq!(long, (noise as u64).wrapping_add(7));
    }
}

#[test]
fn neighbouring_samples_are_uncorrelated_in_value_and_in_square() {
    // Means of products of independent standardised values: n^(-1/2) each, 4.9 of them, false alarm 4e-6.
    let xs: Vec<f64> = samples(1 << 20, MANY, 91).iter().map(|&x| x as f64 / f64::from(1 << 20)).collect();
    let n = (xs.len() - 1) as f64;
    let product: f64 = xs.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n.sqrt();
    let squares: f64 =
        xs.windows(2).map(|w| (w[0] * w[0] - 1.0) * (w[1] * w[1] - 1.0) / 2.0).sum::<f64>() / n.sqrt();
    assert!(product.abs() < 4.9 && squares.abs() < 4.9, "{product} {squares}");
}

#[test]
fn parameters_outside_the_limits_are_refused_with_a_hint() {
    for parameter in [0, 1, 15, IntegerNormal::LARGEST + 1, u64::MAX] {
        let error = IntegerNormal::new(parameter).unwrap_err();
        assert!(
            error.to_string().contains(&format!("`{parameter}`")) && topology::Hint::hint(&error).is_some()
        );
    }
    assert_eq!(IntegerNormal::new(16).unwrap().parameter(), 16);
}
