//! One release as one point (ε, δ), for accountants that compose points.

use crate::amplification;
use crate::gdp;
use crate::rdp::conversion;
use crate::release::{Mechanism, Release, Sampling, known_point};

/// What a ledger's releases need of δ.
pub(super) enum Point {
    /// (ε, δ) is fixed, whatever the budget.
    Fixed {
        /// ε after amplification.
        epsilon: f64,
        /// δ after amplification.
        delta: f64,
    },
    /// The release has a whole curve: ε depends on the δ that it is given.
    Curve,
    /// No ε at any δ below 1.
    Unbounded,
}

/// The point of a release, or that it needs a share of δ.
pub(super) fn of(release: &Release) -> Point {
    if release.mechanism == Mechanism::NonPrivate {
        return Point::Unbounded;
    }
    match known_point(release.mechanism) {
        Some((epsilon, delta)) => {
            let rate = rate(release.sampling);
            Point::Fixed { epsilon: amplification::epsilon(epsilon, rate), delta: delta * rate }
        }
        None => Point::Curve,
    }
}

/// ε of a release with a curve, given its share of δ.
///
/// A sample at rate q turns (ε, δ/q) into (ln(1 + q(e^ε − 1)), δ); with δ ≥ q nothing is left to pay.
pub(super) fn epsilon_of_curve(release: &Release, share: f64) -> f64 {
    let rate = rate(release.sampling);
    let inner_delta = share / rate * (1.0 - 4.0 * f64::EPSILON);
    if inner_delta >= 1.0 {
        return 0.0;
    }
    if inner_delta <= 0.0 {
        return f64::INFINITY;
    }
    let epsilon = match release.mechanism {
        Mechanism::Gaussian { noise_multiplier } => {
            gdp::epsilon((1.0 / noise_multiplier).next_up(), inner_delta)
                .expect("a validated noise multiplier and a δ inside (0, 1)")
        }
        Mechanism::ZeroConcentrated { rho } => conversion::zcdp_epsilon(rho, inner_delta),
        Mechanism::Laplace { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Pure { .. }
        | Mechanism::Approximate { .. }
        | Mechanism::NonPrivate => f64::INFINITY,
    };
    amplification::epsilon(epsilon, rate)
}

fn rate(sampling: Sampling) -> f64 {
    match sampling {
        Sampling::All => 1.0,
        Sampling::Poisson { rate } => rate,
        Sampling::WithoutReplacement { population, sample } => {
            (sample as f64 / population as f64).next_up().min(1.0)
        }
    }
}
