//! Noise for masked rounds: every round of an undisturbed run costs 1/(n − c), so there is nothing to search for but the noise.

use privacy::gdp;

use super::MaskSettings;
use super::settings::leverage;
use crate::account::plan::{Figures, Found, LARGEST, PlanError, Question, UP, least, named};
use crate::account::{Prices, ReleaseKind, Shape, epsilon_of};
use crate::algorithm::rounds::plan::{best_order, largest_divergence, orders};
use crate::settings::{BudgetRule, Scope};

/// A table of prices rounds up by less than this.
const TABLE: f64 = 1.002;

/// Masked rounds before they are run, and the chance that goes into δ where rosters have a sparse graph.
pub(in crate::algorithm::rounds) struct Masked<'a>(
    pub(in crate::algorithm::rounds) &'a MaskSettings,
    pub(in crate::algorithm::rounds) f64,
);

impl Masked<'_> {
    /// The leverage of one round in this scope, with all nodes there: any c together for the worst case, one member on average.
    pub(in crate::algorithm::rounds) fn leverage(&self, shape: &Shape, scope: Scope) -> f64 {
        match scope {
            Scope::Local => 1.0,
            Scope::Worst => leverage(shape.nodes, self.0.colluders),
            Scope::Mean => leverage(shape.nodes, 1),
        }
    }

    /// The least noise with which all rounds cost at most ε in the scope, and the limit that keeps it so.
    pub(in crate::algorithm::rounds) fn noise(
        &self,
        question: &Question<'_>,
        (epsilon, scope): (f64, Scope),
    ) -> Result<Option<Found>, PlanError> {
        let shape = question.shape;
        let (delta, rounds) = (shape.delta - self.1, f64::from(shape.rounds.max(1)));
        let leverage = self.leverage(shape, scope);
        let name = named_against(epsilon, shape.delta, scope, self.0.colluders);
        if let ReleaseKind::Sampled { .. } = question.protects.kind(1.0) {
            let histogram = [vec![(leverage, rounds * TABLE)]];
            let order_at = |noise: f64| best_order(question.protects.kind(noise), &histogram, delta);
            let Some(noise) = least(|noise| Ok(order_at(noise).0 <= epsilon))? else { return Ok(None) };
            let order = order_at(noise).1;
            let price = question.protects.kind(noise).renyi_price(order);
            let limit = largest_divergence(order, epsilon, delta);
            return Ok(Some(Found { noise, budget: vec![BudgetRule { scope, limit, price, name }] }));
        }
        let mu = gdp::mu(epsilon, delta)?;
        let noise = (leverage * rounds).sqrt() / mu * (1.0 + UP);
        let price = question.protects.kind(noise).gaussian_price();
        let rule = BudgetRule { scope, limit: mu * mu, price, name };
        Ok((noise <= LARGEST).then(|| Found { noise, budget: vec![rule] }))
    }

    /// What an undisturbed run costs: towards one member, any c, and somebody who breaks the masks.
    pub(in crate::algorithm::rounds) fn figures(
        &self,
        shape: &Shape,
        local: f64,
    ) -> Result<Figures, PlanError> {
        let kind = ReleaseKind::of(&shape.release);
        let rounds = u64::from(shape.rounds.max(1));
        let towards = |watchers: usize| -> Result<f64, PlanError> {
            let delta = shape.delta - self.1;
            Ok(epsilon_of(kind, &[(leverage(shape.nodes, watchers), rounds)], delta)?.min(local))
        };
        let one = towards(1)?;
        Ok(Figures {
            analysis: "masked".into(),
            worst: one,
            mean: one,
            coalition: Some((self.0.colluders, towards(self.0.colluders)?)),
            local,
        })
    }

    /// The rule by which a node keeps to ε in a scope, and how many rounds fit.
    pub(in crate::algorithm::rounds) fn own_rule(
        &self,
        shape: &Shape,
        (epsilon, scope): (f64, Scope),
        name: &str,
    ) -> Result<Option<(f64, BudgetRule)>, PlanError> {
        let (kind, delta) = (ReleaseKind::of(&shape.release), shape.delta - self.1);
        let leverage = self.leverage(shape, scope);
        let rule = |limit, price| BudgetRule { scope, limit, price, name: name.to_owned() };
        Ok(match kind {
            _ if scope == Scope::Local => None,
            ReleaseKind::NonPrivate => None,
            ReleaseKind::Gaussian { .. } => {
                let mu = gdp::mu(epsilon, delta)?;
                Some((f64::INFINITY, rule(mu * mu, kind.gaussian_price())))
            }
            ReleaseKind::Sampled { .. } => {
                let fitting = |order: f64| {
                    let limit = largest_divergence(order, epsilon, delta);
                    let one = Prices::new(vec![kind.renyi_price(order)]).of(leverage)[0];
                    (one <= limit).then(|| (limit / one, rule(limit, kind.renyi_price(order))))
                };
                orders().filter_map(fitting).max_by(|a, b| a.0.total_cmp(&b.0))
            }
        })
    }
}

fn named_against(epsilon: f64, delta: f64, scope: Scope, colluders: usize) -> String {
    match scope {
        Scope::Worst => format!("ε = {epsilon} at δ = {delta:e}, any {colluders} members together"),
        Scope::Local | Scope::Mean => named(epsilon, delta, scope),
    }
}
