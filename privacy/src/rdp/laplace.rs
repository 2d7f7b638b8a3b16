//! Rényi divergence of Laplace noise, on all records and on a Poisson sample.
//!
//! Unsampled: Mironov 2017, proposition 6. Sampled: the definition, in three pieces. Between two Laplace
//! densities at distance 1 with scale b the loss is −1/b left of both centres, +1/b right of both, linear between.

use crate::special::log_add;

/// D_α of Laplace noise with scale/sensitivity b:
/// ln( α/(2α−1)·e^{(α−1)/b} + (α−1)/(2α−1)·e^{−α/b} )/(α−1).
///
/// # Guarantee
/// Exact divergence of one release, rounded up.
///
/// # Assumes
/// α > 1, b > 0; neighbouring inputs differ by at most the sensitivity in ℓ₁.
#[must_use]
pub fn laplace(noise_multiplier: f64, order: f64) -> f64 {
    let (up, down) = ((order - 1.0) / noise_multiplier, order / noise_multiplier);
    let (heavy, light) = (order / (2.0 * order - 1.0), (order - 1.0) / (2.0 * order - 1.0));
    let log_moment = if up < 1.0 {
        libm::log1p(heavy * libm::expm1(up) + light * libm::expm1(-down))
    } else {
        log_add(libm::log(heavy) + up, libm::log(light) - down)
    };
    // The first-order terms cancel for large b; what rounding leaves of them is added.
    let rounding = 4.0 * f64::EPSILON * up.min(1.0);
    ((log_moment + rounding) / (order - 1.0) * (1.0 + 1e-14)).min((1.0 / noise_multiplier).next_up())
}

/// D_α of Laplace noise on a Poisson sample with rate q, the larger of both directions.
///
/// # Guarantee
/// At least D_α of ((1−q)·Lap(0) + q·Lap(1)) against Lap(0) and of the reverse, and above it only by rounding.
///
/// # Assumes
/// α > 1, b > 0, 0 < q ≤ 1; add-or-remove adjacency.
#[must_use]
pub fn sampled_laplace(rate: f64, noise_multiplier: f64, order: f64) -> f64 {
    // E under Lap(0) of (P/Q)^α and, for the other direction, of (P/Q)^{1−α}.
    let towards = log_power_mean(rate, noise_multiplier, order);
    let away = log_power_mean(rate, noise_multiplier, 1.0 - order);
    let rounding = 1e-15 * (order / noise_multiplier).min(1.0);
    (towards.max(away) + rounding) / (order - 1.0) * (1.0 + 1e-12)
}

/// ln E_{z ~ Lap(0)} [(1 + q(e^{ℓ(z)} − 1))^power].
fn log_power_mean(rate: f64, scale: f64, power: f64) -> f64 {
    let term = |loss: f64| power * log_mixture(rate, loss);
    let width = 1.0 / scale;
    let largest = term(width).max(term(-width));
    // expm1 keeps the small difference from 1; a large power is scaled down first.
    let shift = if largest > 1.0 { largest } else { 0.0 };
    let value = |loss: f64| libm::expm1(term(loss) - shift);
    let below = 0.5 * value(-width);
    let above = 0.5 * libm::exp(-width) * value(width);
    let sum = below + above + between(scale, value);
    if shift == 0.0 { libm::log1p(sum) } else { shift + libm::log1p(sum) }
}

/// ∫₀¹ e^{−z/b}/(2b) · value((2z − 1)/b) dz by Gauss–Legendre on panels where the loss moves by at most 1/4.
fn between(scale: f64, value: impl Fn(f64) -> f64) -> f64 {
    let panels = (8.0 / scale).ceil().clamp(1.0, 4000.0) as u32;
    let width = 1.0 / f64::from(panels);
    let mut sum = 0.0;
    for panel in 0..panels {
        let middle = (f64::from(panel) + 0.5) * width;
        for (node, weight) in GAUSS_8 {
            for z in [middle - 0.5 * width * node, middle + 0.5 * width * node] {
                sum += weight * libm::exp(-z / scale) * value((2.0 * z - 1.0) / scale);
            }
        }
    }
    sum * 0.5 * width / (2.0 * scale)
}

/// ln(1 + q(e^ℓ − 1)) without overflow.
pub(super) fn log_mixture(rate: f64, loss: f64) -> f64 {
    if loss < 30.0 {
        libm::log1p(rate * libm::expm1(loss))
    } else {
        loss + libm::log(rate + (1.0 - rate) * libm::exp(-loss))
    }
}

/// Positive nodes and weights of the Gauss–Legendre rule with 8 points.
const GAUSS_8: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amplification;

    #[test]
    fn the_formula_agrees_with_integrating_the_definition() {
        for (scale, order) in [(0.2, 1.5), (1.0, 2.0), (1.0, 8.0), (10.0, 3.3), (0.5, 40.0)] {
            // With rate 1 the sampled integral is the plain divergence.
            let (formula, integral) = (laplace(scale, order), sampled_laplace(1.0, scale, order));
            assert!((formula / integral - 1.0).abs() < 1e-11, "{scale} {order}: {formula} {integral}");
        }
    }

    #[test]
    fn known_values_at_order_two() {
        // b = 1, α = 2: ln(2/3·e + 1/3·e^{−2}).
        let expected = (2.0f64 / 3.0 * 1f64.exp() + (-2f64).exp() / 3.0).ln();
        assert!((laplace(1.0, 2.0) / expected - 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_sample_costs_less_than_everything_and_no_more_than_its_pure_bound() {
        for rate in [1e-4, 0.01, 0.3, 0.9] {
            for order in [1.3, 2.0, 16.0, 300.0] {
                let sampled = sampled_laplace(rate, 0.7, order);
                assert!(sampled > 0.0 && sampled <= laplace(0.7, order), "{rate} {order}");
                assert!(sampled <= amplification::epsilon(1.0 / 0.7, rate) * (1.0 + 1e-9), "{rate} {order}");
            }
        }
    }
}
