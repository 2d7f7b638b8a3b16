//! The Rényi divergence of one release at one order.

use super::{laplace, sampled_gaussian, sampled_laplace, without_replacement};
use crate::accountant::AccountError;
use crate::release::{Mechanism, Release, Sampling};
use crate::special::log_sum_exp;

/// D_α of one release, the larger of both directions; infinite for what has no protection.
///
/// # Guarantee
/// D_α(M(D)‖M(D′)) ≤ the returned value for all neighbouring D, D′. Of an (ε, δ) release it is the divergence
/// of the part that remains after δ is set aside.
///
/// # Assumes
/// α > 1. Add-or-remove adjacency for Poisson samples, replace-one for samples without replacement. A release
/// that the Rényi accountant refuses gives infinity.
#[must_use]
pub fn divergence(release: &Release, order: f64) -> f64 {
    match release.sampling {
        Sampling::All => unsampled(release.mechanism, order),
        Sampling::Poisson { rate } => match release.mechanism {
            Mechanism::Gaussian { noise_multiplier } => sampled_gaussian(rate, noise_multiplier, order),
            Mechanism::Laplace { noise_multiplier } => sampled_laplace(rate, noise_multiplier, order),
            Mechanism::RandomizedResponse { .. }
            | Mechanism::Pure { .. }
            | Mechanism::Approximate { .. }
            | Mechanism::ZeroConcentrated { .. }
            | Mechanism::NonPrivate => f64::INFINITY,
        },
        Sampling::WithoutReplacement { population, sample } => {
            let rate = (sample as f64 / population as f64).next_up().min(1.0);
            without_replacement(release.mechanism, rate, order)
        }
    }
}

/// D_α of randomised response with K categories, exactly.
///
/// The truth has probability p = e^ε·r and each other answer r = 1/(e^ε + K − 1), so
/// D_α = ln(p e^{(α−1)ε} + r e^{−(α−1)ε} + (K−2) r)/(α−1).
///
/// # Guarantee
/// Equal to the divergence between two different truths, rounded up.
///
/// # Assumes
/// α > 1, ε ≥ 0, K ≥ 2.
#[must_use]
pub fn randomized_response(epsilon: f64, categories: u64, order: f64) -> f64 {
    let others = categories as f64 - 1.0;
    let (slope, odds) = (order - 1.0, libm::exp(-epsilon));
    // r = e^{−ε}/(1 + (K−1)e^{−ε}), written so that a large ε does not overflow.
    let truth = 1.0 / (1.0 + others * odds);
    let lie = odds * truth;
    let log_moment = if slope * epsilon < 1.0 {
        libm::log1p(truth * libm::expm1(slope * epsilon) + lie * libm::expm1(-slope * epsilon))
    } else {
        log_sum_exp(&[
            libm::log(truth) + slope * epsilon,
            libm::log(lie) - slope * epsilon,
            libm::log((others - 1.0) * lie),
        ])
    };
    // For small ε the two expm1 cancel to second order; the first order bounds what rounding does.
    let rounding = 4.0 * f64::EPSILON * (slope * epsilon).min(1.0);
    ((log_moment + rounding) / slope * (1.0 + 1e-14)).min(epsilon)
}

/// D_α of the worst ε-DP mechanism: binary randomised response, of which every ε-DP mechanism is a
/// post-processing (Kairouz, Oh and Viswanath 2015).
///
/// # Guarantee
/// Every ε-DP mechanism has at most this divergence, and one has it.
///
/// # Assumes
/// α > 1, ε ≥ 0.
#[must_use]
pub fn pure_dp(epsilon: f64, order: f64) -> f64 {
    randomized_response(epsilon, 2, order)
}

/// D_α without sampling.
pub(super) fn unsampled(mechanism: Mechanism, order: f64) -> f64 {
    match mechanism {
        // Mironov 2017, proposition 7.
        Mechanism::Gaussian { noise_multiplier } => {
            order / (2.0 * noise_multiplier * noise_multiplier) * (1.0 + 4.0 * f64::EPSILON)
        }
        Mechanism::Laplace { noise_multiplier } => laplace(noise_multiplier, order),
        Mechanism::RandomizedResponse { epsilon, categories } => {
            randomized_response(epsilon, categories, order)
        }
        Mechanism::Pure { epsilon } | Mechanism::Approximate { epsilon, .. } => pure_dp(epsilon, order),
        Mechanism::ZeroConcentrated { rho } => (rho * order).next_up(),
        Mechanism::NonPrivate => f64::INFINITY,
    }
}

/// Which releases have a divergence here.
pub(super) fn supports(release: &Release) -> Result<(), AccountError> {
    match (release.mechanism, release.sampling) {
        (Mechanism::ZeroConcentrated { .. }, Sampling::Poisson { .. }) => Err(AccountError::Unsupported {
            accountant: "renyi",
            release: release.to_string(),
            reason: "zCDP alone says too little about a Poisson sample",
        }),
        (
            Mechanism::Gaussian { .. }
            | Mechanism::Laplace { .. }
            | Mechanism::RandomizedResponse { .. }
            | Mechanism::Pure { .. }
            | Mechanism::Approximate { .. }
            | Mechanism::ZeroConcentrated { .. }
            | Mechanism::NonPrivate,
            Sampling::All | Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. },
        ) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn binary_randomised_response_has_the_divergence_of_its_two_answers() {
        // Truth with probability 3/4, order 2: ln(0.75²/0.25 + 0.25²/0.75) = ln(7/3).
        let found = randomized_response(3f64.ln(), 2, 2.0);
        assert!((found / (7.0f64 / 3.0).ln() - 1.0).abs() < 1e-13, "{found}");
        // Three categories with odds 2:1:1, order 2: ln(0.5²/0.25 + 0.25²/0.5 + 0.25) = ln 1.375.
        let found = randomized_response(2f64.ln(), 3, 2.0);
        assert!((found / 1.375f64.ln() - 1.0).abs() < 1e-13, "{found}");
    }

    proptest! {
        #[test]
        fn a_pure_mechanism_never_exceeds_epsilon_nor_its_zcdp_bound(ln_eps in -12.0f64..5.0, order in 1.001f64..500.0) {
            let epsilon = ln_eps.exp();
            let found = pure_dp(epsilon, order);
            prop_assert!(found > 0.0 && found <= epsilon);
            // Bun and Steinke 2016, proposition 3.3: ε-DP is ε²/2-zCDP.
            prop_assert!(found <= 0.5 * epsilon * epsilon * order * (1.0 + 1e-6), "{} {}", found, epsilon);
        }
    }
}
