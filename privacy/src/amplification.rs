//! Amplification by subsampling of a mechanism that is known by one point (ε, δ).
//!
//! Tight for both kinds of sampling (Balle, Barthe and Gaboardi 2018, theorems 8 and 9):
//! ε′ = ln(1 + q(e^ε − 1)) and δ′ = qδ, with q the Poisson rate or m/n. Results are rounded up.

/// ε′ = ln(1 + q(e^ε − 1)), rounded up.
///
/// # Guarantee
/// If a mechanism is (ε, δ)-DP, then on a sample with rate q it is (ε′, qδ)-DP, and no smaller ε′ works for
/// all mechanisms.
///
/// # Assumes
/// Poisson sampling with add-or-remove adjacency, or sampling m = qn of n without replacement with
/// replace-one adjacency. `rate` lies in [0, 1] and ε is not negative; other values give NaN.
#[must_use]
pub fn epsilon(epsilon: f64, rate: f64) -> f64 {
    if !(epsilon >= 0.0 && (0.0..=1.0).contains(&rate)) {
        return f64::NAN;
    }
    if rate == 0.0 || epsilon == 0.0 {
        return 0.0;
    }
    if rate == 1.0 {
        return epsilon;
    }
    // For large ε, ln(1 + q(e^ε − 1)) = ε + ln(q + (1 − q)e^{−ε}) does not overflow.
    let amplified = if epsilon < 30.0 {
        libm::log1p(rate * libm::expm1(epsilon))
    } else {
        epsilon + libm::log(rate + (1.0 - rate) * libm::exp(-epsilon))
    };
    (amplified * (1.0 + 4.0 * f64::EPSILON)).min(epsilon)
}

/// The ε that a mechanism may have so that its sample has `amplified`: inverse of [`epsilon`], rounded down.
#[must_use]
pub fn epsilon_before(amplified: f64, rate: f64) -> f64 {
    if !(amplified >= 0.0 && rate > 0.0 && rate <= 1.0) {
        return f64::NAN;
    }
    let before = if amplified < 30.0 {
        libm::log1p(libm::expm1(amplified) / rate)
    } else {
        amplified + libm::log((1.0 - (1.0 - rate) * libm::exp(-amplified)) / rate)
    };
    before * (1.0 - 4.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_tenth_of_the_records_of_a_ln_2_mechanism_costs_ln_1_1() {
        // ln(1 + 0.1·(2 − 1)) = ln 1.1.
        let found = epsilon(std::f64::consts::LN_2, 0.1);
        assert!((found - 1.1f64.ln()).abs() < 1e-15, "{found}");
        assert_eq!(epsilon(3.0, 1.0), 3.0);
        assert_eq!(epsilon(3.0, 0.0), 0.0);
        assert!(epsilon(f64::NAN, 0.5).is_nan());
        assert!((epsilon(2000.0, 0.5) - (2000.0 - std::f64::consts::LN_2)).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn sampling_never_costs_and_the_inverse_comes_back(eps in 1e-6f64..700.0, rate in 1e-6f64..1.0) {
            let amplified = epsilon(eps, rate);
            prop_assert!(amplified <= eps);
            let back = epsilon_before(amplified, rate);
            prop_assert!((back / eps - 1.0).abs() < 1e-9, "{} {}", back, eps);
        }
    }
}
