//! The limit of one node, whatever the others agreed on.
//!
//! For averaging rounds it is kept in the unit in which the node charges itself: what each other node saw, round by round. Elsewhere a node cannot tell
//! while the run goes on how little others saw, so every contribution counts in full: sound, and strict.

use privacy::gdp;

use super::rounds::{dearest, largest_divergence, orders};
use super::{MOST_NODES, PlanError, named, release_rule};
use crate::account::{Prices, ReleaseKind, Shape, epsilon_of};
use crate::settings::{Algorithm, BudgetRule, Scope};

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
    let by_peer = matches!(shape.algorithm, Algorithm::Rounds(_))
        && scope != Scope::Local
        && (2..=MOST_NODES).contains(&shape.nodes);
    let rule = match kind {
        ReleaseKind::NonPrivate => return Err(too_dear()),
        ReleaseKind::Gaussian { .. } if by_peer => {
            let mu = gdp::mu(epsilon, delta)?;
            BudgetRule { scope, limit: mu * mu, price: kind.gaussian_price(), name }
        }
        _ => {
            let releases = most_releases(kind, epsilon, delta)?;
            let by_peer = by_peer.then(|| renyi(shape, (epsilon, scope), &name)).flatten();
            // One order fixed in advance loses a little against the exact price of whole contributions.
            match by_peer {
                Some((fit, rule)) if fit > releases as f64 => rule,
                _ => release_rule(releases, name),
            }
        }
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

/// The Rényi order with which most rounds of an undisturbed run fit, and how many; `None` where not even one does.
fn renyi(shape: &Shape, (epsilon, scope): (f64, Scope), name: &str) -> Option<(f64, BudgetRule)> {
    let kind = ReleaseKind::of(&shape.release);
    let rounds = shape.rounds.max(1);
    let (_, histogram) = dearest(shape, rounds, scope, &mut |leverage| leverage);
    let fitting = |order: f64| {
        let price = kind.renyi_price(order);
        let limit = largest_divergence(order, epsilon, shape.delta);
        let mut prices = Prices::new(vec![price.clone()]);
        let all: f64 = histogram.iter().map(|&(leverage, count)| prices.of(leverage)[0] * count).sum();
        // Two rounds are not settled at the last contribution.
        let (in_full, left) = (price.of(1.0), limit - 2.0 * price.of(1.0));
        let fit = if left > 0.0 { 2.0 + left * f64::from(rounds) / all } else { limit / in_full };
        (in_full <= limit).then(|| (fit, BudgetRule { scope, limit, price, name: name.to_owned() }))
    };
    orders().filter_map(fitting).max_by(|a, b| a.0.total_cmp(&b.0))
}
