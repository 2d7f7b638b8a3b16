//! A privacy filter: refuses the event that would pass the budget, also when events are chosen adaptively.
//!
//! Adding up parameters and stopping at a bound is *not* sound for every accountant once an event's parameters may
//! depend on earlier results. It is for the three rules here, each a theorem:
//!
//! - **basic**: Σε_i ≤ ε and Σδ_i ≤ δ (Rogers, Roth, Ullman and Vadhan 2016, theorem 3.6);
//! - **renyi**: at one order α fixed in advance, Σ D_α ≤ B implies (α, B)-Rényi DP, hence (ε, δ)-DP for B chosen by the
//!   conversion (Feldman and Zrnic 2021, Rényi privacy filter);
//! - **gaussian**: Σμ_i² ≤ μ² implies μ-GDP (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023).
//!
//! Invariant: what was admitted is within the budget, at every moment.

use thiserror::Error;
use topology::Hint;

use crate::accountant::AccountError;
use crate::event::DpEvent;
use crate::gdp;
use crate::rdp::{self, conversion};
use crate::release::{Ledger, Mechanism, Release, Sampling, known_point};
use crate::root;

/// Admits events while they fit a budget (ε, δ).
#[derive(Debug, Clone)]
pub struct Filter {
    rule: Rule,
    epsilon: f64,
    delta: f64,
    ledger: Ledger,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    Basic,
    /// Order and the divergence that may be spent at it.
    Renyi {
        order: f64,
        budget: f64,
    },
    /// μ² that may be spent.
    Gaussian {
        budget: f64,
    },
}

/// An event that was not admitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FilterError {
    /// The event would pass the budget. It must not happen.
    #[error("the budget would be passed: {spent:.6} of {budget:.6} ({unit}) spent with this event")]
    BudgetPassed {
        /// Total including the refused event.
        spent: f64,
        /// The limit.
        budget: f64,
        /// In what it is counted.
        unit: &'static str,
    },
    /// The event cannot be priced by this rule.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl Hint for FilterError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::BudgetPassed { .. } => "stop here, or add more noise: a smaller event may still fit".into(),
            Self::Account(error) => return error.hint(),
        };
        Some(hint)
    }
}

impl Filter {
    /// Adds up ε and δ; for releases known by a point (pure, approximate, Laplace, randomised response).
    ///
    /// # Errors
    /// When ε is negative, infinite or NaN, or δ outside (0, 1).
    pub fn basic(epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        Self::with_rule(Rule::Basic, epsilon, delta)
    }

    /// Adds up Rényi divergences at the order that leaves most room for Gaussian noise.
    ///
    /// # Errors
    /// When ε is negative, infinite or NaN, or δ outside (0, 1).
    pub fn renyi(epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        gdp::check_epsilon(epsilon)?;
        gdp::check_delta(delta)?;
        // Room for zCDP is budget(α)/α; it rises, then falls.
        let room = |t: f64| {
            let order = 1.0 + libm::exp(t);
            divergence_budget(order, epsilon, delta) / order
        };
        let (mut low, mut high) = (-6.0, 14.0);
        for _ in 0..80 {
            let (first, second) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if room(first) >= room(second) {
                high = second;
            } else {
                low = first;
            }
        }
        Self::renyi_at(1.0 + libm::exp(0.5 * (low + high)), epsilon, delta)
    }

    /// Adds up Rényi divergences at a given order, for instance the best one of a planned run.
    ///
    /// # Errors
    /// When the order is not above 1, ε is negative, infinite or NaN, or δ outside (0, 1).
    pub fn renyi_at(order: f64, epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        if !(order.is_finite() && order > 1.0) {
            return Err(AccountError::Order(order));
        }
        gdp::check_epsilon(epsilon)?;
        gdp::check_delta(delta)?;
        Self::with_rule(
            Rule::Renyi { order, budget: divergence_budget(order, epsilon, delta) },
            epsilon,
            delta,
        )
    }

    /// Adds up μ²; exact, for Gaussian noise on all records only.
    ///
    /// # Errors
    /// When ε is negative, infinite or NaN, or δ outside (0, 1).
    pub fn gaussian(epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        let mu = gdp::mu(epsilon, delta)?;
        Self::with_rule(Rule::Gaussian { budget: mu * mu * (1.0 - 4.0 * f64::EPSILON) }, epsilon, delta)
    }

