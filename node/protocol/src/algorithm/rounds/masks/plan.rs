//! Noise for masked rounds: every round of an undisturbed run to which a member adds data costs it 1/(n − c), so there is nothing to search for but the noise. Who is not
//! drawn for a round adds noise to it and no data, which costs nothing; that it was not drawn is public, and counted as such.

use std::collections::BTreeMap;

use privacy::{gdp, rdp};

use super::settings::{joined, leverage};
use super::{Looks, MaskSettings};
use crate::account::plan::{Figures, Found, LARGEST, PlanError, Question, UP, least, named};
use crate::account::{Price, Prices, ReleaseKind, Shape, epsilon_of, epsilon_of_mu2};
use crate::algorithm::rounds::plan::{largest_divergence, orders};
use crate::settings::{BudgetRule, Scope};

/// A table of prices rounds up by less than this.
const TABLE: f64 = 1.002;

/// Masked rounds before they are run.
pub(in crate::algorithm::rounds) struct Masked<'a> {
    pub(in crate::algorithm::rounds) masks: &'a MaskSettings,
    /// To how many rounds each member adds data; empty where that is all of them.
    pub(in crate::algorithm::rounds) drawn: Vec<u32>,
    /// What goes into δ where rosters have a sparse graph.
    pub(in crate::algorithm::rounds) chance: f64,
    pub(in crate::algorithm::rounds) looks: Option<Looks>,
    /// What goes into δ where there is a look.
    pub(in crate::algorithm::rounds) look_chance: f64,
    /// Rounds beside those of the run for which there is room: attempts that come to nothing.
    pub(in crate::algorithm::rounds) spare: u32,
    /// Members that may be out of these.
    pub(in crate::algorithm::rounds) lost: usize,
}

