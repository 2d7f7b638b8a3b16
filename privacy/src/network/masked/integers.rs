//! Theorem 2: totals of integer noise are rounded Gaussians.
//!
//! Let ϑ(v) = 2Σ_{k≥1} e^(−2π²v²k²). (a) A sum of discrete Gaussians of parameters s_1², …, s_h² is, at every integer, within e^±τ of the one of
//! S² = Σs_i²: τ = Σ_k ln((1 + ϑ_k)/(1 − ϑ_k)), ϑ_k = ϑ(√(S_{k−1}s_k²/S_k)), S_k = s_1² + … + s_k². (b) The discrete Gaussian of parameter S² around the integer x
//! is within a factor (1 + ϑ(S))/(1 − ϑ(r)) of N(x, S² − r²) rounded to y with probability ∝ e^(−(y−g)²/2r²), which does not depend on x.
//! *Proof.* (a) Complete the square in e^(−k²/2a − (y−k)²/2b); what is left is Σ_k e^(−(k−c)²/2v), v = ab/(a+b), which by Poisson summation is √(2πv)·(1 ± ϑ(√v))
//! for every c. Convolving with a further noise keeps such bounds. (b) Likewise; see [`GridGaussian`](crate::mechanisms::grid::GridGaussian).
//!
//! So all that holds for Gaussians (μ², samples, Rényi divergences) holds for the total with variance Σs_w² − 9, up to factors whose
//! logarithms are below 10⁻⁷⁰ and disappear in rounding up.

use crate::special::{log_binomial, log_sum_exp};

use std::f64::consts::{LN_2, LN_10, PI};

/// log₁₀ of ϑ(√`squared`), which is 2e^(−2π²v²) but for its further terms.
fn ln_theta(squared: f64) -> f64 {
    let exponent = -2.0 * PI * PI * squared;
    // 1 + q³ + q⁸ + …, q = e^exponent: more terms are below the last digit for any v that is used.
    let q = libm::exp(exponent);
    LN_2 + exponent + libm::log1p(libm::pow(q, 3.0) + libm::pow(q, 8.0) + libm::pow(q, 15.0))
}

/// ln of ln((1 + ϑ)/(1 − ϑ)) = ln of 2·artanh ϑ; 0 or less is no bound.
fn ln_ratio(ln_theta: f64) -> f64 {
    if ln_theta < -30.0 {
        return LN_2 + ln_theta;
    }
    let theta = libm::exp(ln_theta);
    libm::log(2.0 * libm::atanh(theta.min(1.0)))
}

/// log₁₀ τ of (a) for h discrete Gaussians of parameter s²; −∞ for a single one.
///
/// # Guarantee
/// Every probability of the sum is within e^±τ of that of the discrete Gaussian of parameter h·s².
///
/// # Assumes
/// Independent noises, exactly sampled.
pub fn log10_tau(contributors: u64, parameter_squared: f64) -> f64 {
    // ϑ_k with S_{k−1}s²/S_k = s²(k−1)/k falls fast: after a thousand terms all are equal to the last digit.
    let listed = contributors.min(LISTED);
    let mut terms: Vec<f64> =
        (2..=listed).map(|k| ln_ratio(ln_theta(parameter_squared * ((k - 1) as f64 / k as f64)))).collect();
    if contributors > listed {
        // The largest of those left, as often as there are left.
        let k = listed as f64 / (listed + 1) as f64;
        terms.push(ln_ratio(ln_theta(parameter_squared * k)) + libm::log((contributors - listed) as f64));
    }
    if terms.is_empty() { f64::NEG_INFINITY } else { log_sum_exp(&terms) / LN_10 }
}

const LISTED: u64 = 100_000;

/// log₁₀ of the factor's logarithm in (b) for r = 3, over `dimension` coordinates and `rounds` rounds: what "up to a factor" means.
pub fn log10_slack(parameter_squared: f64, dimension: u64, rounds: u64) -> f64 {
    let both = log_sum_exp(&[ln_theta(super::ROUNDING_VARIANCE), ln_theta(parameter_squared)]);
    (both + libm::log(dimension as f64 * rounds as f64)) / LN_10
}

/// log₁₀ τ and the ρ of zero-concentrated privacy as in Kairouz, Liu and Steinke (2021), for comparison.
pub fn kairouz(contributors: u64, parameter_squared: f64, sensitivity: f64, dimension: u64) -> (f64, f64) {
    let terms: Vec<f64> =
        (1..contributors).map(|k| -2.0 * PI * PI * parameter_squared * (k as f64 / (k + 1) as f64)).collect();
    let ln_tau = if terms.is_empty() { f64::NEG_INFINITY } else { libm::log(10.0) + log_sum_exp(&terms) };
    let (tau, d) = (libm::exp(ln_tau), dimension as f64);
    let ratio2 = sensitivity * sensitivity / (contributors as f64 * parameter_squared);
    let first = ratio2 + 0.5 * tau * d;
    let second = libm::sqrt(ratio2) + tau * libm::sqrt(d);
    (ln_tau / LN_10, 0.5 * first.min(second * second))
}

