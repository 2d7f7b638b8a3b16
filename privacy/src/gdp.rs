//! Gaussian differential privacy: exact conversion between μ and (ε, δ).
//!
//! A mechanism is μ-GDP when telling two neighbouring inputs apart is at least as hard as telling N(0, 1)
//! from N(μ, 1) (Dong, Roth and Su 2022). μ² adds under composition. The Gaussian mechanism with noise σ and
//! sensitivity Δ is exactly (Δ/σ)-GDP, and its (ε, δ) curve is (Balle and Wang 2018, theorem 8)
//!
//! > δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2).
//!
//! With a = ε/μ − μ/2, b = ε/μ + μ/2 the two terms share the factor φ(a), so
//! δ = φ(a)·(R(a) − R(b)) with the Mills ratio R; for small μ the difference is integrated instead of
//! subtracted. Invariant: δ and ε are never below the true value, μ never above.

use thiserror::Error;
use topology::Hint;

use crate::root;
use crate::special::{LN_SQRT_2PI, mills_ratio, mills_slope, normal_cdf, normal_quantile};

/// Every δ is enlarged by this factor, which exceeds the rounding of the formula (x² in the exponent for
/// |x| < 39 costs 2e-13, everything else less).
const GUARD: f64 = 1.0 / (1u64 << 40) as f64;

/// Below this μ the difference of Mills ratios is integrated; four points leave less than 1e-14.
const INTEGRATE_BELOW: f64 = 0.1;

/// A conversion that was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// μ is negative or not a number.
    #[error("μ must be zero or positive: {0}")]
    Mu(f64),
    /// ε is negative, infinite or not a number.
    #[error("ε must be zero or positive and finite: {0}")]
    Epsilon(f64),
    /// δ is outside (0, 1).
    #[error("δ must lie between 0 and 1, both excluded: {0}")]
    Delta(f64),
    /// A sensitivity that is not positive and finite.
    #[error("sensitivity must be positive and finite: {0}")]
    Sensitivity(f64),
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Mu(_) => "μ is sensitivity divided by noise; 0 means that nothing is revealed",
            Self::Epsilon(_) => "use a number such as 1 or 4",
            Self::Delta(_) => "use a δ well below one over the number of records, such as 1e-5",
            Self::Sensitivity(_) => "use the largest change that one record or node can make, such as 1",
        };
        Some(hint.to_owned())
    }
}

/// δ(ε) of a μ-GDP mechanism, rounded up.
///
/// # Guarantee
/// A μ-GDP mechanism is (ε, δ)-DP for the returned δ; the Gaussian mechanism with Δ/σ = μ is so for no δ that
/// is smaller by more than one part in 10¹¹. Never returns 0 for μ > 0.
///
/// # Assumes
/// μ was composed over everything the observer saw (μ² adds up).
///
/// # Errors
/// When μ or ε is negative or NaN, or ε is infinite.
pub fn delta(mu: f64, epsilon: f64) -> Result<f64, Error> {
    check_mu(mu)?;
    check_epsilon(epsilon)?;
    Ok(delta_up(mu, epsilon))
}

/// ε(δ) of a μ-GDP mechanism, rounded up.
///
/// # Guarantee
/// A μ-GDP mechanism is (ε, δ)-DP for the returned ε. μ = 0 gives 0 and μ = ∞ gives ∞.
///
/// # Assumes
/// μ was composed over everything the observer saw (μ² adds up).
///
/// # Errors
/// When μ is negative or NaN, or δ outside (0, 1).
pub fn epsilon(mu: f64, delta: f64) -> Result<f64, Error> {
    check_mu(mu)?;
    check_delta(delta)?;
    // Below the least normal number δ itself is rounded too coarsely to be met.
    if mu == f64::INFINITY || (mu > 0.0 && delta < f64::MIN_POSITIVE) {
        return Ok(f64::INFINITY);
    }
    if delta_up(mu, 0.0) <= delta {
        return Ok(0.0);
    }
    Ok(first_epsilon_below(mu, delta, newton_ratio(mu, delta) * mu))
}

