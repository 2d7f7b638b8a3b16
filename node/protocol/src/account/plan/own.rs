//! The limit of one node, whatever the others agreed on.
//!
//! Where a node knows what each other node saw, round by round, it is kept in the unit in which the node charges itself. Elsewhere a node cannot tell
//! while the run goes on how little others saw, so every contribution counts in full: sound, and strict.

use super::{Found, PlanError, named, release_rule};
use crate::account::{Price, ReleaseKind, Shape, epsilon_of};
use crate::settings::{BudgetRule, Scope};

/// No node makes more contributions than this.
const MOST_RELEASES: u64 = 1 << 24;

/// The rule that keeps one node's loss within ε in this scope, for contributions as `shape.release` says.
///
/// # Guarantee
/// A node that contributes only what the rule admits loses at most (ε, δ of the shape) in the scope, whatever the other nodes do with theirs.
///
/// # Assumes
/// Contributions are those of `shape.release` or cost less; others follow the protocol.
///
/// # Errors
/// An ε that is no positive number, or that the first contribution would pass.
pub fn own_limit(shape: &Shape, epsilon: f64, scope: Scope) -> Result<BudgetRule, PlanError> {
    let Some(kept) = &shape.kept else { return limit(shape, epsilon, scope) };
    let kind = ReleaseKind::of(&shape.release);
    let found = kept.leaving(
        (epsilon, shape.delta),
        |_| kind,
        |left| Ok(Found { noise: 0.0, budget: vec![limit(shape, left, scope)?] }),
    )?;
    let rule = found.budget.into_iter().next().expect("one rule was put there");
    Ok(BudgetRule { name: own_name(epsilon, shape.delta, scope), ..rule })
}

fn own_name(epsilon: f64, delta: f64, scope: Scope) -> String {
    format!("{}, this node's own limit", named(epsilon, delta, scope))
}

/// The rule for contributions alone.
fn limit(shape: &Shape, epsilon: f64, scope: Scope) -> Result<BudgetRule, PlanError> {
    if epsilon.is_nan() || epsilon <= 0.0 {
        return Err(PlanError::Target { epsilon });
    }
    let delta = shape.delta;
    let kind = ReleaseKind::of(&shape.release);
    let one = epsilon_of(kind, &[(1.0, 1)], delta)?;
    let too_dear = || PlanError::OwnLimit { epsilon, one, delta };
    let name = own_name(epsilon, delta, scope);
    if kind == ReleaseKind::NonPrivate {
        return Err(too_dear());
    }
    let releases = most_releases(kind, epsilon, delta)?;
    let forecast = shape.algorithm.forecast();
    let better = match shape.own_noise_returns {
        true => None,
        false => forecast.own_rule(shape, (epsilon, scope), &name)?,
    };
    let rule = match better {
        // One order fixed in advance loses a little against the exact price of whole contributions.
        Some((fit, rule)) if fit > releases as f64 => rule,
        _ => release_rule(releases, name),
    };
    let part = if matches!(rule.price, Price::Releases) { 1.0 } else { forecast.least_part(shape, scope) };
    if rule.price.of(part) <= rule.limit { Ok(rule) } else { Err(too_dear()) }
}

/// How many contributions, each seen by everybody, cost at most ε.
fn most_releases(kind: ReleaseKind, epsilon: f64, delta: f64) -> Result<u64, PlanError> {
    let fits = |releases: u64| Ok::<_, PlanError>(epsilon_of(kind, &[(1.0, releases)], delta)? <= epsilon);
    let (mut low, mut high) = (0, 1);
    while fits(high)? {
        (low, high) = (high, 2 * high);
        if high > MOST_RELEASES {
            return Ok(low);
        }
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
