//! Releases that a node keeps: private values that are not sent, on which its later contributions depend.
//!
//! Each is charged in full towards everybody, whether it was made or not: it has no line in the log, and nobody has to be believed about it.

use learn::calibrate;
use privacy::event::DpEvent;
use privacy::rdp;

use super::plan::{Found, PlanError};
use super::{Price, ReleaseKind, epsilon_of_mu2};
use crate::settings::BudgetRule;

/// Gaussian releases that every node of a run keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// Noise divided by sensitivity.
    pub noise_multiplier: f64,
    /// How many, at most.
    pub count: u64,
}

/// Halvings of a search for what is left of a budget.
const HALVINGS: usize = 16;

impl Kept {
    /// One of them.
    pub fn event(&self) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier: self.noise_multiplier }
    }

    /// μ² of all of them, rounded up.
    pub fn mu2(&self) -> f64 {
        self.count as f64 / (self.noise_multiplier * self.noise_multiplier) * (1.0 + 4.0 * f64::EPSILON)
    }

    /// ε of these and of so many contributions, all seen in full.
    ///
    /// # Guarantee
    /// As [`learn::calibrate::epsilon`] for the sequence.
    pub(crate) fn beside(&self, kind: ReleaseKind, releases: u64, delta: f64) -> f64 {
        let composed = |event: DpEvent, count: u64| DpEvent::Composed { event: Box::new(event), count };
        match kind {
            ReleaseKind::NonPrivate => f64::INFINITY,
            ReleaseKind::Gaussian { .. } => {
                epsilon_of_mu2(self.mu2() + kind.gaussian_price().of(1.0) * releases as f64, delta)
            }
            ReleaseKind::Sampled { .. } => {
                let events = vec![composed(kind.event(), releases), composed(self.event(), self.count)];
                calibrate::epsilon(&DpEvent::Sequence { events }, delta).unwrap_or(f64::INFINITY)
            }
        }
    }

    /// Whether a node that keeps to the rule loses at most ε with these releases on top.
    fn fits(&self, rule: &BudgetRule, kind: ReleaseKind, (epsilon, delta): (f64, f64)) -> bool {
        let total = match rule.price {
            Price::Gaussian { .. } => epsilon_of_mu2(rule.limit + self.mu2(), delta),
            Price::Renyi { order, .. } => {
                rdp::conversion::epsilon(order, rule.limit + 0.5 * order * self.mu2(), delta)
            }
            Price::Releases => self.beside(kind, rule.limit as u64, delta),
            Price::NonPrivate => f64::INFINITY,
        };
        total <= epsilon
    }

    /// What `found` finds for the largest part of ε that leaves room for these releases; `kind` is that of a contribution with the noise found.
    ///
    /// # Guarantee
    /// Contributions within the rules and these releases together are (ε, δ)-DP.
    pub(crate) fn leaving(
        &self,
        (epsilon, delta): (f64, f64),
        kind: impl Fn(f64) -> ReleaseKind,
        mut found: impl FnMut(f64) -> Result<Found, PlanError>,
    ) -> Result<Found, PlanError> {
        let own = epsilon_of_mu2(self.mu2(), delta);
        let refused = || PlanError::Kept { epsilon, delta, own, count: self.count };
        if own >= epsilon {
            return Err(refused());
        }
        let (mut low, mut high, mut best) = (0.0, epsilon, None);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match found(middle) {
                Ok(plan)
                    if plan.budget.iter().all(|rule| self.fits(rule, kind(plan.noise), (epsilon, delta))) =>
                {
                    (best, low) = (Some(plan), middle);
                }
                Err(PlanError::OutOfReach { .. } | PlanError::OwnLimit { .. }) => low = middle,
                Ok(_) => high = middle,
                Err(error) => return Err(error),
            }
        }
        best.ok_or_else(refused)
    }
}
