//! Speed of noise and clipping, with ratios to `rand_distr`'s ziggurat over the same cipher in one run.
//!
//! Run with `cargo bench -p murmuration-privacy --bench noise`. Each figure is the best of seven repetitions: other work on the
//! machine can only slow one down.
#![expect(clippy::print_stdout, clippy::disallowed_types, reason = "a benchmark prints times")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::time::Instant;

use privacy::clip::{ClipNorm, norm_squared};
use privacy::mechanisms::discrete::{DiscreteGaussian, DiscreteLaplace, Fraction};
use privacy::mechanisms::{EuclideanLaplace, Exponential, Gaussian, KaryResponse, Laplace};
use privacy::noise::{IntegerNormal, NoiseSource, SystemNoise, mask};
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

const LONG: usize = 1 << 20;

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let threads = rayon::current_num_threads();
    println!("{:<52} {:>12} {:>8}", "what", "M items/s", "ratio");

    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
    let mut singles = vec![0.0_f32; LONG];
    let mut doubles = vec![0.0_f64; LONG];
    let reference = millions_per_second(LONG, || {
        doubles.iter_mut().for_each(|x| *x = StandardNormal.sample(&mut rng));
    });
    row("rand_distr normals over ChaCha20, 1 thread", reference, reference);
    let mut noise = SystemNoise::new().unwrap();
    let report = |name: &str, rate: f64| row(name, rate, reference);
    report("normals f64, 1 thread", timed(&one, LONG, || noise.standard_normals(&mut doubles)));
    report("normals f32, 1 thread", timed(&one, LONG, || noise.standard_normals_f32(&mut singles)));
    let gaussian = Gaussian::new(1e-3, 1.0).unwrap();
    let rate = timed(&one, LONG, || drop(gaussian.release_in_place(&mut singles, &mut noise).unwrap()));
    report("Gaussian::release_in_place f32, 1 thread", rate);
    let rate =
        millions_per_second(LONG, || drop(gaussian.release_in_place(&mut singles, &mut noise).unwrap()));
    report(&format!("Gaussian::release_in_place f32, {threads} threads"), rate);
    let rate = millions_per_second(100_000, || {
        (0..100_000 / 650).for_each(|i| noise.add_normals_f32(&mut singles[i * 650..(i + 1) * 650], 1e-3));
    });
    report("add_normals_f32 on 650 values at a time", rate);
    integers(&one);
    masks(&one);
    clipping();
    others();
}

/// The fast exact sampler of integer noise on one thread, and its ratio to the slow one in the same run.
fn integers(one: &rayon::ThreadPool) {
    println!("{:<52} {:>12} {:>8}", "integer noise, 1 thread", "M items/s", "to slow");
    let mut noise = SystemNoise::new().unwrap();
    let mut out = vec![0_i64; LONG];
    let mut words = vec![0_u32; LONG];
    for parameter in [16_u64, 1_000, 8_388_749, 1 << 40] {
        // The slow sampler takes parameters up to 6·10⁷; its speed hardly depends on them.
        let variance = parameter.min(60_000_000).pow(2);
        let slow = DiscreteGaussian::new(Fraction::new(variance, 1).unwrap(), 1.0).unwrap();
        let zeros = vec![0; 20_000];
        let reference = timed(one, zeros.len(), || drop(slow.release(&zeros, &mut noise)));
        row(&format!("slow exact sampler, parameter {parameter}"), reference, reference);
        let law = IntegerNormal::new(parameter).unwrap();
        let rate = timed(one, LONG, || noise.integer_normals(&law, &mut out));
        row(&format!("integer_normals, parameter {parameter}"), rate, reference);
        let rate = timed(one, LONG, || noise.add_integer_normals_u32(&law, &mut words));
        row(&format!("add_integer_normals_u32, parameter {parameter}"), rate, reference);
    }
}

/// Masks of seven pairs, one after the other and in one pass.
fn masks(one: &rayon::ThreadPool) {
    println!("{:<52} {:>12} {:>8}", "masks, 1 thread", "M words/s", "to apart");
    let keys: Vec<[u8; 32]> = (1..=7).map(|byte| [byte; 32]).collect();
    let streams: Vec<_> = keys.iter().enumerate().map(|(at, key)| (key, at % 2 == 0)).collect();
    let mut words = vec![0_u32; LONG];
    let apart = timed(one, 7 * LONG, || keys.iter().for_each(|key| mask::add_stream_u32(key, &mut words)));
    row("seven streams, one after the other", apart, apart);
    let together = timed(one, 7 * LONG, || mask::combine_streams_u32(&streams, &mut words));
    row("seven streams in one pass", together, apart);
}

fn clipping() {
    let clip = ClipNorm::new(1.0).unwrap();
    for (name, width) in [("650 (softmax on digits)", 650), ("101,770 (perceptron)", 101_770)] {
        let mut rows = vec![0.01_f32; LONG / width * width];
        let rate = millions_per_second(rows.len(), || {
            std::hint::black_box(rows.chunks(width).map(norm_squared).sum::<f64>());
        });
        println!("{:<52} {rate:>12.1}", format!("norm of rows of {name}"));
        let rate = millions_per_second(rows.len(), || {
            rows.chunks_mut(width).for_each(|row| row[0] = 1.0);
            clip.clip_examples(&mut rows, width);
        });
        println!("{:<52} {rate:>12.1}", format!("clip rows of {name}"));
    }
}

fn others() {
    let mut noise = SystemNoise::new().unwrap();
    let n = 20_000;
    let mut report = |name: &str, run: &mut dyn FnMut(&mut SystemNoise)| {
        let rate = millions_per_second(n, || run(&mut noise));
        println!("{name:<52} {rate:>12.2}");
    };
    let laplace = Laplace::new(1.0, 1.0).unwrap();
    report("Laplace", &mut |noise| drop(laplace.release(&vec![0.0; n], noise).unwrap()));
    let euclidean = EuclideanLaplace::new(1.0, 1.0).unwrap();
    report("Laplace in R^20000, per coordinate", &mut |noise| {
        drop(euclidean.release(&vec![0.0; n], noise).unwrap());
    });
    let exponential = Exponential::new(1.0, 1.0).unwrap();
    report("exponential, per candidate", &mut |noise| {
        drop(exponential.release(&vec![0.0; n], noise).unwrap())
    });
    let response = KaryResponse::new(1.0, 10).unwrap();
    report("randomized response of 10", &mut |noise| {
        (0..n).for_each(|i| drop(response.release(i % 10, noise).unwrap()));
    });
    for sigma in [1_u64, 100, 1_000_000] {
        let mechanism = DiscreteGaussian::new(Fraction::new(sigma * sigma, 1).unwrap(), 1.0).unwrap();
        report(&format!("discrete Gaussian, sigma {sigma}"), &mut |noise| {
            drop(mechanism.release(&vec![0; n], noise))
        });
    }
    let mechanism = DiscreteLaplace::new(Fraction::new(100, 1).unwrap(), 1.0).unwrap();
    report("discrete Laplace, scale 100", &mut |noise| drop(mechanism.release(&vec![0; n], noise)));
}

fn row(name: &str, rate: f64, reference: f64) {
    println!("{name:<52} {rate:>12.1} {:>8.2}", rate / reference);
}

fn timed(pool: &rayon::ThreadPool, items: usize, mut run: impl FnMut() + Send) -> f64 {
    pool.install(|| millions_per_second(items, &mut run))
}

fn millions_per_second(items: usize, mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..10).for_each(|_| run());
        start.elapsed().as_secs_f64() / 10.0
    };
    let best = (0..7).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min);
    items as f64 / best / 1e6
}
