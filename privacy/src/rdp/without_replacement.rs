//! Rényi divergence on a sample without replacement, for replace-one adjacency.
//!
//! Wang, Balle and Kasiviswanathan 2019, theorem 9, for whole orders α ≥ 2 with γ = m/n and ε(j) = D_j of the
//! mechanism on all records:
//!
//! > e^{(α−1)ε′(α)} ≤ 1 + γ²C(α,2)·min{4(e^{ε(2)} − 1), e^{ε(2)}·min{2, (e^{ε(∞)} − 1)²}}
//! >   + Σ_{j=3}^α γ^j C(α,j) e^{(j−1)ε(j)} min{2, (e^{ε(∞)} − 1)^j}.
//!
//! Between whole orders (α−1)ε′ is convex, so the chord is a bound (corollary 10); at order 1 it is 0.

use super::divergence::unsampled;
use crate::amplification;
use crate::release::{Mechanism, known_point};
use crate::special::{log_add, log_binomial, log_sum_exp};

/// Above this order the sum is skipped and the mechanism is charged as if it saw everything.
const HIGHEST_ORDER: f64 = 2048.0;

/// D_α of a mechanism on m of n records, γ = m/n.
///
/// # Guarantee
/// An upper bound on D_α in both directions; never above the divergence without sampling.
///
/// # Assumes
/// Replace-one adjacency, noise multipliers taken for it; α > 1, 0 < γ ≤ 1.
#[must_use]
pub fn without_replacement(mechanism: Mechanism, rate: f64, order: f64) -> f64 {
    let mut bound = unsampled(mechanism, order);
    if let Some((epsilon, _)) = known_point(mechanism) {
        // A pure mechanism stays pure with the amplified ε.
        bound = bound.min(super::pure_dp(amplification::epsilon(epsilon, rate), order));
    }
    if order > HIGHEST_ORDER {
        return bound;
    }
    let (below, above) = (order.floor(), order.ceil());
    let moment = if below == above {
        log_moment(mechanism, rate, order)
    } else {
        let part = order - below;
        (1.0 - part) * log_moment(mechanism, rate, below) + part * log_moment(mechanism, rate, above)
    };
    bound.min(moment / (order - 1.0) * (1.0 + 1e-12))
}

/// ln of the right-hand side at a whole order.
fn log_moment(mechanism: Mechanism, rate: f64, order: f64) -> f64 {
    if order <= 1.0 {
        return 0.0;
    }
    let at = |j: f64| unsampled(mechanism, j);
    let log_pure = known_point(mechanism).map(|(epsilon, _)| libm::log(libm::expm1(epsilon)));
    // ln min{2, (e^{ε(∞)} − 1)^j}.
    let log_cap = |j: f64| {
        log_pure.map_or(std::f64::consts::LN_2, |log_pure| (j * log_pure).min(std::f64::consts::LN_2))
    };
    let second = (libm::log(4.0) + log_expm1(at(2.0))).min(at(2.0) + log_cap(2.0));
    let log_rate = libm::log(rate);
    let mut terms = vec![2.0 * log_rate + log_binomial(order, 2.0) + second];
    for j in 3..=order as u32 {
        let j = f64::from(j);
        terms.push(j * log_rate + log_binomial(order, j) + (j - 1.0) * at(j) + log_cap(j));
    }
    log_add(0.0, log_sum_exp(&terms))
}

fn log_expm1(x: f64) -> f64 {
    if x > 30.0 { x } else { libm::log(libm::expm1(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_two_is_the_theorem_by_hand() {
        // σ = 2, γ = 0.1: ε(2) = 0.25, min{4(e^0.25 − 1), 2e^0.25} = 4(e^0.25 − 1).
        let expected = (1.0 + 0.01 * 4.0 * (0.25f64.exp() - 1.0)).ln();
        let found = without_replacement(Mechanism::Gaussian { noise_multiplier: 2.0 }, 0.1, 2.0);
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
    }

    #[test]
    fn it_never_exceeds_no_sampling_and_shrinks_with_the_sample() {
        let mechanisms =
            [Mechanism::Gaussian { noise_multiplier: 1.0 }, Mechanism::Laplace { noise_multiplier: 1.0 }];
        for mechanism in mechanisms {
            for order in [1.2, 2.0, 2.5, 7.0, 30.3, 500.0] {
                let mut last = 0.0;
                for rate in [1e-4, 0.01, 0.2, 0.7] {
                    let now = without_replacement(mechanism, rate, order);
                    assert!(
                        now >= last && now <= unsampled(mechanism, order),
                        "{mechanism:?} {order} {rate}"
                    );
                    last = now;
                }
            }
        }
    }
}
