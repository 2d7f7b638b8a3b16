//! Rényi divergences of the sampled Gaussian against the mpmath table, and published values of DP-SGD.

#![allow(clippy::unwrap_used, reason = "a malformed table must fail the test")]

use privacy::accountant::Accountant;
use privacy::event::DpEvent;
use privacy::rdp::{RdpAccountant, sampled_gaussian};

#[test]
fn the_sampled_gaussian_agrees_with_mpmath_to_1e_minus_6_at_every_order() {
    let table = include_str!("../testdata/rdp_sampled_gaussian.csv");
    let mut worst: f64 = 0.0;
    for line in table.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').take(4).map(|field| field.parse().unwrap()).collect();
        let found = sampled_gaussian(numbers[0], numbers[1], numbers[2]);
        let error = found / numbers[3] - 1.0;
        assert!(error.abs() < 1e-6, "{line}: {found:e}, off by {error:e}");
        assert!(error > -1e-13, "rounded down: {line}: {found:e}, off by {error:e}");
        worst = worst.max(error.abs());
    }
    assert_eq!(table.lines().count(), 673);
    assert!(worst < 1e-8, "worst error {worst:e}");
}

#[test]
fn published_values_of_dp_sgd_are_reached_or_improved() {
    // tensorflow/privacy, compute_dp_sgd_privacy_test.py: (q, σ, steps, δ, ε, whole order).
    let cases = [
        (150.0 / 60000.0, 1.3, 6000, 1e-5, 0.724_223_402_610_959_5, 19.0),
        (100.0 / 100_000.0, 1.0, 30000, 1e-7, 1.415_498_849_544_484_2, 13.0),
    ];
    for (rate, noise_multiplier, steps, delta, published, order) in cases {
        let event = DpEvent::Gaussian { noise_multiplier }.poisson_sampled(rate);
        let mut fixed = RdpAccountant::with_orders(vec![order]).unwrap();
        fixed.compose(&event, steps).unwrap();
        let found = fixed.epsilon(delta).unwrap();
        assert!((found / published - 1.0).abs() < 1e-8, "{found} {published}");
        let mut free = RdpAccountant::default();
        free.compose(&event, steps).unwrap();
        let (best, best_order) = free.epsilon_and_order(delta).unwrap();
        assert!(best <= published && best > 0.99 * published, "{best} at {best_order}");
        assert!((best_order - order).abs() < 1.5, "{best_order}");
    }
}