/// The largest μ that meets (ε, δ), rounded down.
///
/// # Guarantee
/// Every mechanism that is μ-GDP for the returned μ (or less) is (ε, δ)-DP. This is the μ of the Gaussian whose
/// curve passes through the point; an arbitrary (ε, δ)-DP mechanism is *not* μ-GDP for it.
///
/// # Assumes
/// Nothing beyond the definition of μ-GDP.
///
/// # Errors
/// When ε is negative, infinite or NaN, or δ outside (0, 1).
pub fn mu(epsilon: f64, delta: f64) -> Result<f64, Error> {
    check_epsilon(epsilon)?;
    check_delta(delta)?;
    if delta < f64::MIN_POSITIVE {
        return Ok(0.0);
    }
    let excess = |mu: f64| log_delta(mu, epsilon) + GUARD - libm::log(delta);
    let mut low = libm::sqrt(2.0 * epsilon).clamp(1e-3, 1e100);
    while excess(low) > 0.0 {
        low *= 0.5;
        if low < f64::MIN_POSITIVE {
            return Ok(0.0);
        }
    }
    let mut high = low;
    while excess(high) <= 0.0 {
        (low, high) = (high, 2.0 * high);
    }
    let (mut low, _) = root::narrow(low, high, 1e-14, excess);
    while delta_up(low, epsilon) > delta {
        low *= 1.0 - 4.0 * f64::EPSILON;
    }
    Ok(low)
}

/// The smallest noise σ with which the Gaussian mechanism of this ℓ₂ sensitivity meets (ε, δ), rounded up.
///
/// # Guarantee
/// Adding N(0, σ²) to every coordinate is (ε, δ)-DP, for any ε (not only ε ≤ 1).
///
/// # Assumes
/// `sensitivity` bounds the ℓ₂ change between neighbouring inputs; noise is drawn from the real line.
///
/// # Errors
/// As [`mu`], and when the sensitivity is not positive and finite.
pub fn sigma(epsilon: f64, delta: f64, sensitivity: f64) -> Result<f64, Error> {
    if !(sensitivity.is_finite() && sensitivity > 0.0) {
        return Err(Error::Sensitivity(sensitivity));
    }
    Ok((sensitivity / mu(epsilon, delta)?).next_up())
}

pub(crate) fn check_delta(delta: f64) -> Result<(), Error> {
    if delta > 0.0 && delta < 1.0 { Ok(()) } else { Err(Error::Delta(delta)) }
}

pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    if epsilon >= 0.0 && epsilon.is_finite() { Ok(()) } else { Err(Error::Epsilon(epsilon)) }
}

fn check_mu(mu: f64) -> Result<(), Error> {
    if mu >= 0.0 { Ok(()) } else { Err(Error::Mu(mu)) }
}

