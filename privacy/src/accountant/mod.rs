//! One interface to every way of composing privacy losses.
//!
//! An accountant takes events ([`crate::event::DpEvent`]) and answers two questions: ε for a δ, and δ for an ε.
//! Both answers are upper bounds. An event that an accountant cannot price is refused, never free, and a
//! release without protection makes every answer infinite.

mod advanced;
mod basic;
mod gaussian;
mod point;

use thiserror::Error;
use topology::Hint;

pub use advanced::{AdvancedAccountant, classic_advanced_epsilon};
pub use basic::BasicAccountant;
pub use gaussian::GaussianAccountant;

use crate::event::DpEvent;
use crate::gdp;
use crate::release::{LedgerError, Release, Releases};
use crate::root;

/// Composes events and bounds what they reveal together.
pub trait Accountant {
    /// Stable short name: `basic`, `advanced`, `renyi`, `gaussian`, `pld`.
    fn name(&self) -> &'static str;

    /// The analysis in words, with its source, for reports.
    fn analysis(&self) -> &'static str;

    /// What was composed so far.
    fn ledger(&self) -> &Releases;

    /// Adds an event `count` times; on an error nothing is added.
    ///
    /// # Errors
    /// When the event is impossible or this accountant has no theorem for it.
    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError>;

    /// The smallest ε that this analysis proves at `delta`, rounded up.
    ///
    /// # Guarantee
    /// Everything composed so far is together (ε, δ)-DP, for the adjacency of [`Releases::adjacency`].
    ///
    /// # Assumes
    /// The noise of different releases is independent; parameters of an event do not depend on the outcome of
    /// earlier ones. (Budgets refuse what would pass a bound fixed beforehand, in μ² or Rényi divergence, which holds for adaptive
    /// choices too: Rogers et al. 2016, Feldman and Zrnic 2021.)
    ///
    /// # Errors
    /// When δ is outside (0, 1).
    fn epsilon(&self, delta: f64) -> Result<f64, AccountError>;

    /// The smallest δ that this analysis proves at `epsilon`, rounded up.
    ///
    /// # Guarantee
    /// As [`Accountant::epsilon`].
    ///
    /// # Assumes
    /// As [`Accountant::epsilon`].
    ///
    /// # Errors
    /// When ε is negative, infinite or NaN.
    fn delta(&self, epsilon: f64) -> Result<f64, AccountError>;
}

/// A refused composition or question.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AccountError {
    /// The event cannot be brought into normal form.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The accountant has no theorem for the event.
    #[error("{accountant} accounting has no bound for {release}: {reason}")]
    Unsupported {
        /// Name of the accountant.
        accountant: &'static str,
        /// What was to be composed.
        release: String,
        /// Why not.
        reason: &'static str,
    },
    /// A bad ε or δ.
    #[error(transparent)]
    Question(#[from] gdp::Error),
    /// A Rényi order that is not above 1.
    #[error("a Rényi order must be above 1 and finite: {0}")]
    Order(f64),
}

impl Hint for AccountError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Ledger(error) => return error.hint(),
            Self::Unsupported { .. } => {
                "another accountant may have a bound: `murmur privacy account` shows all of them".into()
            }
            Self::Question(error) => return error.hint(),
            Self::Order(_) => "use orders such as 2, 8 or 32".into(),
        };
        Some(hint)
    }
}

/// Every accountant of this crate, fresh.
#[must_use]
pub fn all() -> Vec<Box<dyn Accountant>> {
    vec![
        Box::new(BasicAccountant::default()),
        Box::new(AdvancedAccountant::default()),
        Box::new(crate::rdp::RdpAccountant::default()),
        Box::new(GaussianAccountant::default()),
        Box::new(crate::pld::PldAccountant::default()),
    ]
}

/// Adds an event to a ledger if every release in it is supported; leaves the ledger alone otherwise.
pub(crate) fn compose_supported(
    ledger: &mut Releases,
    event: &DpEvent,
    count: u64,
    supports: impl Fn(&Release) -> Result<(), AccountError>,
) -> Result<(), AccountError> {
    let mut next = ledger.clone();
    next.add(event, count)?;
    next.entries().iter().try_for_each(|(release, _)| supports(release))?;
    *ledger = next;
    Ok(())
}

/// The smallest δ with ε(δ) ≤ `epsilon`, for accountants whose natural question is ε; 1 if there is none.
pub(crate) fn delta_by_bracketing(
    epsilon: f64,
    epsilon_of: impl Fn(f64) -> Result<f64, AccountError>,
) -> Result<f64, AccountError> {
    gdp::check_epsilon(epsilon)?;
    let (smallest, largest) = (1e-300, 1.0 - 1e-9);
    if epsilon_of(smallest)? <= epsilon {
        return Ok(smallest);
    }
    if epsilon_of(largest)? > epsilon {
        return Ok(1.0);
    }
    let excess = |log_delta: f64| match epsilon_of(libm::exp(log_delta).clamp(smallest, largest)) {
        Ok(found) if found <= epsilon => -1.0,
        Ok(_) | Err(_) => 1.0,
    };
    let (_, high) = root::narrow(libm::log(smallest), libm::log(largest), 1e-13, excess);
    // exp of the rounded logarithm may fall one step short.
    Ok((libm::exp(high) * (1.0 + 1e-11)).min(1.0))
}
