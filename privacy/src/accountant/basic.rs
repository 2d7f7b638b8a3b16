//! Basic composition: ε adds, δ adds (Dwork and Roth 2014, theorem 3.16).
//!
//! Releases with a whole curve (Gaussian, zCDP) get equal shares of the δ that fixed releases leave over; the
//! shares are chosen before anything is released, so any split is valid.

use super::point::{self, Point};
use super::{AccountError, Accountant, compose_supported, delta_by_bracketing};
use crate::event::DpEvent;
use crate::gdp;
use crate::release::Releases;

/// Rounds a sum of some millions of rounded terms up.
const UP: f64 = 1.0 + 1e-13;

/// Adds up ε and δ.
#[derive(Debug, Clone, Default)]
pub struct BasicAccountant {
    ledger: Releases,
}

impl Accountant for BasicAccountant {
    fn name(&self) -> &'static str {
        "basic"
    }

    fn analysis(&self) -> &'static str {
        "basic composition: ε and δ add up (Dwork and Roth 2014, theorem 3.16)"
    }

    fn ledger(&self) -> &Releases {
        &self.ledger
    }

    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError> {
        compose_supported(&mut self.ledger, event, count, |_| Ok(()))
    }

    fn epsilon(&self, delta: f64) -> Result<f64, AccountError> {
        gdp::check_delta(delta)?;
        Ok(basic_epsilon(&self.ledger, delta))
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        gdp::check_epsilon(epsilon)?;
        let summary = Summary::of(&self.ledger);
        if summary.curves == 0.0 {
            // Without curves ε does not depend on δ.
            let enough = !summary.unbounded && summary.epsilon * UP <= epsilon;
            return Ok(if enough { (summary.delta * UP).min(1.0) } else { 1.0 });
        }
        delta_by_bracketing(epsilon, |delta| self.epsilon(delta))
    }
}

/// Fixed parts of a ledger and how many releases still need a share of δ.
struct Summary {
    epsilon: f64,
    delta: f64,
    curves: f64,
    unbounded: bool,
}

impl Summary {
    fn of(ledger: &Releases) -> Self {
        let mut summary = Self { epsilon: 0.0, delta: 0.0, curves: 0.0, unbounded: false };
        for (release, count) in ledger.entries() {
            let count = *count as f64;
            match point::of(release) {
                Point::Fixed { epsilon, delta } => {
                    summary.epsilon += count * epsilon;
                    summary.delta += count * delta;
                }
                Point::Curve => summary.curves += count,
                Point::Unbounded => summary.unbounded = true,
            }
        }
        summary
    }
}

/// Σε with equal shares of δ for curves; infinite when the fixed parts use up δ.
pub(super) fn basic_epsilon(ledger: &Releases, delta: f64) -> f64 {
    match point_epsilons(ledger, delta) {
        Some(points) => points.iter().map(|(epsilon, count)| epsilon * count).sum::<f64>() * UP,
        None => f64::INFINITY,
    }
}

/// ε of each distinct release with its count, when together they may use `delta`.
pub(super) fn point_epsilons(ledger: &Releases, delta: f64) -> Option<Vec<(f64, f64)>> {
    let summary = Summary::of(ledger);
    let left = delta - summary.delta * UP;
    if summary.unbounded || left < 0.0 {
        return None;
    }
    let share = left / summary.curves * (1.0 - 4.0 * f64::EPSILON);
    let price = |release| match point::of(release) {
        Point::Fixed { epsilon, .. } => epsilon,
        Point::Curve => point::epsilon_of_curve(release, share),
        Point::Unbounded => f64::INFINITY,
    };
    Some(ledger.entries().iter().map(|(release, count)| (price(release), *count as f64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_releases_add_up_and_need_no_delta() {
        let mut accountant = BasicAccountant::default();
        accountant.compose(&DpEvent::PureDp { epsilon: 0.5 }, 3).unwrap();
        accountant.compose(&DpEvent::DPrivate { epsilon_per_unit: 2.0, distance: 0.25 }, 1).unwrap();
        assert!((accountant.epsilon(1e-9).unwrap() - 2.0).abs() < 1e-11);
        assert_eq!(accountant.delta(2.1).unwrap(), 0.0);
        assert_eq!(accountant.delta(1.9).unwrap(), 1.0);
    }

    #[test]
    fn deltas_add_up_and_a_smaller_budget_has_no_epsilon() {
        let mut accountant = BasicAccountant::default();
        accountant.compose(&DpEvent::ApproximateDp { epsilon: 0.1, delta: 1e-6 }, 10).unwrap();
        assert!((accountant.epsilon(1.1e-5).unwrap() - 1.0).abs() < 1e-11);
        assert_eq!(accountant.epsilon(0.9e-5).unwrap(), f64::INFINITY);
    }

    #[test]
    fn a_gaussian_gets_its_exact_price_at_its_share() {
        let mut accountant = BasicAccountant::default();
        accountant.compose(&DpEvent::Gaussian { noise_multiplier: 2.0 }, 4).unwrap();
        let expected = 4.0 * gdp::epsilon(0.5, 2.5e-6).unwrap();
        assert!((accountant.epsilon(1e-5).unwrap() / expected - 1.0).abs() < 1e-10);
        let back = accountant.delta(accountant.epsilon(1e-5).unwrap()).unwrap();
        assert!((back / 1e-5 - 1.0).abs() < 1e-8, "{back}");
    }
}
