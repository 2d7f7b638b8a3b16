//! The classical facts about mechanisms, one test each, by simulation through the public interface.
//!
//! Seeds are fixed. Tolerances are 4.9 standard deviations of the statistic (two-sided, a false alarm once in a
//! million seeds) unless a line says otherwise.

use privacy::accountant::{Accountant, classic_advanced_epsilon};
use privacy::event::DpEvent;
use privacy::gdp;
use privacy::mechanisms::{
    EuclideanLaplace, Exponential, Gaussian, KaryResponse, Laplace, RandomizedResponse,
};
use privacy::noise::{NoiseSource, danger_from_seed};
use privacy::rdp::RdpAccountant;

const SIGMAS: f64 = 4.9;

/// Mean of the values and the standard error of that mean, both from the sample.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn assert_mean(values: &[f64], expected: f64, what: &str) {
    let (mean, error) = mean_and_error(values);
    assert!((mean - expected).abs() < SIGMAS * error, "{what}: {mean} ± {error}, expected {expected}");
}

/// "Laplace: scale Δ₁/ε per coordinate; expected ℓ₁ error K·Δ₁/ε for K coordinates" (with equality).
#[test]
fn the_expected_l1_error_of_laplace_is_k_delta_over_epsilon() {
    let (coordinates, epsilon, sensitivity) = (20, 0.5, 3.0);
    let laplace = Laplace::calibrated(epsilon, sensitivity).unwrap();
    let mut noise = danger_from_seed(1, "classical");
    let errors: Vec<f64> = (0..5_000)
        .map(|_| {
            let release = laplace.release(&vec![0.0; coordinates], &mut noise).unwrap();
            release.value.iter().map(|x| x.abs()).sum()
        })
        .collect();
    let expected = coordinates as f64 * sensitivity / epsilon;
    assert_eq!(laplace.expected_error(coordinates), expected);
    assert_mean(&errors, expected, "Laplace error");
}

/// "With probability 1 − β the ℓ_∞ error is below σ√(2 ln(2K/β))."
#[test]
fn the_largest_error_of_the_gaussian_exceeds_its_bound_at_most_as_often_as_stated() {
    let gaussian = Gaussian::new(2.0, 1.0).unwrap();
    for (coordinates, beta) in [(1, 0.2), (10, 0.1), (1000, 0.05)] {
        let bound = gaussian.error_bound(coordinates, beta).unwrap();
        assert!((bound - 2.0 * (2.0 * (2.0 * coordinates as f64 / beta).ln()).sqrt()).abs() < 1e-12);
        let mut noise = danger_from_seed(2, "classical");
        let trials = 2_000.0;
        let failures = (0..2_000)
            .filter(|_| {
                let release = gaussian.release(&vec![0.0; coordinates], &mut noise).unwrap();
                release.value.iter().any(|x| x.abs() >= bound)
            })
            .count() as f64;
        let limit = beta * trials + SIGMAS * (trials * beta * (1.0 - beta)).sqrt();
        assert!(failures < limit, "{coordinates}, {beta}: {failures} of {trials}");
        // The union bound is not vacuous: it is within a factor of twenty of the truth.
        let exact = 1.0 - (1.0 - 2.0 * privacy::special::normal_cdf(-bound / 2.0)).powi(coordinates as i32);
        assert!(exact <= beta && exact > beta / 20.0, "{coordinates}, {beta}: {exact}");
    }
}

/// "Gaussian, exact: δ = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ)", against the definition of δ: the expectation of
/// (1 − e^(ε − L))₊ over the privacy loss L of real releases.
#[test]
fn the_exact_curve_of_the_gaussian_is_the_expectation_that_defines_delta() {
    let gaussian = Gaussian::new(1.5, 1.0).unwrap();
    let release = gaussian.release(&vec![0.0; 400_000], &mut danger_from_seed(3, "classical")).unwrap();
    for epsilon in [0.0_f64, 0.5, 1.0] {
        // The loss of output x between inputs 0 and Δ = 1.
        let terms: Vec<f64> = release
            .value
            .iter()
            .map(|x| {
                let loss = ((x - 1.0).powi(2) - x * x) / (2.0 * 1.5 * 1.5);
                (1.0 - (epsilon - loss).exp()).max(0.0)
            })
            .collect();
        assert_mean(&terms, gdp::delta(1.0 / 1.5, epsilon).unwrap(), "delta");
    }
}

