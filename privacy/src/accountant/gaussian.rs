//! Gaussian DP: exact for Gaussian mechanisms on all records, refuses everything else.
//!
//! μ² adds under composition (Dong, Roth and Su 2022, corollary 3.3). The central-limit approximation for
//! sampled mechanisms is *not* a bound and is not offered.

use super::{AccountError, Accountant, compose_supported};
use crate::event::DpEvent;
use crate::gdp;
use crate::release::{Mechanism, Release, Releases, Sampling};

/// Adds up μ².
#[derive(Debug, Clone, Default)]
pub struct GaussianAccountant {
    ledger: Releases,
}

impl GaussianAccountant {
    /// μ of everything composed so far, rounded up; infinite when something was released without noise.
    #[must_use]
    pub fn mu(&self) -> f64 {
        total_mu(&self.ledger)
    }
}

impl Accountant for GaussianAccountant {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn analysis(&self) -> &'static str {
        "Gaussian DP, exact: μ² adds up (Dong, Roth and Su 2022)"
    }

    fn ledger(&self) -> &Releases {
        &self.ledger
    }

    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError> {
        compose_supported(&mut self.ledger, event, count, supports)
    }

    fn epsilon(&self, delta: f64) -> Result<f64, AccountError> {
        Ok(gdp::epsilon(self.mu(), delta)?)
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        Ok(gdp::delta(self.mu(), epsilon)?)
    }
}

/// √(Σ count/σ²) over the Gaussians of a ledger, rounded up.
pub(crate) fn total_mu(ledger: &Releases) -> f64 {
    if ledger.has_non_private() {
        return f64::INFINITY;
    }
    let square = |release: &Release| match release.mechanism {
        Mechanism::Gaussian { noise_multiplier } => 1.0 / (noise_multiplier * noise_multiplier),
        Mechanism::Laplace { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Pure { .. }
        | Mechanism::Approximate { .. }
        | Mechanism::ZeroConcentrated { .. }
        | Mechanism::NonPrivate => f64::INFINITY,
    };
    let sum: f64 = ledger.entries().iter().map(|(release, count)| *count as f64 * square(release)).sum();
    libm::sqrt(sum) * (1.0 + 1e-14)
}

fn supports(release: &Release) -> Result<(), AccountError> {
    let refuse = |reason| {
        Err(AccountError::Unsupported { accountant: "gaussian", release: release.to_string(), reason })
    };
    match (release.mechanism, release.sampling) {
        (Mechanism::Gaussian { .. }, Sampling::All) | (Mechanism::NonPrivate, _) => Ok(()),
        (Mechanism::Gaussian { .. }, Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. }) => {
            refuse("a sampled Gaussian is not Gaussian DP; the central-limit formula is not a bound")
        }
        (
            Mechanism::Laplace { .. }
            | Mechanism::RandomizedResponse { .. }
            | Mechanism::Pure { .. }
            | Mechanism::Approximate { .. }
            | Mechanism::ZeroConcentrated { .. },
            _,
        ) => refuse("only Gaussian noise composes as μ²"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_releases_at_sigma_ten_are_one_at_sigma_one() {
        let mut accountant = GaussianAccountant::default();
        accountant.compose(&DpEvent::Gaussian { noise_multiplier: 10.0 }, 100).unwrap();
        // testdata/gaussian_exact.csv, σ = 1, δ = 1e-5.
        assert!((accountant.epsilon(1e-5).unwrap() / 4.377_178_095_681_224_6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_sampled_gaussian_is_refused() {
        let event = DpEvent::Gaussian { noise_multiplier: 1.0 }.poisson_sampled(0.01);
        let error = GaussianAccountant::default().compose(&event, 1).unwrap_err();
        assert!(matches!(error, AccountError::Unsupported { accountant: "gaussian", .. }), "{error}");
    }
}
