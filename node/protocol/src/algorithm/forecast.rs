//! An algorithm before it is run.

use crate::account::Shape;
use crate::account::plan::{Figures, Found, PlanError, Question};
use crate::settings::{BudgetRule, Scope};

/// What a run will cost, and how much noise it needs.
///
/// # Guarantee
/// As [`plan`](crate::account::plan()).
pub(crate) trait Forecast {
    /// How many contributions a node makes.
    fn releases(&self, shape: &Shape) -> Result<u64, PlanError> {
        Ok(u64::from(shape.rounds.max(1)))
    }

    /// Less noise than `local` needs for ε in a scope that is not local, with the limits that keep it; `None` where only `local` is left.
    fn noise(
        &self,
        question: &Question<'_>,
        aim: (f64, Scope),
        local: &Found,
    ) -> Result<Option<Found>, PlanError>;

    /// What an undisturbed run costs; `local` is what it costs towards somebody who sees everything.
    fn figures(&self, shape: &Shape, local: f64) -> Result<Figures, PlanError>;

    /// The least part of a contribution that counts against a limit in this scope: 1 where it may turn out that all of it was seen.
    fn least_part(&self, _shape: &Shape, _scope: Scope) -> f64 {
        1.0
    }

    /// The rule by which a node that knows what each peer saw keeps to ε in a scope, and how many rounds fit; `None` where every contribution
    /// counts in full.
    fn own_rule(
        &self,
        _shape: &Shape,
        _aim: (f64, Scope),
        _name: &str,
    ) -> Result<Option<(f64, BudgetRule)>, PlanError> {
        Ok(None)
    }
}
