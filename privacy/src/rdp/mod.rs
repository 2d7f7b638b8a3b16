//! Rényi accounting: divergences of every order add up, then the best order is converted to (ε, δ).
//!
//! Mironov 2017 for composition; [`conversion`] for the way back; one file per family of divergences.
//! The order is optimised over the reals, not only over a list, because every divergence here can be computed
//! at every order above 1.

pub mod conversion;
mod divergence;
mod euclidean_laplace;
mod laplace;
mod sampled_gaussian;
mod without_replacement;

pub use divergence::{divergence, pure_dp, randomized_response};
pub use euclidean_laplace::{euclidean_laplace, euclidean_laplace_delta, euclidean_laplace_epsilon};
pub use laplace::{laplace, sampled_laplace};
pub use sampled_gaussian::sampled_gaussian;
pub use without_replacement::without_replacement;

use crate::accountant::{AccountError, Accountant, compose_supported};
use crate::event::DpEvent;
use crate::gdp;
use crate::release::{Mechanism, Release, Releases};

/// Relative width at which the search for the best order stops; ε is flat there.
const ORDER_TOLERANCE: f64 = 1e-4;

/// Above this order only whole orders are tried: neighbours differ by less than one per cent.
const WHOLE_ORDERS_FROM: f64 = 64.0;

/// Adds up Rényi divergences at a list of orders and between them.
#[derive(Debug, Clone)]
pub struct RdpAccountant {
    orders: Vec<f64>,
    refine: bool,
    ledger: Releases,
}

impl Default for RdpAccountant {
    /// Orders from 1.01 to 4096 in steps of about a fifth, refined by search around the best one.
    fn default() -> Self {
        let mut orders: Vec<f64> = vec![1.01, 1.03, 1.06, 1.1, 1.2, 1.35, 1.5, 1.75];
        let mut order = 2.0;
        while order <= 4096.0 {
            orders.push(order);
            order = (order * 1.2).max(order + 0.5);
            if order >= 8.0 {
                order = order.round();
            }
        }
        Self { orders, refine: true, ledger: Releases::default() }
    }
}

impl RdpAccountant {
    /// An accountant that uses exactly these orders, without searching between them.
    ///
    /// # Errors
    /// When an order is not above 1 and finite.
    pub fn with_orders(orders: Vec<f64>) -> Result<Self, AccountError> {
        if let Some(bad) = orders.iter().find(|order| !(order.is_finite() && **order > 1.0)) {
            return Err(AccountError::Order(*bad));
        }
        Ok(Self { orders, refine: false, ledger: Releases::default() })
    }

    /// The Rényi divergence of everything composed so far at one order (fixed δ of approximate releases apart).
    ///
    /// # Guarantee
    /// D_α(M(D)‖M(D′)) is at most the returned value for all neighbours, in both directions.
    ///
    /// # Assumes
    /// Independent noise, adjacency as in [`Releases::adjacency`].
    #[must_use]
    pub fn spent_at(&self, order: f64) -> f64 {
        let entries = self.ledger.entries().iter();
        entries.map(|(release, count)| *count as f64 * divergence(release, order)).sum()
    }

    /// The divergence at every listed order.
    #[must_use]
    pub fn spent(&self) -> Vec<(f64, f64)> {
        self.orders.iter().map(|&order| (order, self.spent_at(order))).collect()
    }

    /// ε at `delta` and the order that gives it.
    ///
    /// # Errors
    /// When δ is outside (0, 1).
    pub fn epsilon_and_order(&self, delta: f64) -> Result<(f64, f64), AccountError> {
        gdp::check_delta(delta)?;
        let left = delta - fixed_delta(&self.ledger);
        if left <= 0.0 || self.ledger.has_non_private() {
            return Ok((f64::INFINITY, f64::INFINITY));
        }
        Ok(self.minimise(|order| conversion::epsilon(order, self.spent_at(order), left)))
    }

