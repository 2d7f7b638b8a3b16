//! Rényi divergence of the Gaussian mechanism on a Poisson sample, at whole and fractional orders.
//!
//! With Q = N(0, σ²) and P = (1−q)·N(0, σ²) + q·N(1, σ²) the divergence of the mechanism is
//! ln E_Q[(P/Q)^α]/(α−1): the other direction is never larger (Mironov, Talwar and Zhang 2019, corollary 7).
//! Whole orders use their finite binomial sum. Fractional orders integrate the definition: the trapezoid rule on
//! an analytic integrand with Gaussian tails converges geometrically, so that a few hundred points reach
//! rounding error, where the usual two-sided series is loose. Both are arranged so that E − 1, which may be
//! 1e-15, is a sum of positive terms and keeps its relative accuracy.

use super::laplace::log_mixture;
use crate::special::{LN_SQRT_2PI, log_add, log_binomial, log_sum_exp};

/// Whole orders above this use the integral, whose cost does not grow with the square of the order.
const BINOMIAL_TO: f64 = 512.0;

/// D_α is enlarged by this factor, far above the error of sum and integral (both below 1e-11).
const GUARD: f64 = 1e-10;

/// D_α of Gaussian noise with multiplier σ on a Poisson sample with rate q.
///
/// # Guarantee
/// An upper bound on D_α in both directions, above the true value by one part in 10⁹ at most.
///
/// # Assumes
/// Add-or-remove adjacency, sensitivity 1 in ℓ₂; α > 1, σ > 0, 0 ≤ q ≤ 1.
#[must_use]
pub fn sampled_gaussian(rate: f64, noise_multiplier: f64, order: f64) -> f64 {
    let plain = order / (2.0 * noise_multiplier * noise_multiplier);
    if rate == 0.0 {
        return 0.0;
    }
    if rate == 1.0 {
        return plain * (1.0 + 4.0 * f64::EPSILON);
    }
    let log_moment = if order.fract() == 0.0 && order <= BINOMIAL_TO {
        whole_order(rate, noise_multiplier, order)
    } else {
        fractional_order(rate, noise_multiplier, order)
    };
    (log_moment / (order - 1.0) * (1.0 + GUARD)).min(plain * (1.0 + GUARD))
}

/// ln E for whole α: E − 1 = Σ_{k=2}^α C(α,k) (1−q)^{α−k} q^k (e^{(k²−k)/(2σ²)} − 1); the −1 is the binomial
/// theorem itself, taken off term by term.
fn whole_order(rate: f64, sigma: f64, order: f64) -> f64 {
    let (log_rate, log_rest) = (libm::log(rate), libm::log1p(-rate));
    let terms: Vec<f64> = (2..=order as u32)
        .map(|k| {
            let k = f64::from(k);
            let exponent = (k * k - k) / (2.0 * sigma * sigma);
            log_binomial(order, k) + (order - k) * log_rest + k * log_rate + log_expm1(exponent)
        })
        .collect();
    log_add(0.0, log_sum_exp(&terms))
}

/// ln(e^x − 1) for x > 0.
fn log_expm1(x: f64) -> f64 {
    if x > 30.0 { x + libm::log1p(-libm::exp(-x)) } else { libm::log(libm::expm1(x)) }
}

/// ln E for any α, by the trapezoid rule over z.
fn fractional_order(rate: f64, sigma: f64, order: f64) -> f64 {
    let grid = Grid::new(sigma, order);
    let large = grid.log_integral(|z| order * log_mixture(rate, loss(z, sigma)));
    if large > 0.1 {
        return large;
    }
    libm::log1p(grid.integral(|z| convex_part(rate, loss(z, sigma), order)))
}

/// ln of N(1, σ²) over N(0, σ²) at z.
fn loss(z: f64, sigma: f64) -> f64 {
    (2.0 * z - 1.0) / (2.0 * sigma * sigma)
}

