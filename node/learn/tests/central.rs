//! Central DP-SGD: the accuracy that the reference table promises, and the account that goes with it.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

mod recipes;

use learn::calibrate;
use learn::gradient::SamplingRate;
use learn::metrics::accuracy;
use learn::model::{SoftmaxRegression, predict};
use learn::optimiser::{OptimiserSpec, StepSizes};
use learn::train::Training;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::{NoiseSource, danger_from_seed};
use recipes::{DELTA, Recipe};

fn mean_accuracy(epsilon: f64) -> f64 {
    let recipe = Recipe::named("digits");
    (0..recipe.seeds).map(|seed| recipe.accuracy(epsilon, seed).unwrap()).sum::<f64>() / recipe.seeds as f64
}

#[test]
fn softmax_on_digits_reaches_95_percent_and_loses_at_most_5_points_at_epsilon_2() {
    let (plain, private) = (mean_accuracy(f64::INFINITY), mean_accuracy(2.0));
    println!("digits: {plain:.4} without noise, {private:.4} at ε = 2");
    assert!(plain >= 0.95, "{plain}");
    assert!(private >= plain - 0.05, "{private} against {plain}");
}

#[test]
fn the_calibrated_noise_meets_its_target_and_a_little_less_does_not() {
    let training = training(0.1, 200);
    for rate in [1.0, 0.05] {
        let training = Training { rate: SamplingRate::new(rate).unwrap(), ..training };
        let found = calibrate::noise_multiplier(&training, 1_000, 2.0, DELTA).unwrap();
        let cost = |noise_multiplier: f64| {
            calibrate::epsilon(&Training { noise_multiplier, ..training }.event(1_000), DELTA).unwrap()
        };
        assert!(cost(found) <= 2.0 && cost(found * 0.995) > 2.0, "rate {rate}: {}", cost(found));
    }
}

#[test]
fn the_event_of_a_training_is_that_of_its_releases() {
    let data = learn::data::digits();
    let model = SoftmaxRegression::new(64, 10).unwrap();
    let training =
        Training { noise_multiplier: 1.5, rate: SamplingRate::new(0.1).unwrap(), ..training(0.1, 7) };
    let mut noise = danger_from_seed(1, "central");
    let trained = training.run(&model, vec![0.0; 650], &data, &mut noise).unwrap();
    assert_eq!(trained.event, training.event(data.len()));
    // Seeded noise protects nobody, and the result says so.
    assert!(!trained.is_private && !noise.is_private());

    let without = Training { noise_multiplier: 0.0, ..training };
    let trained = without.run(&model, vec![0.0; 650], &data, &mut noise).unwrap();
    assert!(matches!(trained.event, DpEvent::Composed { event, count: 7 } if *event == DpEvent::NonPrivate));
}

#[test]
fn a_training_repeats_bit_for_bit_from_its_seed() {
    let data = learn::data::digits();
    let model = SoftmaxRegression::new(64, 10).unwrap();
    let training =
        Training { noise_multiplier: 1.0, rate: SamplingRate::new(0.3).unwrap(), ..training(0.1, 5) };
    let run = |seed: u64, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut noise = danger_from_seed(seed, "central");
        pool.install(|| training.run(&model, vec![0.0; 650], &data, &mut noise).unwrap().params)
    };
    assert_eq!(run(1, 1), run(1, 3));
    assert_ne!(run(1, 1), run(2, 1));
    assert_eq!(predict(&model, &run(1, 1), &data).unwrap().labels().unwrap().len(), data.len());
    assert!(accuracy(&[1, 0], &[1, 1]).unwrap() == 0.5);
}

#[test]
fn noise_on_a_release_has_the_deviation_that_the_event_stands_for() {
    use learn::gradient::{PoissonSampler, Workspace};
    use learn::model::Mean;
    let data = learn::data::Dataset::new(vec![0.0; 4 * 20_000], 20_000, learn::data::Targets::None).unwrap();
    let model = Mean::new(20_000).unwrap();
    let mut noise = danger_from_seed(3, "noise");
    let sample = PoissonSampler::new(SamplingRate::ALL, 4).draw(&mut noise);
    let clip = ClipNorm::new(0.5).unwrap();
    let sum = Workspace::new(&model).clipped_sum(&vec![0.0; 20_000], &data, sample, clip).unwrap();
    let deviation = sum.noise_deviation(3.0);
    assert!((deviation / 1.5 - 1.0).abs() < 1e-3, "3·C plus the rounding slack: {deviation}");
    let (shareable, event) = sum.release(3.0, &mut noise).unwrap();
    assert_eq!(event, DpEvent::Gaussian { noise_multiplier: 3.0 });
    let square = shareable.values().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 20_000.0;
    // The mean over four records: deviation/4. Its square is known to 1 %: five standard errors are 5 %.
    assert!((square.sqrt() / (deviation / 4.0) - 1.0).abs() < 0.025, "{}", square.sqrt());
}

fn training(clip: f64, steps: u64) -> Training {
    Training {
        steps,
        rate: SamplingRate::ALL,
        clip: ClipNorm::new(clip).unwrap(),
        noise_multiplier: 0.0,
        schedule: StepSizes::Constant { step_size: 1.0 },
        optimiser: OptimiserSpec::Sgd { radius: None },
        average: false,
    }
}
