//! Textbook theorems on the Gaussian mechanism, composition, subsampling and DP-SGD, one test each: the formula as it is printed, beside
//! what this crate says. `classical.rs` tests mechanisms by simulation; here nothing is drawn.

use privacy::accountant::{Accountant, all};
use privacy::event::DpEvent;
use privacy::mechanisms::Gaussian;
use privacy::special::normal_cdf;
use privacy::{amplification, gdp};

fn accountant(name: &str) -> Box<dyn Accountant> {
    all().into_iter().find(|accountant| accountant.name() == name).expect("an accountant by its stable name")
}

/// ε of `count` such releases at δ.
fn epsilon(name: &str, event: &DpEvent, count: u64, delta: f64) -> f64 {
    let mut accountant = accountant(name);
    accountant.compose(event, count).expect("an event that it has a theorem for");
    accountant.epsilon(delta).expect("a valid δ")
}

/// "Gaussian, classic: σ = √(2 ln(1.25/δ))·Δ/ε, valid for ε ≤ 1 only."
#[test]
fn the_classic_gaussian_noise_suffices_up_to_one_and_is_never_less_than_the_exact() {
    for (epsilon, delta) in [(0.1, 1e-5), (0.5, 1e-6), (1.0, 1e-5), (1.0, 1e-9)] {
        let sigma = (2.0 * f64::ln(1.25 / delta)).sqrt() * 3.0 / epsilon;
        let classic = Gaussian::classic(epsilon, delta, 3.0).unwrap();
        assert!((classic.sigma() / sigma - 1.0).abs() < 1e-12);
        assert!(gdp::delta(3.0 / sigma, epsilon).unwrap() < delta, "({epsilon}, {delta})");
        assert!(Gaussian::calibrated(epsilon, delta, 3.0).unwrap().sigma() < sigma);
    }
    assert!(Gaussian::classic(1.5, 1e-5, 1.0).is_err());
}

/// "Exact (any ε): δ = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ)", and T releases are one with Δ√T.
#[test]
fn gaussian_releases_compose_as_one_with_the_root_of_their_number() {
    for (sigma, count) in [(1.0, 1_u32), (4.0, 9), (20.0, 100)] {
        let mu = f64::sqrt(f64::from(count)) / sigma;
        let found = epsilon("gaussian", &DpEvent::Gaussian { noise_multiplier: sigma }, count.into(), 1e-6);
        let delta = normal_cdf(mu / 2.0 - found / mu) - found.exp() * normal_cdf(-mu / 2.0 - found / mu);
        assert!((delta / 1e-6 - 1.0).abs() < 1e-6, "{count} releases at {sigma}: δ({found}) = {delta}");
    }
}

/// "Basic: Σε, Σδ. Advanced (k times (ε, δ)): ε′ = √(2k ln(1/δ′))·ε + kε(e^ε − 1), total δ kδ + δ′."
#[test]
fn composition_is_basic_or_better_and_advanced_or_better() {
    let (each, delta, slack) = (0.1, 1e-9, 1e-6);
    let event = DpEvent::ApproximateDp { epsilon: each, delta };
    for count in [1_u64, 10, 100, 1000] {
        let (k, total) = (count as f64, count as f64 * delta + slack);
        let basic = epsilon("basic", &event, count, total);
        assert!((basic / (k * each) - 1.0).abs() < 1e-9, "{count}: {basic}");
        let formula = (2.0 * k * f64::ln(1.0 / slack)).sqrt() * each + k * each * each.exp_m1();
        let advanced = epsilon("advanced", &event, count, total);
        assert!(advanced <= formula, "{count}: {advanced} for {formula}");
        // Not vacuous either: within a factor of two where the formula is below basic composition.
        assert!(formula > k * each || advanced > 0.5 * formula, "{count}: {advanced} for {formula}");
    }
}

/// "Subsampling m of n without replacement: (ln(1 + (m/n)(e^ε − 1)), (m/n)δ)."
#[test]
fn a_sample_amplifies_by_the_formula() {
    for (before, sample, population) in [(1.0, 10, 1000), (3.0, 100, 1000), (0.5, 1, 2)] {
        let rate = sample as f64 / population as f64;
        let formula = (rate * f64::exp_m1(before)).ln_1p();
        assert!((amplification::epsilon(before, rate) / formula - 1.0).abs() < 1e-12);
        let event = DpEvent::ApproximateDp { epsilon: before, delta: 1e-8 };
        let found =
            epsilon("basic", &event.sampled_without_replacement(sample, population), 1, rate * 1.000_001e-8);
        assert!((found / formula - 1.0).abs() < 1e-9, "{before} on {sample} of {population}: {found}");
    }
}

/// "Rényi: Gaussian D_α = αΔ²/(2σ²) … ε = D_α − (ln δ + ln α)/(α−1) + ln((α−1)/α), best α; the older form D_α + ln(1/δ)/(α−1) is looser."
#[test]
fn renyi_lies_between_the_exact_loss_and_the_older_conversion() {
    for (sigma, delta) in [(1.0, 1e-5), (4.0, 1e-5), (1.0, 1e-9)] {
        let event = DpEvent::Gaussian { noise_multiplier: sigma };
        // D_α + ln(1/δ)/(α − 1) is least at α = 1 + σ√(2 ln(1/δ)).
        let order = 1.0 + sigma * (2.0 * f64::ln(1.0 / delta)).sqrt();
        let older = order / (2.0 * sigma * sigma) + f64::ln(1.0 / delta) / (order - 1.0);
        let (renyi, exact) = (epsilon("renyi", &event, 1, delta), epsilon("gaussian", &event, 1, delta));
        assert!(exact < renyi && renyi < older, "σ = {sigma}: {exact}, {renyi}, {older}");
    }
}

/// "DP-SGD (one record per step): classic sufficient noise σ = 16 l √(T ln(2/δ) ln(2.5T/(δn)))/(nε) for ε ≤ 1."
#[test]
fn the_classic_noise_of_dp_sgd_is_more_than_this_crate_asks_for() {
    let (target, delta) = (1.0, 1e-6);
    for (records, steps) in [(1_000_u64, 1_000_u64), (10_000, 10_000), (10_000, 100_000)] {
        let (n, t) = (records as f64, steps as f64);
        let logarithms = f64::ln(2.0 / delta) * f64::ln(2.5 * t / (delta * n));
        let sigma = 16.0 * (t * logarithms).sqrt() / (n * target);
        let step = DpEvent::Gaussian { noise_multiplier: sigma }.poisson_sampled(1.0 / n);
        let found = epsilon("renyi", &step, steps, delta);
        assert!(found <= target, "{records} records, {steps} steps at {sigma}: {found}");
    }
}