/// The smallest δ for this ε if the noise of a total is the number of heads among `coins` fair coins (drawn jointly, so that nobody knows or
/// chooses its part) and a neighbouring input moves it by `shift`.
pub fn binomial_delta(coins: u64, shift: u64, epsilon: f64) -> f64 {
    let n = coins as f64;
    let ln_mass = |x: u64| log_binomial(n, x as f64) - n * LN_2;
    (0..=coins)
        .map(|x| {
            if x < shift {
                return libm::exp(ln_mass(x));
            }
            // P(x − shift)/P(x), by factors.
            let ratio: f64 = (0..shift).map(|i| (x - i) as f64 / (coins - x + i + 1) as f64).product();
            libm::exp(ln_mass(x)) * (1.0 - libm::exp(epsilon) * ratio).max(0.0)
        })
        .sum()
}

/// The exact law of a total of small integer noises, by convolution: for checking the theorem and for grids so coarse that it is of no use.
#[derive(Clone, Debug)]
pub struct ExactTotal {
    /// Probability of −reach, …, reach.
    mass: Vec<f64>,
    reach: i64,
}

impl ExactTotal {
    /// `contributors` discrete Gaussians of parameter s² = `parameter_squared`, cut off where a single one has less than 10⁻¹⁷⁰.
    pub fn new(contributors: u32, parameter_squared: f64) -> Self {
        let reach = libm::ceil(28.0 * libm::sqrt(parameter_squared)) as i64 + 1;
        let weights: Vec<f64> =
            (-reach..=reach).map(|x| libm::exp(-((x * x) as f64) / (2.0 * parameter_squared))).collect();
        let total: f64 = weights.iter().sum();
        let one: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mut mass = vec![1.0];
        for _ in 0..contributors {
            mass = convolved(&mass, &one);
        }
        Self { reach: reach * i64::from(contributors), mass }
    }

    /// The smallest δ for this ε if a neighbouring input moves the total by `shift`.
    pub fn delta(&self, shift: i64, epsilon: f64) -> f64 {
        let at = |x: i64| self.mass.get((x + self.reach) as usize).copied().unwrap_or(0.0);
        let factor = libm::exp(epsilon);
        (-self.reach..=self.reach).map(|x| (at(x) - factor * at(x - shift)).max(0.0)).sum()
    }

    /// The probability that the noise plus `signal` does not fit in words of `bits` bits with their sign.
    pub fn beyond(&self, signal: i64, bits: u32) -> f64 {
        let half = 1_i64 << (bits - 1);
        let outside = |x: &i64| x + signal < -half || x + signal >= half;
        (-self.reach..=self.reach).filter(outside).map(|x| self.mass[(x + self.reach) as usize]).sum()
    }
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        b.iter().zip(&mut out[i..]).for_each(|(y, out)| *out += x * y);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_total_stays_within_tau_of_the_discrete_gaussian_of_the_summed_variances() {
        for (contributors, parameter_squared) in [(2, 0.5), (3, 0.7), (7, 1.0)] {
            let total = ExactTotal::new(contributors, parameter_squared);
            let whole = ExactTotal::new(1, f64::from(contributors) * parameter_squared);
            let tau = 10f64.powf(log10_tau(contributors.into(), parameter_squared));
            let mut worst = 0.0_f64;
            for x in -6..=6_i64 {
                let [a, b] = [&total, &whole].map(|law| law.mass[(x + law.reach) as usize]);
                worst = worst.max((a / b).ln().abs());
            }
            assert!(worst <= tau * (1.0 + 1e-9), "{contributors} × {parameter_squared}: {worst} above {tau}");
            assert!(contributors > 2 || worst > tau / 4.0, "the bound is of the right size: {worst} {tau}");
        }
    }

    #[test]
    fn a_rounded_gaussian_has_the_law_of_the_discrete_one() {
        // (b) by numerical integration over g, with r = 1 where the difference would be seen: ϑ(1) = 5e-9.
        let (x, s2, r2) = (2.0, 6.0, 1.0);
        let kernel = |y: i64, g: f64| {
            let weight = |y: i64| (-(y as f64 - g).powi(2) / (2.0 * r2)).exp();
            weight(y) / (-40..=40).map(|k| weight(k + g as i64)).sum::<f64>()
        };
        let steps = 4000;
        let width = 30.0 / f64::from(steps);
        for y in -4..=8_i64 {
            let mixed: f64 = (0..steps)
                .map(|i| x - 15.0 + (f64::from(i) + 0.5) * width)
                .map(|g| (-(g - x).powi(2) / (2.0 * (s2 - r2))).exp() * kernel(y, g))
                .sum::<f64>()
                * width
                / (2.0 * PI * (s2 - r2)).sqrt();
            let whole: f64 = (-60..=60).map(|k| (-f64::from(k * k) / (2.0 * s2)).exp()).sum();
            let discrete = (-(y as f64 - x).powi(2) / (2.0 * s2)).exp() / whole;
            assert!(
                (mixed / discrete - 1.0).abs() < 2.0 * libm::exp(ln_theta(r2)),
                "{y}: {mixed} {discrete}"
            );
        }
    }

    #[test]
    fn one_noise_alone_is_exact() {
        assert_eq!(log10_tau(1, 1.0), f64::NEG_INFINITY);
    }
}
