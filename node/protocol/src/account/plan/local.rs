//! Noise for somebody who sees every message.

use super::{Found, LARGEST, PlanError, Question, TOLERANCE, named, release_rule};
use crate::account::{ReleaseKind, epsilon_of};
use crate::settings::Scope;
use privacy::gdp;

/// The least noise with which `releases` contributions cost at most ε, and the limit on their number.
pub(super) fn calibrated(question: &Question<'_>, epsilon: f64, releases: u64) -> Result<Found, PlanError> {
    let delta = question.shape.delta;
    let noise = if let ReleaseKind::Gaussian { .. } = question.protects.kind(1.0) {
        let noise = (releases as f64).sqrt() / gdp::mu(epsilon, delta)? * (1.0 + super::UP);
        if noise > LARGEST {
            return Err(PlanError::OutOfReach { epsilon, delta, rounds: releases });
        }
        noise
    } else {
        let enough =
            |noise: f64| Ok(epsilon_of(question.protects.kind(noise), &[(1.0, releases)], delta)? <= epsilon);
        least(enough)?.ok_or(PlanError::OutOfReach { epsilon, delta, rounds: releases })?
    };
    let rule = release_rule(releases, named(epsilon, delta, Scope::Local));
    Ok(Found { noise, budget: vec![rule] })
}

/// The least noise that is enough, rounded up; `None` where none is.
pub(crate) fn least(
    mut enough: impl FnMut(f64) -> Result<bool, PlanError>,
) -> Result<Option<f64>, PlanError> {
    let mut high = 1.0;
    while !enough(high)? {
        high *= 2.0;
        if high > LARGEST {
            return Ok(None);
        }
    }
    // Below 0.1 a Gaussian protects nothing; the search ends there.
    let mut low = if high > 1.0 { high / 2.0 } else { 0.1 };
    while high - low > TOLERANCE * high {
        let middle = 0.5 * (low + high);
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}