    /// Admits the event, or refuses it and leaves everything as it was.
    ///
    /// # Guarantee
    /// All admitted events together are (ε, δ)-DP for the filter's budget, even if each event and the decision to
    /// go on were chosen after seeing all earlier results.
    ///
    /// # Assumes
    /// Every event is admitted before it happens, its noise is fresh, and its parameters hold for every outcome
    /// of earlier events.
    ///
    /// # Errors
    /// When the budget would be passed, or the rule has no price for the event.
    pub fn admit(&mut self, event: &DpEvent) -> Result<(), FilterError> {
        let mut next = self.ledger.clone();
        next.add(event, 1).map_err(AccountError::from)?;
        for (spent, budget, unit) in self.spending(&next)? {
            // Written so that NaN is refused.
            let fits = spent <= budget;
            if !fits {
                return Err(FilterError::BudgetPassed { spent, budget, unit });
            }
        }
        self.ledger = next;
        Ok(())
    }

    /// How many more times the event would be admitted (at most `limit`).
    ///
    /// # Errors
    /// When the rule has no price for the event.
    pub fn remaining(&self, event: &DpEvent, limit: u64) -> Result<u64, FilterError> {
        let fits = |count: u64| -> Result<bool, FilterError> {
            let mut next = self.ledger.clone();
            next.add(event, count).map_err(AccountError::from)?;
            Ok(self.spending(&next)?.iter().all(|(spent, budget, _)| spent <= budget))
        };
        let (mut low, mut high) = (0, limit);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle)? {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(low)
    }

    /// The part of the budget that is spent, between 0 and 1.
    #[must_use]
    pub fn spent_fraction(&self) -> f64 {
        let Ok(spending) = self.spending(&self.ledger) else { return 1.0 };
        let part = |(spent, budget, _): &(f64, f64, &str)| if *spent == 0.0 { 0.0 } else { spent / budget };
        spending.iter().map(part).fold(0.0, f64::max)
    }

    /// The budget (ε, δ).
    #[must_use]
    pub fn budget(&self) -> (f64, f64) {
        (self.epsilon, self.delta)
    }

    fn with_rule(rule: Rule, epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        gdp::check_epsilon(epsilon)?;
        gdp::check_delta(delta)?;
        Ok(Self { rule, epsilon, delta, ledger: Ledger::default() })
    }

    /// (spent, budget, unit) of everything that this rule limits.
    fn spending(&self, ledger: &Ledger) -> Result<Vec<(f64, f64, &'static str)>, AccountError> {
        let total = |price: &dyn Fn(&Release) -> Result<f64, AccountError>| {
            ledger.entries().iter().try_fold(0.0, |sum, (release, count)| {
                Ok::<f64, AccountError>(sum + price(release)? * *count as f64 * (1.0 + 1e-14))
            })
        };
        Ok(match self.rule {
            Rule::Basic => vec![
                (total(&|release| Ok(point(release)?.0))?, self.epsilon, "ε"),
                (total(&|release| Ok(point(release)?.1))?, self.delta, "δ"),
            ],
            Rule::Renyi { order, budget } => {
                vec![(total(&|release| renyi_price(release, order))?, budget, "Rényi divergence")]
            }
            Rule::Gaussian { budget } => vec![(total(&gaussian_price)?, budget, "μ²")],
        })
    }
}

/// The largest D_α that still converts to ε at δ.
fn divergence_budget(order: f64, epsilon: f64, delta: f64) -> f64 {
    let excess = |divergence: f64| conversion::epsilon(order, divergence, delta) - epsilon;
    if excess(0.0) > 0.0 {
        return 0.0;
    }
    let mut high = epsilon.max(1.0);
    while excess(high) <= 0.0 {
        high *= 2.0;
    }
    root::narrow(0.0, high, 1e-13, excess).0
}

fn point(release: &Release) -> Result<(f64, f64), AccountError> {
    match (known_point(release.mechanism), release.sampling) {
        (Some(point), Sampling::All) => Ok(point),
        (Some((epsilon, delta)), Sampling::Poisson { rate }) => {
            Ok((crate::amplification::epsilon(epsilon, rate), delta))
        }
        (Some(point), Sampling::WithoutReplacement { .. }) => Ok(point),
        (None, _) if release.mechanism == Mechanism::NonPrivate => Ok((f64::INFINITY, 1.0)),
        (None, _) => Err(unsupported("basic filter", release, "it has no single (ε, δ)")),
    }
}

