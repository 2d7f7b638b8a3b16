//! Advanced composition of points (ε_i, δ_i), different ones allowed.
//!
//! Kairouz, Oh and Viswanath 2015, theorem 3.5: for every δ̃ > 0 the composition is (ε, δ̃ + Σδ_i)-DP with
//! ε = min( Σε_i,  Σ ε_i tanh(ε_i/2) + √(2 Σε_i² ln(1/δ̃)),  the same with ln(e + √(Σε_i²)/δ̃) ).
//! It is never above the classic form √(2k ln(1/δ̃))·ε + kε(e^ε − 1) of Dwork, Rothblum and Vadhan 2010.
//!
//! How δ is split: fixed δ_i first; of the rest, a fraction (the best of a few fixed ones, chosen
//! before any release) is δ̃ and the remainder goes in equal shares to releases with a curve.

use super::basic::{basic_epsilon, point_epsilons};
use super::{AccountError, Accountant, compose_supported, delta_by_bracketing};
use crate::event::DpEvent;
use crate::gdp;
use crate::release::Releases;

const SPLITS: [f64; 7] = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99];

/// Composes points at the square-root rate.
#[derive(Debug, Clone, Default)]
pub struct AdvancedAccountant {
    ledger: Releases,
}

impl Accountant for AdvancedAccountant {
    fn name(&self) -> &'static str {
        "advanced"
    }

    fn analysis(&self) -> &'static str {
        "advanced composition, heterogeneous (Kairouz, Oh and Viswanath 2015, theorem 3.5)"
    }

    fn ledger(&self) -> &Releases {
        &self.ledger
    }

    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError> {
        compose_supported(&mut self.ledger, event, count, |_| Ok(()))
    }

    fn epsilon(&self, delta: f64) -> Result<f64, AccountError> {
        gdp::check_delta(delta)?;
        let fixed = fixed_delta(&self.ledger);
        let left = delta - fixed;
        let basic = basic_epsilon(&self.ledger, delta);
        if left <= 0.0 {
            return Ok(basic);
        }
        let split = |fraction: f64| {
            let slack = left * fraction;
            let points = point_epsilons(&self.ledger, fixed + left * (1.0 - fraction) * (1.0 - 1e-12));
            points.map_or(f64::INFINITY, |points| heterogeneous_epsilon(&points, slack))
        };
        Ok(SPLITS.iter().map(|&fraction| split(fraction)).fold(basic, f64::min))
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        delta_by_bracketing(epsilon, |delta| self.epsilon(delta))
    }
}

/// The classic advanced composition theorem: ε′ = √(2k ln(1/δ′))·ε + kε(e^ε − 1).
///
/// # Guarantee
/// k releases that are each (ε, δ)-DP are together (ε′, kδ + δ′)-DP.
///
/// # Assumes
/// ε ≥ 0 and δ′ in (0, 1); other values give NaN.
#[must_use]
pub fn classic_advanced_epsilon(epsilon: f64, count: u64, slack: f64) -> f64 {
    let k = count as f64;
    libm::sqrt(2.0 * k * libm::log(1.0 / slack)) * epsilon + k * epsilon * libm::expm1(epsilon)
}

fn fixed_delta(ledger: &Releases) -> f64 {
    use super::point::{Point, of};
    let delta = |release| match of(release) {
        Point::Fixed { delta, .. } => delta,
        Point::Curve | Point::Unbounded => 0.0,
    };
    ledger.entries().iter().map(|(release, count)| delta(release) * *count as f64).sum::<f64>()
        * (1.0 + 1e-13)
}

/// Theorem 3.5 of Kairouz, Oh and Viswanath for (ε, count) pairs.
fn heterogeneous_epsilon(points: &[(f64, f64)], slack: f64) -> f64 {
    let (mut sum, mut drift, mut squares) = (0.0, 0.0, 0.0);
    for (epsilon, count) in points {
        if *epsilon == f64::INFINITY {
            return f64::INFINITY;
        }
        sum += count * epsilon;
        drift += count * epsilon * libm::tanh(0.5 * epsilon);
        squares += count * epsilon * epsilon;
    }
    let plain = libm::log(1.0 / slack);
    let shifted = libm::log(std::f64::consts::E + libm::sqrt(squares) / slack);
    let root = libm::sqrt(2.0 * squares * plain.min(shifted));
    (drift + root).min(sum) * (1.0 + 1e-13)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_never_worse_than_basic_or_than_the_classic_theorem() {
        for (epsilon, count) in [(0.01, 10_000), (0.1, 100), (0.5, 3), (2.0, 5), (1e-4, 1_000_000)] {
            let mut accountant = AdvancedAccountant::default();
            accountant.compose(&DpEvent::PureDp { epsilon }, count).unwrap();
            let found = accountant.epsilon(1e-5).unwrap();
            assert!(found <= epsilon * count as f64 * 1.000_001, "basic: {epsilon} {count} {found}");
            let slack = 1e-5 * 0.99;
            assert!(found <= classic_advanced_epsilon(epsilon, count, slack), "{epsilon} {count} {found}");
        }
    }

    #[test]
    fn the_theorem_is_computed_as_printed() {
        // 100 releases of ε = 0.1 at δ̃ = 0.99e-5 (the largest split), by hand:
        // 100·0.1·tanh(0.05) + √(2·100·0.01·ln(1/0.99e-5)).
        let mut accountant = AdvancedAccountant::default();
        accountant.compose(&DpEvent::PureDp { epsilon: 0.1 }, 100).unwrap();
        let expected = 10.0 * 0.05f64.tanh() + (2.0 * (1.0 / 0.99e-5f64).ln()).sqrt();
        assert!((accountant.epsilon(1e-5).unwrap() / expected - 1.0).abs() < 1e-9);
        // Dwork, Rothblum and Vadhan: √(2·100·ln 1e5)·0.1 + 100·0.1·(e^0.1 − 1).
        let classic = (200.0 * 1e5f64.ln()).sqrt() * 0.1 + 10.0 * (0.1f64.exp() - 1.0);
        assert!((classic_advanced_epsilon(0.1, 100, 1e-5) / classic - 1.0).abs() < 1e-12);
    }
}
