//! Laplace noise in Rⁿ under the Euclidean distance, priced by Rényi divergence: many releases cost less than their pure ε added up.
//!
//! With density proportional to e^(−‖x‖) and inputs s = ε·distance apart the loss at x is ‖x − s·u‖ − ‖x‖. Its moments are one integral over the radius,
//! which follows Gamma(n, 1), and over the angle to u, whose density is proportional to sinⁿ⁻²: by Gauss and Legendre on panels.

use super::conversion;

/// Nodes and weights of Gauss and Legendre on [−1, 1], the positive half.
const RULE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_88),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_894),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];
/// Relative error of the integrals, with margin; added to what is returned.
const UP: f64 = 1e-9;
const RADIAL_PANELS: usize = 24;
const ANGULAR_PANELS: usize = 8;

/// D_α of one release in `dimension` dimensions, for inputs that are `shift` = ε·distance apart.
///
/// # Guarantee
/// At least the divergence of one release, in both directions (they are equal), up to the error of the integral, which is added with margin; never more than
/// `shift`.
///
/// # Assumes
/// α > 1, a positive and finite shift, at least 2 dimensions; inputs at most as far apart as said.
#[must_use]
pub fn euclidean_laplace(dimension: usize, shift: f64, order: f64) -> f64 {
    // Scaled by the largest value of the power, so that nothing overflows.
    let top = (order - 1.0) * shift;
    let moment =
        integral(dimension, shift, 0.5 * shift, |_| 0.0, |loss| libm::exp((order - 1.0) * loss - top));
    let divergence = (libm::log(moment) + top) / (order - 1.0);
    (divergence + UP * (1.0 + shift)).min(shift)
}

/// ε at δ of `releases` such releases, by the best of the orders that are looked at.
///
/// # Guarantee
/// The releases together are (ε, δ)-DP.
///
/// # Assumes
/// As [`euclidean_laplace`]; δ in (0, 1).
#[must_use]
pub fn euclidean_laplace_epsilon(dimension: usize, shift: f64, releases: u64, delta: f64) -> f64 {
    let orders = [1.25, 1.5, 1.75].into_iter().chain((4..=32).map(|twice| f64::from(twice) / 2.0));
    let orders = orders.chain((17..=64).map(f64::from));
    let epsilon = |order: f64| {
        let divergence = euclidean_laplace(dimension, shift, order) * releases as f64;
        conversion::epsilon(order, divergence, delta)
    };
    orders.map(epsilon).fold(shift * releases as f64, f64::min)
}

/// The smallest δ at ε of one release.
///
/// # Guarantee
/// One release is (ε, δ)-DP: at least the exact curve, up to the error of the integral, which is added with margin.
///
/// # Assumes
/// As [`euclidean_laplace`]; ε ≥ 0.
#[must_use]
pub fn euclidean_laplace_delta(dimension: usize, shift: f64, epsilon: f64) -> f64 {
    if epsilon >= shift {
        return 0.0;
    }
    // The loss passes ε where the angle passes this; within half the rest of the shift it does so everywhere.
    let from = |radius: f64| {
        let cosine = (shift * shift - epsilon * epsilon - 2.0 * radius * epsilon) / (2.0 * radius * shift);
        libm::acos(cosine.clamp(-1.0, 1.0))
    };
    let split = 0.5 * (shift - epsilon);
    let delta = integral(dimension, shift, split, from, |loss| -libm::expm1((epsilon - loss).min(0.0)));
    // Where the angle begins to count the integrand bends like a root, and the rule is less exact.
    (delta * (1.0 + 1e-6) + 1e-12).min(1.0)
}

/// E[value(loss)] over the angles from `from(radius)` to π; `split` is a radius at which the integrand may bend, besides the shift itself.
fn integral(
    dimension: usize,
    shift: f64,
    split: f64,
    from: impl Fn(f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> f64 {
    let n = dimension as f64;
    let end = n + 12.0 * n.sqrt() + 40.0 + shift;
    // ∫ sinⁿ⁻² over 0 to π is √π·Γ((n−1)/2)/Γ(n/2).
    let angles =
        0.5 * libm::log(std::f64::consts::PI) + libm::lgamma(0.5 * (n - 1.0)) - libm::lgamma(0.5 * n);
    let log_scale = -libm::lgamma(n) - angles;
    let ring = |radius: f64| {
        let arc = |angle: f64| {
            let far = (radius * radius - 2.0 * radius * shift * libm::cos(angle) + shift * shift).max(0.0);
            libm::pow(libm::sin(angle), n - 2.0) * value(far.sqrt() - radius)
        };
        let density = libm::exp((n - 1.0) * libm::log(radius) - radius + log_scale);
        density * panels(from(radius), std::f64::consts::PI, ANGULAR_PANELS, arc)
    };
    [(0.0, split), (split, shift), (shift, end)]
        .into_iter()
        .map(|(a, b)| panels(a, b, RADIAL_PANELS, ring))
        .sum()
}

fn panels(start: f64, end: f64, count: usize, value: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * (end - start) / count as f64;
    let panel = |at: usize| {
        let middle = start + (2 * at + 1) as f64 * half;
        RULE.iter()
            .map(|(x, weight)| weight * (value(middle - x * half) + value(middle + x * half)))
            .sum::<f64>()
    };
    (0..count).map(panel).sum::<f64>() * half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In three dimensions the angle's density is flat in its cosine, and the moment has a closed form only as one integral; a sum over a fine grid
    /// is an independent way to it.
    #[test]
    fn a_fine_grid_gives_the_same_divergence() {
        let (shift, order) = (1.3, 3.0);
        let (radii, cosines) = (4_000, 400);
        let mut moment = 0.0;
        for i in 0..radii {
            let radius = (i as f64 + 0.5) * 40.0 / radii as f64;
            for j in 0..cosines {
                let cosine = -1.0 + (j as f64 + 0.5) * 2.0 / cosines as f64;
                let far = (radius * radius - 2.0 * radius * shift * cosine + shift * shift).sqrt();
                // Gamma(3, 1) has density r²e⁻ʳ/2.
                let weight = 0.5 * radius * radius * (-radius).exp() / cosines as f64 * 40.0 / radii as f64;
                moment += weight * ((order - 1.0) * (far - radius)).exp();
            }
        }
        let found = euclidean_laplace(3, shift, order);
        assert!((found - moment.ln() / (order - 1.0)).abs() < 1e-5, "{found}");
    }

    #[test]
    fn the_price_is_below_the_pure_one_and_grows_with_the_order() {
        let at = |order| euclidean_laplace(7, 2.0, order);
        assert!(at(1.5) < at(2.0) && at(2.0) < at(30.0) && at(30.0) <= 2.0);
        assert_eq!(euclidean_laplace_delta(7, 2.0, 2.0), 0.0);
        let many = euclidean_laplace_epsilon(7, 0.1, 100, 1e-5);
        assert!(many < 10.0, "{many}");
    }
}