/// δ(ε) rounded up; a positive μ never gives 0, because no Gaussian is free.
fn delta_up(mu: f64, epsilon: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    if mu == f64::INFINITY {
        return 1.0;
    }
    (libm::exp(log_delta(mu, epsilon)) * (1.0 + GUARD)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// ln δ(ε) for 0 < μ < ∞, ε ≥ 0.
fn log_delta(mu: f64, epsilon: f64) -> f64 {
    let (a, b) = ends(mu, epsilon);
    if a < 0.0 && mu > INTEGRATE_BELOW {
        return libm::log(normal_cdf(-a) - libm::exp(-0.5 * a * a - LN_SQRT_2PI) * mills_ratio(b));
    }
    -0.5 * a * a - LN_SQRT_2PI + libm::log(mills_drop(a, b, mu))
}

/// a = ε/μ − μ/2 and b = ε/μ + μ/2; the remainder of the division is kept, since a is squared and
/// exponentiated while ε/μ and μ/2 may be large and close.
fn ends(mu: f64, epsilon: f64) -> (f64, f64) {
    let ratio = epsilon / mu;
    let remainder = libm::fma(-ratio, mu, epsilon) / mu;
    (ratio - 0.5 * mu + remainder, ratio + 0.5 * mu)
}

/// R(a) − R(b) with b = a + μ. The difference loses a/μ ulps, at most 400 from μ = 0.1 on; below it is integrated.
fn mills_drop(a: f64, b: f64, mu: f64) -> f64 {
    if mu > INTEGRATE_BELOW {
        return mills_ratio(a) - mills_ratio(b);
    }
    let (middle, half) = (a + 0.5 * mu, 0.5 * mu);
    let pair = |(x, w): &(f64, f64)| w * (mills_slope(middle - half * x) + mills_slope(middle + half * x));
    half * GAUSS_4.iter().map(pair).sum::<f64>()
}

/// The ratio t = ε/μ with δ(tμ) = δ, by Newton's method on ln δ inside a bracket.
fn newton_ratio(mu: f64, delta: f64) -> f64 {
    // What is compared with δ in the end has the guard on top.
    let target = libm::log(delta) - GUARD;
    // δ(ε) ≤ Φ(−a) gives a ≤ −Φ⁻¹(δ), hence an upper end.
    let (mut low, mut high) = (0.0, (0.5 * mu - normal_quantile(delta)).max(f64::MIN_POSITIVE));
    let mut t = high;
    for _ in 0..100 {
        let excess = log_delta(mu, t * mu) - target;
        // The rounding of ln δ; what is left of it is made good when the result is rounded up.
        if excess.abs() < 2e-13 {
            return t;
        }
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let (a, b) = ends(mu, t * mu);
        // dδ/dε = −e^ε Φ(−b) = −φ(a) R(b), divided by δ.
        let slope = -libm::exp(libm::log(mills_ratio(b)) - 0.5 * a * a - LN_SQRT_2PI - excess - target) * mu;
        let next = t - excess / slope;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - t).abs() <= f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    high
}

/// Moves ε up from just below the root until the rounded-up δ meets the target.
fn first_epsilon_below(mu: f64, delta: f64, start: f64) -> f64 {
    let mut step = f64::EPSILON;
    let mut epsilon = start;
    while delta_up(mu, epsilon) > delta {
        epsilon = start + (start * step).max(f64::MIN_POSITIVE);
        step *= 2.0;
    }
    epsilon
}

/// Positive nodes and weights of the Gauss–Legendre rule with 4 points.
const GAUSS_4: [(f64, f64); 2] =
    [(0.339_981_043_584_856_3, 0.652_145_154_862_546_1), (0.861_136_311_594_052_6, 0.347_854_845_137_453_85)];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_delta_below_the_normal_numbers_is_met_by_nothing_but_silence() {
        assert_eq!(epsilon(1.0, 1e-310).unwrap(), f64::INFINITY);
        assert_eq!(epsilon(0.0, 1e-310).unwrap(), 0.0);
        assert_eq!(mu(1.0, 1e-310).unwrap(), 0.0);
    }

    #[test]
    fn zero_reveals_nothing_and_infinity_reveals_everything() {
        assert_eq!(epsilon(0.0, 1e-5), Ok(0.0));
        assert_eq!(delta(0.0, 0.0), Ok(0.0));
        assert_eq!(epsilon(f64::INFINITY, 1e-5), Ok(f64::INFINITY));
        assert_eq!(delta(f64::INFINITY, 3.0), Ok(1.0));
    }

    #[test]
    fn bad_input_is_refused_by_name() {
        assert!(matches!(delta(f64::NAN, 1.0), Err(Error::Mu(_))));
        assert_eq!(delta(-1.0, 1.0), Err(Error::Mu(-1.0)));
        assert_eq!(delta(1.0, -1.0), Err(Error::Epsilon(-1.0)));
        assert_eq!(mu(f64::INFINITY, 0.1), Err(Error::Epsilon(f64::INFINITY)));
        for bad in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(matches!(epsilon(1.0, bad), Err(Error::Delta(_))), "{bad}");
            assert!(matches!(mu(1.0, bad), Err(Error::Delta(_))), "{bad}");
        }
        assert_eq!(sigma(1.0, 1e-5, 0.0), Err(Error::Sensitivity(0.0)));
    }

    proptest! {
        #[test]
        fn epsilon_meets_delta_and_barely(ln_mu in -18.4f64..9.2, ln_delta in -690.0f64..-0.001) {
            let (mu, delta_goal) = (ln_mu.exp(), ln_delta.exp());
            let found = epsilon(mu, delta_goal).unwrap();
            prop_assert!(delta(mu, found).unwrap() <= delta_goal);
            // A smaller ε (by 1e-9 relative) must fail, unless it is 0 already.
            if found > 1e-6 * mu {
                prop_assert!(delta(mu, found * (1.0 - 1e-8)).unwrap() > delta_goal, "{} {} {}", mu, delta_goal, found);
            }
        }

        #[test]
        fn the_largest_mu_meets_the_target_and_barely(ln_epsilon in -9.0f64..9.0, ln_delta in -600.0f64..-0.01) {
            let (epsilon_goal, delta_goal) = (ln_epsilon.exp(), ln_delta.exp());
            let found = mu(epsilon_goal, delta_goal).unwrap();
            prop_assert!(delta(found, epsilon_goal).unwrap() <= delta_goal);
            prop_assert!(delta(found * (1.0 + 1e-9), epsilon_goal).unwrap() > delta_goal);
        }

        #[test]
        fn more_noise_never_costs_more(ln_mu in -15.0f64..8.0, grow in 1e-6f64..3.0, epsilon_at in 0.0f64..50.0) {
            let (small, large) = (ln_mu.exp(), (ln_mu + grow).exp());
            prop_assert!(delta(small, epsilon_at).unwrap() <= delta(large, epsilon_at).unwrap());
        }
    }
}