fn renyi_price(release: &Release, order: f64) -> Result<f64, AccountError> {
    match release.mechanism {
        Mechanism::Approximate { delta, .. } if delta > 0.0 => {
            Err(unsupported("Rényi filter", release, "a release known only up to δ has no Rényi divergence"))
        }
        Mechanism::ZeroConcentrated { .. } if release.sampling != Sampling::All => {
            Err(unsupported("Rényi filter", release, "zCDP alone says too little about a sample"))
        }
        Mechanism::Gaussian { .. }
        | Mechanism::Laplace { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Pure { .. }
        | Mechanism::Approximate { .. }
        | Mechanism::ZeroConcentrated { .. }
        | Mechanism::NonPrivate => Ok(rdp::divergence(release, order)),
    }
}

fn gaussian_price(release: &Release) -> Result<f64, AccountError> {
    match (release.mechanism, release.sampling) {
        (Mechanism::Gaussian { noise_multiplier }, Sampling::All) => {
            Ok((1.0 / (noise_multiplier * noise_multiplier)).next_up())
        }
        (Mechanism::NonPrivate, _) => Ok(f64::INFINITY),
        (Mechanism::Gaussian { .. }, Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. })
        | (
            Mechanism::Laplace { .. }
            | Mechanism::RandomizedResponse { .. }
            | Mechanism::Pure { .. }
            | Mechanism::Approximate { .. }
            | Mechanism::ZeroConcentrated { .. },
            _,
        ) => Err(unsupported(
            "Gaussian filter",
            release,
            "only Gaussian noise on all records is counted as μ²",
        )),
    }
}

fn unsupported(accountant: &'static str, release: &Release, reason: &'static str) -> AccountError {
    AccountError::Unsupported { accountant, release: release.to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::Accountant;
    use crate::rdp::RdpAccountant;

    fn gaussian(noise_multiplier: f64) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier }
    }

    #[test]
    fn the_gaussian_filter_admits_exactly_what_fits() {
        // μ² of (1, 1e-5) is 1/3.7306316348159418² (Balle and Wang 2018): 71 releases at σ = 31.5, since
        // 31.5²/3.7306316² = 71.29.
        let mut filter = Filter::gaussian(1.0, 1e-5).unwrap();
        let mut admitted = 0;
        while filter.admit(&gaussian(31.5)).is_ok() {
            admitted += 1;
        }
        assert_eq!(admitted, 71);
        assert!(filter.admit(&gaussian(100.0)).is_ok(), "a smaller event still fits");
    }

    #[test]
    fn a_refused_event_leaves_no_trace() {
        let mut filter = Filter::basic(1.0, 1e-6).unwrap();
        filter.admit(&DpEvent::PureDp { epsilon: 0.6 }).unwrap();
        let before = filter.spent_fraction();
        let refused = filter.admit(&DpEvent::PureDp { epsilon: 0.6 });
        assert!(matches!(refused, Err(FilterError::BudgetPassed { unit: "ε", .. })), "{refused:?}");
        let too_likely = filter.admit(&DpEvent::ApproximateDp { epsilon: 0.1, delta: 1e-5 });
        assert!(matches!(too_likely, Err(FilterError::BudgetPassed { unit: "δ", .. })), "{too_likely:?}");
        assert_eq!(filter.spent_fraction(), before);
        filter.admit(&DpEvent::PureDp { epsilon: 0.39 }).unwrap();
    }

    #[test]
    fn what_the_renyi_filter_admits_is_within_budget_by_the_renyi_accountant() {
        let event = gaussian(1.1).poisson_sampled(0.01);
        let mut filter = Filter::renyi(2.0, 1e-5).unwrap();
        let count = filter.remaining(&event, 1_000_000).unwrap();
        assert!(count > 100, "{count}");
        filter.admit(&event.clone().repeated(count)).unwrap();
        assert!(filter.admit(&event).is_err());
        let mut accountant = RdpAccountant::default();
        accountant.compose(&event, count).unwrap();
        assert!(accountant.epsilon(1e-5).unwrap() <= 2.0);
    }

    #[test]
    fn the_non_private_and_the_unknown_are_refused_by_every_rule() {
        for mut filter in [
            Filter::basic(9.0, 0.1).unwrap(),
            Filter::renyi(9.0, 0.1).unwrap(),
            Filter::gaussian(9.0, 0.1).unwrap(),
        ] {
            assert!(matches!(filter.admit(&DpEvent::NonPrivate), Err(FilterError::BudgetPassed { .. })));
            assert!(filter.admit(&DpEvent::ZeroConcentrated { rho: 0.1 }.poisson_sampled(0.1)).is_err());
        }
    }
}
