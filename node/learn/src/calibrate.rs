//! The least noise for a target (ε, δ) of a training.
//!
//! The accountant prices exactly the event that the training will release, so the noise found is right for it and for
//! nothing else.

use privacy::accountant::{AccountError, Accountant, GaussianAccountant};
use privacy::event::DpEvent;
use privacy::pld::PldAccountant;
use thiserror::Error;
use topology::Hint;

use crate::train::Training;

/// The relative width at which the search stops. The upper end is returned, so that ε is met.
const TOLERANCE: f64 = 1e-3;
/// Noise beyond this helps nobody: there is no signal left.
const LARGEST: f64 = 1e6;

/// Why no noise was found.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CalibrateError {
    /// The accountant refused.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// A target that is no positive number.
    #[error("The target ε must be positive: {epsilon}")]
    Target {
        /// What was given.
        epsilon: f64,
    },
    /// A target below what any sensible noise reaches.
    #[error("No noise up to {LARGEST} reaches ε = {epsilon} at δ = {delta} in {steps} steps")]
    OutOfReach {
        /// Target.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// Steps of the training.
        steps: u64,
    },
}

impl Hint for CalibrateError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Account(error) => return error.hint(),
            Self::Target { .. } => "use a number such as 2, or no target for a training without noise".into(),
            Self::OutOfReach { .. } => "use fewer steps, a smaller sampling rate, or a larger ε".into(),
        };
        Some(hint)
    }
}

/// ε of an event at δ: exact for Gaussians on all records, by privacy-loss distribution otherwise.
///
/// # Guarantee
/// The event is (ε, δ)-DP for the adjacency of its ledger.
///
/// # Assumes
/// As [`Accountant::epsilon`].
///
/// # Errors
/// An event without a price, or a δ outside (0, 1).
pub fn epsilon(event: &DpEvent, delta: f64) -> Result<f64, AccountError> {
    let mut exact = GaussianAccountant::default();
    if exact.compose(event, 1).is_ok() {
        return exact.epsilon(delta);
    }
    let mut accountant = PldAccountant::default();
    accountant.compose(event, 1)?;
    accountant.epsilon(delta)
}

/// The least noise multiplier, to 0.1 %, with which `training` on `records` records costs at most (ε, δ). An infinite
/// target needs none: 0.
///
/// # Guarantee
/// [`Training::event`] with the result costs at most ε at δ by [`epsilon`].
///
/// # Errors
/// A target that is not positive, that no noise reaches, or a δ outside (0, 1).
pub fn noise_multiplier(
    training: &Training,
    records: usize,
    target: f64,
    delta: f64,
) -> Result<f64, CalibrateError> {
    if target == f64::INFINITY {
        return Ok(0.0);
    }
    if target.is_nan() || target <= 0.0 {
        return Err(CalibrateError::Target { epsilon: target });
    }
    let enough = |noise_multiplier: f64| -> Result<bool, AccountError> {
        let training = Training { noise_multiplier, ..*training };
        Ok(epsilon(&training.event(records), delta)? <= target)
    };
    let mut high = 1.0;
    while !enough(high)? {
        high *= 2.0;
        if high > LARGEST {
            return Err(CalibrateError::OutOfReach { epsilon: target, delta, steps: training.steps });
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
    Ok(high)
}