    /// The smallest value of `price` over the orders, and where.
    fn minimise(&self, price: impl Fn(f64) -> f64) -> (f64, f64) {
        let mut best = (f64::INFINITY, f64::INFINITY);
        let mut at = 0;
        for (index, &order) in self.orders.iter().enumerate() {
            let value = price(order);
            if value < best.0 {
                (best, at) = ((value, order), index);
            }
        }
        if !self.refine || best.0 == 0.0 || best.0 == f64::INFINITY {
            return best;
        }
        let low = if at == 0 { 1.0 + 0.1 * (self.orders[0] - 1.0) } else { self.orders[at - 1] };
        let high = self.orders.get(at + 1).copied().unwrap_or(self.orders[at]);
        golden_section(low, high, best, price)
    }
}

impl Accountant for RdpAccountant {
    fn name(&self) -> &'static str {
        "renyi"
    }

    fn analysis(&self) -> &'static str {
        "Rényi DP (Mironov 2017), converted as in Canonne, Kamath and Steinke 2020"
    }

    fn ledger(&self) -> &Releases {
        &self.ledger
    }

    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError> {
        compose_supported(&mut self.ledger, event, count, divergence::supports)
    }

    fn epsilon(&self, delta: f64) -> Result<f64, AccountError> {
        Ok(self.epsilon_and_order(delta)?.0)
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        gdp::check_epsilon(epsilon)?;
        if self.ledger.has_non_private() {
            return Ok(1.0);
        }
        let (log_delta, _) =
            self.minimise(|order| conversion::log_delta(order, self.spent_at(order), epsilon));
        Ok((libm::exp(log_delta) * (1.0 + 1e-12) + fixed_delta(&self.ledger)).min(1.0))
    }
}

/// Σδ of releases known only up to a δ: the composition is (ε, δ + Σδ_i)-DP when the rest is (ε, δ)-DP.
fn fixed_delta(ledger: &Releases) -> f64 {
    let delta = |release: &Release| match release.mechanism {
        Mechanism::Approximate { delta, .. } => delta,
        Mechanism::Gaussian { .. }
        | Mechanism::Laplace { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Pure { .. }
        | Mechanism::ZeroConcentrated { .. }
        | Mechanism::NonPrivate => 0.0,
    };
    ledger.entries().iter().map(|(release, count)| delta(release) * *count as f64).sum::<f64>()
        * (1.0 + 1e-13)
}

/// Narrows a bracket around a minimum; keeps the best order seen, so it can only improve.
fn golden_section(
    mut low: f64,
    mut high: f64,
    mut best: (f64, f64),
    price: impl Fn(f64) -> f64,
) -> (f64, f64) {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let snap = |order: f64| if order > WHOLE_ORDERS_FROM { order.round() } else { order };
    let mut try_order = |order: f64| {
        let order = snap(order);
        let value = price(order);
        if value < best.0 {
            best = (value, order);
        }
        value
    };
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (try_order(left), try_order(right));
    while high - low > ORDER_TOLERANCE * low {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = try_order(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = try_order(right);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_between_orders_never_loses_and_sometimes_wins() {
        let event = DpEvent::Gaussian { noise_multiplier: 1.1 }.poisson_sampled(0.004);
        let mut coarse = RdpAccountant::with_orders(RdpAccountant::default().orders).unwrap();
        let mut fine = RdpAccountant::default();
        coarse.compose(&event, 15_000).unwrap();
        fine.compose(&event, 15_000).unwrap();
        assert!(fine.epsilon(1e-5).unwrap() < coarse.epsilon(1e-5).unwrap());
        assert!(fine.delta(2.0).unwrap() < coarse.delta(2.0).unwrap());
    }

    #[test]
    fn a_bad_order_is_refused() {
        assert_eq!(RdpAccountant::with_orders(vec![2.0, 1.0]).unwrap_err(), AccountError::Order(1.0));
        assert!(RdpAccountant::with_orders(vec![f64::NAN]).is_err());
    }
}