/// "Exponential: Pr[o] ∝ exp(ε s(o)/(2Δ(s)))."
#[test]
fn the_exponential_mechanism_prefers_a_better_candidate_by_the_stated_odds() {
    let mechanism = Exponential::new(1.0, 2.0).unwrap();
    let mut noise = danger_from_seed(4, "classical");
    let chosen: Vec<f64> =
        (0..40_000).map(|_| mechanism.release(&[5.0, 9.0], &mut noise).unwrap().value as f64).collect();
    // ε·4/(2·2) = 1: odds e to 1.
    assert_mean(&chosen, 1.0 / (1.0 + (-1.0_f64).exp()), "second candidate");
}

/// "Randomised response: estimate (ȳ + p − 1)/(2p − 1); ε = ln(p/(1 − p))"; its variance is p(1 − p)/(n(2p − 1)²).
#[test]
fn randomized_response_estimates_a_proportion_with_the_stated_error() {
    let mechanism = RandomizedResponse::with_truth(0.7).unwrap();
    assert!((mechanism.epsilon() - (0.7_f64 / 0.3).ln()).abs() < 1e-14);
    let mut noise = danger_from_seed(5, "classical");
    let deviations: Vec<f64> = (0..2_000)
        .map(|_| {
            let yes = (0..200).filter(|&i| mechanism.release(i < 150, &mut noise).value).count();
            mechanism.proportion(yes as u64, 200).unwrap() - 0.75
        })
        .collect();
    assert_mean(&deviations, 0.0, "bias");
    let squares: Vec<f64> = deviations.iter().map(|x| x * x).collect();
    let variance = 0.7 * 0.3 / (200.0 * 0.4 * 0.4);
    assert!((mechanism.proportion_error(200).unwrap().powi(2) / variance - 1.0).abs() < 1e-12);
    assert_mean(&squares, variance, "variance");
}

/// "Histogram estimate ĥ_k = (f_k(e^ε + K − 1) − 1)/(e^ε − 1); E(ĥ_k − h_k)² = (K − 2 + e^ε)/(n(e^ε − 1)²) for h_k → 0."
#[test]
fn the_histogram_of_kary_response_has_the_stated_error_for_rare_categories() {
    let (categories, people, epsilon) = (8, 250, 1.5_f64);
    let mechanism = KaryResponse::new(epsilon, categories).unwrap();
    let mut noise = danger_from_seed(6, "classical");
    // Everybody is in category 0; the others are empty.
    let squares: Vec<f64> = (0..1_500)
        .map(|_| {
            let mut counts = vec![0; categories];
            (0..people).for_each(|_| counts[mechanism.release(0, &mut noise).unwrap().value] += 1);
            mechanism.histogram(&counts).unwrap()[5].powi(2)
        })
        .collect();
    let e = epsilon.exp();
    let expected = (categories as f64 - 2.0 + e) / (people as f64 * (e - 1.0).powi(2));
    assert_mean(&squares, expected, "mean squared error");
}

