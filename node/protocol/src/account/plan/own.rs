//! The limit of one node, whatever the others agreed on.
//!
//! Where a node knows what each other node saw, round by round, it is kept in the unit in which the node charges itself. Elsewhere a node cannot tell
//! while the run goes on how little others saw, so every contribution counts in full: sound, and strict.

use super::{PlanError, named, release_rule};
use crate::account::{ReleaseKind, Shape, epsilon_of};
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
    if epsilon.is_nan() || epsilon <= 0.0 {
        return Err(PlanError::Target { epsilon });
    }
    let delta = shape.delta;
    let kind = ReleaseKind::of(&shape.release);
    let one = epsilon_of(kind, &[(1.0, 1)], delta)?;
    let too_dear = || PlanError::OwnLimit { epsilon, one, delta };
    let name = format!("{}, this node's own limit", named(epsilon, delta, scope));
    if kind == ReleaseKind::NonPrivate {
        return Err(too_dear());
    }
    let releases = most_releases(kind, epsilon, delta)?;
    let rule = match shape.algorithm.forecast().own_rule(shape, (epsilon, scope), &name)? {
        // One order fixed in advance loses a little against the exact price of whole contributions.
        Some((fit, rule)) if fit > releases as f64 => rule,
        _ => release_rule(releases, name),
    };
    if rule.price.of(1.0) <= rule.limit { Ok(rule) } else { Err(too_dear()) }
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
