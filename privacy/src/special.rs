//! The normal distribution in its far tails, and sums of numbers kept as logarithms.
//!
//! Everything here keeps its *relative* accuracy where the value itself is tiny, because δ is tiny. The
//! tail is written as density times Mills ratio, `1 − Φ(x) = φ(x)·R(x)`, and R comes from Laplace's
//! continued fraction once `x` is large; no difference of nearly equal numbers is taken there.
//! Checked against mpmath in `testdata/special.csv`. All elementary functions come from `libm`, so that
//! the values are the same on every machine.

/// ln √(2π).
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Above this argument the continued fraction is both faster and more accurate than `erfc`.
const CONTINUED_FRACTION_FROM: f64 = 5.0;

/// Φ(x), the standard normal distribution function, with relative accuracy in the lower tail.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    if x < -CONTINUED_FRACTION_FROM {
        return normal_density(x) * mills_ratio(-x);
    }
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// φ(x), the standard normal density.
#[must_use]
pub fn normal_density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x - LN_SQRT_2PI)
}

/// ln Φ(x), finite and accurate for every finite `x`.
#[must_use]
pub fn log_normal_cdf(x: f64) -> f64 {
    if x < -CONTINUED_FRACTION_FROM {
        return -0.5 * x * x - LN_SQRT_2PI + libm::log(mills_ratio(-x));
    }
    if x > 0.0 {
        return libm::log1p(-normal_cdf(-x));
    }
    libm::log(normal_cdf(x))
}

/// The Mills ratio R(x) = (1 − Φ(x))/φ(x); overflows to infinity below about −37.
#[must_use]
pub fn mills_ratio(x: f64) -> f64 {
    if x < CONTINUED_FRACTION_FROM {
        let tail = 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
        return tail * libm::exp(0.5 * x * x + LN_SQRT_2PI);
    }
    1.0 / (x + mills_tail(x))
}

/// 1 − x·R(x), which is −R′(x): how fast the Mills ratio falls. Positive for every `x`.
#[must_use]
pub fn mills_slope(x: f64) -> f64 {
    if x < CONTINUED_FRACTION_FROM {
        return 1.0 - x * mills_ratio(x);
    }
    let tail = mills_tail(x);
    tail / (x + tail)
}

/// The tail K of Laplace's continued fraction R(x) = 1/(x + K), K = 1/(x + 2/(x + 3/(x + …))).
fn mills_tail(x: f64) -> f64 {
    // The error after n terms falls like exp(−2x√(2n)); this many terms leave less than one ulp.
    let terms = 12 + (500.0 / (x * x)) as u32;
    (1..=terms).rev().fold(0.0, |tail, k| f64::from(k) / (x + tail))
}

/// Φ⁻¹(p): the `x` with Φ(x) = p. Infinite at 0 and 1, NaN outside.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        // 1 − p is exact here.
        return -lower_quantile(1.0 - p);
    }
    lower_quantile(p)
}

/// Φ⁻¹ on [0, ½] by Newton's method on ln Φ, which is concave, so the iteration cannot overshoot twice.
fn lower_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p == 0.5 {
        return 0.0;
    }
    let target = libm::log(p);
    // ln Φ(x) ≈ −x²/2 − ln(…): a start below the root, from which Newton on a concave function ascends.
    let mut x = -libm::sqrt(-2.0 * target);
    for _ in 0..60 {
        // d/dx ln Φ(x) = φ(x)/Φ(x) = 1/R(−x).
        let step = (target - log_normal_cdf(x)) * mills_ratio(-x);
        x += step;
        if step.abs() <= 1e-16 * x.abs() {
            break;
        }
    }
    x
}

/// ln(e^a + e^b) without overflow.
#[must_use]
pub fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY || high == f64::INFINITY {
        return high;
    }
    high + libm::log1p(libm::exp(low - high))
}

/// ln(e^a − e^b) for a ≥ b; −∞ when they are equal, NaN when a < b.
#[must_use]
pub fn log_sub(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY {
        return a;
    }
    if a == b {
        return f64::NEG_INFINITY;
    }
    a + log1m_exp(b - a)
}

/// ln(1 − e^x) for x < 0 (Mächler 2012: the switch at −ln 2 keeps both branches accurate).
#[must_use]
pub fn log1m_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { libm::log(-libm::expm1(x)) } else { libm::log1p(-libm::exp(x)) }
}

/// ln Σ e^{xᵢ}; −∞ for an empty slice.
#[must_use]
pub fn log_sum_exp(terms: &[f64]) -> f64 {
    let high = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high.is_infinite() {
        return high;
    }
    high + libm::log(terms.iter().map(|term| libm::exp(term - high)).sum())
}

/// ln C(n, k) for real n ≥ k ≥ 0.
#[must_use]
pub fn log_binomial(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
        let scale = expected.abs().max(f64::MIN_POSITIVE);
        assert!((found - expected).abs() <= tolerance * scale, "{what}: {found:e} instead of {expected:e}");
    }

    #[test]
    fn the_normal_functions_agree_with_mpmath_into_the_far_tails() {
        for line in include_str!("../testdata/special.csv").lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let (x, expected): (f64, f64) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
            let found = match fields[0] {
                "normal_cdf" => normal_cdf(x),
                "log_normal_cdf" => log_normal_cdf(x),
                "mills_ratio" => mills_ratio(x),
                "mills_slope" => mills_slope(x),
                other => panic!("unknown quantity {other}"),
            };
            // exp(−x²/2) turns the rounding of x² into x²·1e-16 relative; just below the switch 1 − x·R(x) has lost
            // another factor of 25.
            let lost = if fields[0] == "mills_slope" { 25.0 } else { 1.0 };
            assert_close(found, expected, 1e-14 + lost * x.abs().min(40.0).powi(2) * 3e-16, line);
        }
    }

    #[test]
    fn the_quantile_inverts_the_distribution_function() {
        for p in [1e-300, 1e-100, 1e-20, 1e-9, 0.001, 0.2, 0.499, 0.5, 0.6, 0.975, 0.999_999] {
            assert_close(log_normal_cdf(normal_quantile(p)), libm::log(p), 1e-13, &format!("p = {p}"));
        }
        // Published: the 97.5 % point of the normal distribution.
        assert_close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-15, "97.5 %");
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan());
    }

    #[test]
    fn sums_in_logarithms_survive_numbers_that_overflow() {
        assert_close(log_add(1000.0, 1000.0), 1000.0 + std::f64::consts::LN_2, 1e-15, "add");
        assert_eq!(log_add(f64::NEG_INFINITY, 3.0), 3.0);
        assert_close(log_sum_exp(&[-1000.0, -1000.0, -1000.0]), -1000.0 + 3f64.ln(), 1e-15, "sum");
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        assert_close(log_sub(700.0, 690.0), 700.0 + (-(-10f64).exp()).ln_1p(), 1e-15, "sub");
        assert_eq!(log_sub(5.0, 5.0), f64::NEG_INFINITY);
        assert_close(log1m_exp(-1e-12), (1e-12f64).ln(), 1e-12, "near zero");
        assert_close(log_binomial(10.0, 3.0), 120f64.ln(), 1e-14, "10 choose 3");
    }
}