/// "Laplace in Rⁿ under ℓ₂: each coordinate has variance (n + 1)/ε²."
#[test]
fn a_coordinate_of_euclidean_laplace_has_variance_n_plus_one_over_epsilon_squared() {
    for dimension in [1, 2, 5, 50] {
        let mechanism = EuclideanLaplace::new(0.8, 1.0).unwrap();
        let mut noise = danger_from_seed(7, "classical");
        let origin = vec![0.0; dimension];
        let (mut squares, mut norms) = (Vec::new(), Vec::new());
        for _ in 0..8_000 {
            let value = mechanism.release(&origin, &mut noise).unwrap().value;
            squares.push(value[dimension / 2].powi(2));
            norms.push(value.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
        let expected = (dimension as f64 + 1.0) / (0.8 * 0.8);
        assert!((mechanism.coordinate_variance(dimension) / expected - 1.0).abs() < 1e-12);
        assert_mean(&squares, expected, "coordinate variance");
        assert_mean(&norms, mechanism.expected_error(dimension), "norm");
    }
}

/// Every mechanism hands back an event that an accountant accepts.
#[test]
fn every_release_carries_a_valid_event() {
    let mut noise = danger_from_seed(8, "classical");
    let events: Vec<DpEvent> = vec![
        Gaussian::new(1.0, 3.0).unwrap().release(&[0.0], &mut noise).unwrap().event,
        Laplace::new(1.0, 3.0).unwrap().release(&[0.0], &mut noise).unwrap().event,
        Exponential::new(1.0, 3.0).unwrap().release(&[0.0], &mut noise).unwrap().event,
        RandomizedResponse::new(1.0).unwrap().release(true, &mut noise).event,
        KaryResponse::new(1.0, 7).unwrap().release(3, &mut noise).unwrap().event,
        EuclideanLaplace::new(1.0, 3.0).unwrap().release(&[0.0], &mut noise).unwrap().event,
    ];
    for event in events {
        assert_eq!(event.validate(), Ok(()), "{event:?}");
    }
}

/// δ at ε of k independent randomised responses on one bit, exactly: the loss is (2J − k)·ε₀ with J binomial.
fn delta_of_responses(count: u64, each: f64, epsilon: f64) -> f64 {
    let truth = 1.0 / (1.0 + (-each).exp());
    let ln_choose = |j: f64| privacy::special::log_binomial(count as f64, j);
    let outcome = |j: u64| {
        let (right, wrong) = (j as f64, (count - j) as f64);
        let with = ln_choose(right) + right * truth.ln() + wrong * (1.0 - truth).ln();
        let without = ln_choose(right) + right * (1.0 - truth).ln() + wrong * truth.ln();
        (with.exp() - (epsilon + without).exp()).max(0.0)
    };
    (0..=count).map(outcome).sum()
}

/// "Basic: Σε_k. Advanced (k times (ε, δ)): ε′ = √(2k ln(1/δ′))·ε + kε(e^ε − 1), total δ kδ + δ′." Randomised response is where composition is worst.
#[test]
fn composed_randomised_responses_stay_within_both_composition_theorems() {
    for (count, each) in [(10_u64, 0.5), (100, 0.1), (400, 0.05)] {
        assert!(delta_of_responses(count, each, count as f64 * each) < 1e-12, "basic, {count}");
        for slack in [1e-2, 1e-5, 1e-9] {
            let advanced = classic_advanced_epsilon(each, count, slack);
            let delta = delta_of_responses(count, each, advanced);
            assert!(delta <= slack, "{count} of {each} at {advanced}: δ = {delta}, not {slack}");
        }
        // The sum is no mistake: a little below it something is left.
        assert!(delta_of_responses(count, each, 0.9 * count as f64 * each) > 0.0, "{count}");
    }
}

/// "Subsampling m of n: (ln(1 + (m/n)(e^ε − 1)), (m/n)δ)": with equality for randomised response on a sample.
#[test]
fn a_response_on_a_sample_has_the_odds_of_the_amplified_epsilon() {
    let (epsilon, rate, trials) = (1.5, 0.2, 400_000);
    let response = RandomizedResponse::new(epsilon).unwrap();
    let mut noise = danger_from_seed(9, "classical");
    let mut words = vec![0; trials];
    noise.words(&mut words);
    let yes: Vec<f64> = words
        .iter()
        .map(|&word| {
            let sampled = (word >> 11) as f64 / ((1_u64 << 53) as f64) < rate;
            f64::from(u8::from(response.release(sampled, &mut noise).value))
        })
        .collect();
    // Without the record a yes has probability 1/(1 + e^ε); with it, e^ε′ times as much.
    let without = 1.0 / (1.0 + f64::exp(epsilon));
    let amplified = privacy::amplification::epsilon(epsilon, rate);
    assert_mean(&yes, amplified.exp() * without, "amplified response");
}

/// "DP-SGD (l-Lipschitz, T steps, one record per step): σ = 16 l √(T ln(2/δ) ln(2.5T/(δn)))/(nε) suffices for ε ≤ 1": so our price of it is at most ε.
#[test]
fn the_classic_noise_of_private_sgd_is_enough_by_our_account() {
    for (n, steps) in [(100_u64, 10_000_u64), (1_000, 1_000_000), (1_000, 10_000)] {
        for (epsilon, delta) in [(1.0, 1e-5), (0.3, 1e-6)] {
            let (records, count) = (n as f64, steps as f64);
            let logs = (2.0_f64 / delta).ln() * (2.5 * count / (delta * records)).ln();
            let sigma = 16.0 * (count * logs).sqrt() / (records * epsilon);
            // A record that is replaced moves its gradient by 2l at most, so the multiplier is σ/2l.
            let step = DpEvent::Gaussian { noise_multiplier: sigma / 2.0 }.poisson_sampled(1.0 / records);
            let mut accountant = RdpAccountant::default();
            accountant.compose(&step, steps).unwrap();
            let spent = accountant.epsilon(delta).unwrap();
            assert!(spent <= epsilon, "n = {n}, T = {steps}: {spent} for {epsilon}");
        }
    }
}