/// (1+u)^α − 1 − αu for u = q(e^ℓ − 1): positive, and E_Q of it is E − 1 because E_Q[u] = 0.
fn convex_part(rate: f64, loss: f64, order: f64) -> f64 {
    let u = rate * libm::expm1(loss);
    if (order * u).abs() > 0.05 {
        return libm::expm1(order * libm::log1p(u)) - order * u;
    }
    // Binomial series: the first two terms are what was taken off.
    let (mut term, mut sum) = (order * u, 0.0);
    for k in 2..=14 {
        let k = f64::from(k);
        term *= (order - k + 1.0) / k * u;
        sum += term;
    }
    sum
}

/// Equidistant points that cover both N(0, σ²) and the tilted bump around z = α.
struct Grid {
    start: f64,
    step: f64,
    points: u32,
    sigma: f64,
}

impl Grid {
    /// The integrand has its nearest singularity at distance πσ² from the real line; the trapezoid rule with step h
    /// errs by e^{−2πd/h} for distance d, so both σ/4 and σ²/2 leave less than 1e-15.
    fn new(sigma: f64, order: f64) -> Self {
        let step = (0.25 * sigma).min(0.5 * sigma * sigma);
        let (start, end) = (-10.0 * sigma, order + 10.0 * sigma);
        let points = ((end - start) / step).ceil().min(4e6) as u32;
        Self { start, step: (end - start) / f64::from(points), points, sigma }
    }

    fn positions(&self) -> impl Iterator<Item = f64> {
        (0..=self.points).map(|i| self.start + self.step * f64::from(i))
    }

    fn log_density(&self, z: f64) -> f64 {
        -0.5 * (z / self.sigma) * (z / self.sigma) - LN_SQRT_2PI - libm::log(self.sigma)
    }

    /// ln ∫ e^{f(z)} N(z; 0, σ²) dz.
    fn log_integral(&self, f: impl Fn(f64) -> f64) -> f64 {
        let terms: Vec<f64> = self.positions().map(|z| f(z) + self.log_density(z)).collect();
        log_sum_exp(&terms) + libm::log(self.step)
    }

    /// ∫ f(z) N(z; 0, σ²) dz; where the density underflows, f does not matter.
    fn integral(&self, f: impl Fn(f64) -> f64) -> f64 {
        let weigh = |z: f64| {
            let density = libm::exp(self.log_density(z));
            if density == 0.0 { 0.0 } else { f(z) * density }
        };
        self.positions().map(weigh).sum::<f64>() * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_and_binomial_sum_agree_at_whole_orders() {
        for (rate, sigma) in [(1e-4, 50.0), (1e-4, 0.5), (0.01, 1.0), (0.3, 4.0), (0.9, 0.7)] {
            for order in [2.0, 3.0, 8.0, 33.0, 128.0] {
                let (sum, integral) = (whole_order(rate, sigma, order), fractional_order(rate, sigma, order));
                assert!((sum / integral - 1.0).abs() < 1e-10, "{rate} {sigma} {order}: {sum} {integral}");
            }
        }
    }

    #[test]
    fn the_other_direction_is_never_larger() {
        // E_Q[(P/Q)^{1−α}] is the moment of the reverse divergence.
        for (rate, sigma) in [(0.01, 0.5), (0.1, 1.0), (0.5, 2.0), (0.9, 5.0)] {
            for order in [1.25, 2.0, 4.5, 16.0] {
                let grid = Grid::new(sigma, order);
                let reverse = grid.log_integral(|z| (1.0 - order) * log_mixture(rate, loss(z, sigma)));
                let here = sampled_gaussian(rate, sigma, order) * (order - 1.0);
                assert!(reverse <= here * (1.0 + 1e-9) + 1e-14, "{rate} {sigma} {order}: {reverse} {here}");
            }
        }
    }

    #[test]
    fn divergences_rise_with_the_order_and_fall_with_noise() {
        for (rate, sigma) in [(0.001, 0.6), (0.02, 1.2), (0.4, 6.0)] {
            let mut last = 0.0;
            for order in [1.05, 1.5, 1.99, 2.0, 2.01, 5.0, 17.3, 64.0, 200.0] {
                let now = sampled_gaussian(rate, sigma, order);
                assert!(
                    now > last && now > sampled_gaussian(rate, sigma * 1.01, order),
                    "{rate} {sigma} {order}"
                );
                last = now;
            }
        }
    }
}