impl Masked<'_> {
    /// The leverage of one round in this scope, with all nodes there: any c together for the worst case, one member on average.
    pub(in crate::algorithm::rounds) fn leverage(&self, shape: &Shape, scope: Scope) -> f64 {
        self.leverage_among(shape.nodes, scope)
    }

    fn leverage_among(&self, members: usize, scope: Scope) -> f64 {
        match scope {
            Scope::Local => 1.0,
            Scope::Worst => self.towards(members, self.masks.colluders),
            Scope::Mean => self.towards(members, 1),
        }
    }

    /// The leverage of one round of so many towards so many watchers, with what is in its price for looks.
    fn towards(&self, members: usize, watchers: usize) -> f64 {
        joined(leverage(members, watchers), self.looks.map_or(0.0, |looks| looks.part()))
    }

    /// Rounds to which the member adds data that adds them to most.
    fn most(&self, shape: &Shape) -> u32 {
        self.drawn.iter().copied().max().unwrap_or(shape.rounds).max(1)
    }

    /// Rounds for which there is room, in those of all nodes: with fewer members each hides less.
    fn rounds(&self, shape: &Shape, scope: Scope) -> f64 {
        let rounds = f64::from(self.most(shape));
        let left = shape.nodes.saturating_sub(self.lost);
        let dearer = self.leverage_among(left, scope) / self.leverage(shape, scope);
        if self.spare > 0 { rounds + f64::from(self.spare) * dearer } else { rounds }
    }

    /// What is left of δ.
    fn delta(&self, shape: &Shape, looks: bool) -> f64 {
        shape.delta - self.chance - if looks { self.look_chance } else { 0.0 }
    }

    /// What room for looks costs, where one look and all rounds cost so much. What a coin says comes on top of what void rounds force.
    fn room(&self, look: f64, rounds: f64) -> f64 {
        self.looks.map_or(0.0, |looks| looks.planned(rounds, look) as f64 * look)
    }

    /// What one look costs as a part of a full charge.
    fn look(&self, shape: &Shape) -> f64 {
        self.looks.map_or(0.0, |looks| looks.price(shape.nodes))
    }

    /// The least noise with which all rounds cost at most ε in the scope, and the limit that keeps it so.
    pub(in crate::algorithm::rounds) fn noise(
        &self,
        question: &Question<'_>,
        (epsilon, scope): (f64, Scope),
    ) -> Result<Option<Found>, PlanError> {
        let shape = question.shape;
        let (delta, rounds) = (self.delta(shape, self.looks.is_some()), self.rounds(shape, scope));
        let leverage = self.leverage(shape, scope);
        let name = named_against(epsilon, shape.delta, scope, self.masks.colluders);
        let look = self.look(shape);
        if let ReleaseKind::Sampled { .. } = question.protects.kind(1.0) {
            let order_at = |noise: f64| {
                let kind = question.protects.kind(noise);
                // As samples the rounds cost much less than their leverage says, and looks do not.
                let of_looks = |price: &Price, of_rounds| self.room(price.unsampled().of(look), of_rounds);
                best_order_with(kind, (leverage, rounds * TABLE), delta, of_looks)
            };
            let Some(noise) = least(|noise| Ok(order_at(noise).0 <= epsilon))? else { return Ok(None) };
            let order = order_at(noise).1;
            let price = question.protects.kind(noise).renyi_price(order);
            let limit = largest_divergence(order, epsilon, delta);
            return Ok(Some(Found { noise, budget: vec![BudgetRule { scope, limit, price, name }] }));
        }
        let mu = gdp::mu(epsilon, delta)?;
        let noise = (leverage * rounds + self.room(look, leverage * rounds)).sqrt() / mu * (1.0 + UP);
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
        let towards = |watchers: usize, rounds: u32| -> Result<f64, PlanError> {
            let rounds = u64::from(rounds);
            let leverage = self.towards(shape.nodes, watchers);
            let tossed = self.looks.map_or(0.0, |looks| looks.tossed as f64 * looks.price(shape.nodes));
            let always = self.looks.is_some_and(|looks| looks.always);
            let delta = self.delta(shape, always || tossed > 0.0);
            if tossed == 0.0 {
                return Ok(epsilon_of(kind, &[(leverage, rounds)], delta)?.min(local));
            }
            let of_looks = |price: &Price, _: f64| price.unsampled().of(tossed);
            let with = best_order_with(kind, (leverage, rounds as f64 * TABLE), delta, of_looks).0;
            let gaussian = match kind {
                ReleaseKind::Gaussian { noise_multiplier } => {
                    let mu2 = (leverage * rounds as f64 + tossed) / (noise_multiplier * noise_multiplier);
                    epsilon_of_mu2(mu2 * (1.0 + UP), delta)
                }
                ReleaseKind::Sampled { .. } | ReleaseKind::NonPrivate => f64::INFINITY,
            };
            Ok(with.min(gaussian).min(local))
        };
        let most = self.most(shape);
        let worst = towards(1, most)?;
        Ok(Figures {
            analysis: "masked".into(),
            worst,
            mean: self.mean(worst, |rounds| towards(1, rounds))?,
            coalition: Some((self.masks.colluders, towards(self.masks.colluders, most)?)),
            local,
        })
    }

    /// The mean over members, who are not all drawn as often.
    fn mean(&self, worst: f64, one: impl Fn(u32) -> Result<f64, PlanError>) -> Result<f64, PlanError> {
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        self.drawn.iter().for_each(|&times| *counts.entry(times).or_insert(0.0) += 1.0);
        if counts.is_empty() {
            return Ok(worst);
        }
        let mut total = 0.0;
        for (&times, &members) in &counts {
            total += members * if times == 0 { 0.0 } else { one(times)? };
        }
        Ok(total / self.drawn.len() as f64 * (1.0 + UP))
    }

    /// The rule by which a node keeps to ε in a scope, and how many rounds fit.
    pub(in crate::algorithm::rounds) fn own_rule(
        &self,
        shape: &Shape,
        (epsilon, scope): (f64, Scope),
        name: &str,
    ) -> Result<Option<(f64, BudgetRule)>, PlanError> {
        let (kind, delta) = (ReleaseKind::of(&shape.release), self.delta(shape, self.looks.is_some()));
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

/// The least ε that one order proves for rounds seen with this leverage, and for what looks cost by the price of a contribution and of all rounds; and the order. Looks are
/// steps on all records.
fn best_order_with(
    kind: ReleaseKind,
    (leverage, rounds): (f64, f64),
    delta: f64,
    looks: impl Fn(&Price, f64) -> f64,
) -> (f64, f64) {
    let epsilon = |order: f64| {
        let price = kind.renyi_price(order);
        let of_rounds = Prices::new(vec![price.clone()]).of(leverage)[0] * rounds;
        rdp::conversion::epsilon(order, (of_rounds + looks(&price, of_rounds)) * (1.0 + 1e-10), delta)
    };
    orders()
        .map(|order| (epsilon(order), order))
        .fold((f64::INFINITY, 2.0), |a, b| if b.0 < a.0 { b } else { a })
}

fn named_against(epsilon: f64, delta: f64, scope: Scope, colluders: usize) -> String {
    match scope {
        Scope::Worst => {
            let who = match colluders {
                1 => "any one member".to_owned(),
                many => format!("any {many} members together"),
            };
            format!("ε = {epsilon} at δ = {delta:e}, {who}")
        }
        Scope::Local | Scope::Mean => named(epsilon, delta, scope),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_as_people_count() {
        let named = |colluders| named_against(4.0, 1e-5, Scope::Worst, colluders);
        assert_eq!(named(1), "ε = 4 at δ = 1e-5, any one member");
        assert_eq!(named(3), "ε = 4 at δ = 1e-5, any 3 members together");
    }
}
