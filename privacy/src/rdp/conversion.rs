//! From Rényi divergence to (ε, δ), with the best known simple bounds.
//!
//! D_α ≤ r gives, for every α > 1 (Canonne, Kamath and Steinke 2020, proposition 12; equivalently Balle et al.
//! 2020, theorem 21): ε = r + ln((α−1)/α) − (ln δ + ln α)/(α−1), and the same solved for δ.
//! Beside it, total variation: KL ≤ D_α gives δ(0) ≤ √(1 − e^{−r}) (Bretagnolle and Huber 1979).
//! The older ε = r + ln(1/δ)/(α−1) of Mironov 2017 is always larger and not used.

use crate::gdp;

/// Relative rounding of the formulas below, with margin.
const UP: f64 = 1e-13;

/// The smallest ε ≥ 0 that an (α, r)-Rényi bound proves at `delta`.
///
/// # Guarantee
/// D_α ≤ r in both directions implies (ε, δ)-DP.
///
/// # Assumes
/// α > 1 and δ in (0, 1); other values give NaN or infinity.
#[must_use]
pub fn epsilon(order: f64, divergence: f64, delta: f64) -> f64 {
    if divergence == f64::INFINITY {
        return f64::INFINITY;
    }
    if delta * delta >= -libm::expm1(-divergence) * (1.0 + UP) {
        return 0.0;
    }
    let gain = (libm::log(delta) + libm::log(order)) / (order - 1.0) - libm::log1p(-1.0 / order);
    let terms = divergence + gain.abs();
    ((divergence - gain) + UP * terms).max(0.0)
}

/// ln of the smallest δ ≤ 1 that an (α, r)-Rényi bound proves at `epsilon`.
///
/// # Guarantee
/// D_α ≤ r in both directions implies (ε, δ)-DP.
///
/// # Assumes
/// α > 1 and ε ≥ 0.
#[must_use]
pub fn log_delta(order: f64, divergence: f64, epsilon: f64) -> f64 {
    if divergence == f64::INFINITY {
        return 0.0;
    }
    let exponent = (order - 1.0) * (divergence - epsilon + libm::log1p(-1.0 / order)) - libm::log(order);
    let rounding = UP * ((order - 1.0) * (divergence + epsilon) + libm::log(order));
    let total_variation = 0.5 * libm::log(-libm::expm1(-divergence)) + UP;
    (exponent + rounding).min(total_variation).min(0.0)
}

/// ε of a ρ-zCDP mechanism at `delta`: the best order for D_α = ρα.
///
/// # Guarantee
/// ρ-zCDP implies (ε, δ)-DP.
///
/// # Assumes
/// ρ ≥ 0 and δ in (0, 1).
#[must_use]
pub fn zcdp_epsilon(rho: f64, delta: f64) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    // ε(α) falls, then rises: α* is near 1 + √(ln(1/δ)/ρ). Ternary search over ln(α − 1) around it.
    let centre = 0.5 * libm::log(libm::log(1.0 / delta) / rho);
    let price = |t: f64| {
        let order = 1.0 + libm::exp(t);
        epsilon(order, rho * order, delta)
    };
    let (mut low, mut high) = (centre - 12.0, centre + 6.0);
    for _ in 0..100 {
        let (first, second) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if price(first) <= price(second) {
            high = second;
        } else {
            low = first;
        }
    }
    price(0.5 * (low + high)).min(price(centre))
}

/// The largest ρ such that every ρ-zCDP mechanism is (ε, δ)-DP by [`zcdp_epsilon`], rounded down.
///
/// # Errors
/// When ε is negative, infinite or NaN, or δ outside (0, 1).
pub fn zcdp_rho(epsilon: f64, delta: f64) -> Result<f64, gdp::Error> {
    gdp::check_epsilon(epsilon)?;
    gdp::check_delta(delta)?;
    let excess = |rho: f64| zcdp_epsilon(rho, delta) - epsilon;
    let mut low = (epsilon * epsilon).clamp(1e-30, 1.0);
    while excess(low) > 0.0 {
        low *= 0.25;
        if low < 1e-300 {
            return Ok(0.0);
        }
    }
    let mut high = low;
    while excess(high) <= 0.0 {
        (low, high) = (high, 4.0 * high);
    }
    Ok(crate::root::narrow(low, high, 1e-13, excess).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_gives_the_published_epsilon_of_one_gaussian() {
        // google/differential-privacy, RDP test: σ = 4.530877117 has (1, 1e-6) exactly by RDP.
        let rho = 0.5 / (4.530_877_117_f64 * 4.530_877_117);
        assert!((zcdp_epsilon(rho, 1e-6) - 1.0).abs() < 1e-6, "{}", zcdp_epsilon(rho, 1e-6));
        assert!((zcdp_rho(1.0, 1e-6).unwrap() / rho - 1.0).abs() < 1e-6);
    }

    #[test]
    fn it_is_never_above_the_older_conversion_nor_below_the_truth() {
        for (mu, delta) in [(0.1, 1e-9), (1.0, 1e-5), (5.0, 1e-3), (20.0, 1e-12), (1.0, 0.2)] {
            let truth = gdp::epsilon(mu, delta).unwrap();
            let found = zcdp_epsilon(0.5 * mu * mu, delta);
            let older = 0.5 * mu * mu + (2.0 * mu * mu * libm::log(1.0 / delta)).sqrt();
            assert!(truth <= found && found < older, "{mu} {delta}: {truth} {found} {older}");
        }
    }

    #[test]
    fn epsilon_and_delta_are_inverse_at_every_order() {
        for order in [1.1, 2.0, 7.5, 64.0] {
            let found = epsilon(order, 0.5, 1e-6);
            let back = libm::exp(log_delta(order, 0.5, found));
            assert!((back / 1e-6 - 1.0).abs() < 1e-9, "{order}: {back}");
        }
        assert_eq!(epsilon(2.0, f64::INFINITY, 0.1), f64::INFINITY);
        assert_eq!(epsilon(2.0, 1e-12, 0.1), 0.0);
    }
}
