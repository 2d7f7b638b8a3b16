//! Noise for averaging rounds.
//!
//! When a node contributes to round t, the rounds up to t − 2 are settled and round t − 1 is not: the dearest moment of an undisturbed run of T rounds is the last
//! contribution, with T − 2 rounds at their leverages and two in full. That is what is calibrated; it is never more than T in full.

use std::collections::BTreeMap;

use privacy::network::doubling::Blocks;
use privacy::{gdp, rdp};

use super::RoundsSettings;
use super::leverage::plan_of;
use super::masks::{MaskSettings, Masked};
use super::proved;
use super::robust::RobustForecast;
use crate::account::plan::{Figures, Found, LARGEST, MOST_NODES, PlanError, Question, UP, least, named};
use crate::account::{Prices, ReleaseKind, Shape, Tally};
use crate::algorithm::Forecast;
use crate::settings::{BudgetRule, Scope};

/// Most pairs that the search for the worst one looks at more closely.
const MOST_CANDIDATES: usize = 24;

/// Leverages with how often each occurs.
pub(super) type Histogram = Vec<(f64, f64)>;

impl Forecast for RoundsSettings {
    fn releases(&self, shape: &Shape) -> Result<u64, PlanError> {
        Ok(u64::from(self.most_drawn(shape).max(1)))
    }

    fn noise(
        &self,
        question: &Question<'_>,
        (epsilon, scope): (f64, Scope),
        local: &Found,
    ) -> Result<Option<Found>, PlanError> {
        match &self.masks {
            None if self.robust.is_some() => RobustForecast.noise(question, (epsilon, scope), local),
            Some(masks) => self.masked(masks, question.shape).noise(question, (epsilon, scope)),
            None => calibrated(question, epsilon, scope),
        }
    }

    fn figures(&self, shape: &Shape, local: f64) -> Result<Figures, PlanError> {
        match &self.masks {
            None if self.robust.is_some() => RobustForecast.figures(shape, local),
            Some(masks) => self.masked(masks, shape).figures(shape, local),
            None => Ok(figures(shape, local)),
        }
    }

    fn least_part(&self, shape: &Shape, scope: Scope) -> f64 {
        self.masks.as_ref().map_or(1.0, |masks| self.masked(masks, shape).leverage(shape, scope))
    }

    fn own_rule(
        &self,
        shape: &Shape,
        (epsilon, scope): (f64, Scope),
        name: &str,
    ) -> Result<Option<(f64, BudgetRule)>, PlanError> {
        if let Some(masks) = &self.masks {
            return self.masked(masks, shape).own_rule(shape, (epsilon, scope), name);
        }
        if self.robust.is_some() || scope == Scope::Local || !(2..=MOST_NODES).contains(&shape.nodes) {
            return Ok(None);
        }
        Ok(match ReleaseKind::of(&shape.release) {
            kind @ ReleaseKind::Gaussian { .. } => {
                let mu = gdp::mu(epsilon, shape.delta)?;
                let rule =
                    BudgetRule { scope, limit: mu * mu, price: kind.gaussian_price(), name: name.to_owned() };
                Some((f64::INFINITY, rule))
            }
            ReleaseKind::Sampled { .. } => renyi(shape, (epsilon, scope), name),
            ReleaseKind::NonPrivate => None,
        })
    }
}

impl RoundsSettings {
    fn masked<'a>(&self, masks: &'a MaskSettings, shape: &Shape) -> Masked<'a> {
        let (chance, look_chance) = (self.split_chance(shape.nodes), self.look_chance());
        let spare = self.proved.as_ref().map_or(0, |_| proved::SPARE);
        let drawn = self.times_drawn(shape);
        Masked { masks, drawn, chance, looks: self.looks, look_chance, spare, lost: self.hostile }
    }
}

/// The least noise for a scope, and its limit; `None` where only `local` is left.
fn calibrated(question: &Question<'_>, epsilon: f64, scope: Scope) -> Result<Option<Found>, PlanError> {
    let shape = question.shape;
    if shape.nodes > MOST_NODES {
        return Ok(None);
    }
    let in_full = f64::from(shape.rounds.clamp(1, 2));
    let settled = shape.rounds.saturating_sub(2);
    if let ReleaseKind::Sampled { .. } = question.protects.kind(1.0) {
        return sampled(question, epsilon, scope);
    }
    let (unit, _) = dearest(shape, settled, scope, &mut |leverage| leverage);
    let mu = gdp::mu(epsilon, shape.delta)?;
    let noise = ((unit + in_full).sqrt() / mu) * (1.0 + UP);
    let price = question.protects.kind(noise).gaussian_price();
    let rule = BudgetRule { scope, limit: mu * mu, price, name: named(epsilon, shape.delta, scope) };
    Ok((noise <= LARGEST).then(|| Found { noise, budget: vec![rule] }))
}

/// For samples: noise and Rényi order for the histograms of the dearest pairs found so far, until no other pair is dearer.
fn sampled(question: &Question<'_>, epsilon: f64, scope: Scope) -> Result<Option<Found>, PlanError> {
    let shape = question.shape;
    let settled = shape.rounds.saturating_sub(2);
    let in_full = f64::from(shape.rounds.clamp(1, 2));
    let with_full = |mut histogram: Histogram| {
        histogram.push((1.0, in_full));
        histogram
    };
    let mut candidates = vec![with_full(dearest(shape, settled, scope, &mut |leverage| leverage).1)];
    for _ in 0..MOST_CANDIDATES {
        let order_at = |noise: f64| best_order(question.protects.kind(noise), &candidates, shape.delta);
        let Some(noise) = least(|noise| Ok(order_at(noise).0 <= epsilon))? else { return Ok(None) };
        let order = order_at(noise).1;
        let kind = question.protects.kind(noise);
        let mut prices = Prices::new(vec![kind.renyi_price(order)]);
        let (value, histogram) = dearest(shape, settled, scope, &mut |leverage| prices.of(leverage)[0]);
        let limit = largest_divergence(order, epsilon, shape.delta);
        let price = kind.renyi_price(order);
        if (value + in_full * price.of(1.0)) * (1.0 + 1e-11) <= limit {
            let rule = BudgetRule { scope, limit, price, name: named(epsilon, shape.delta, scope) };
            return Ok(Some(Found { noise, budget: vec![rule] }));
        }
        let next = with_full(histogram);
        if candidates.contains(&next) {
            // The table of prices rounds up a little: a little less is allowed for.
            candidates.push(next.into_iter().map(|(leverage, count)| (leverage, count * 1.002)).collect());
        } else {
            candidates.push(next);
        }
    }
    Ok(None)
}

/// The least ε that one order proves for all histograms, and the order.
pub(super) fn best_order(kind: ReleaseKind, histograms: &[Histogram], delta: f64) -> (f64, f64) {
    let epsilon = |order: f64| {
        let mut prices = Prices::new(vec![kind.renyi_price(order)]);
        let spent = |histogram: &Histogram| -> f64 {
            histogram.iter().map(|&(leverage, count)| prices.of(leverage)[0] * count).sum::<f64>()
                * (1.0 + 1e-10)
        };
        let most = histograms.iter().map(spent).fold(0.0, f64::max);
        rdp::conversion::epsilon(order, most, delta)
    };
    orders()
        .map(|order| (epsilon(order), order))
        .fold((f64::INFINITY, 2.0), |a, b| if b.0 < a.0 { b } else { a })
}

/// Rényi orders to choose from.
pub(super) fn orders() -> impl Iterator<Item = f64> {
    let orders = (0..28).map(|at| 1.0 + 0.25 * libm::pow(1.3, f64::from(at)));
    orders.map(|order| if order > 4.0 { order.round() } else { order })
}

/// The largest divergence that an order converts to at most ε, rounded down.
pub(super) fn largest_divergence(order: f64, epsilon: f64, delta: f64) -> f64 {
    let fits = |divergence: f64| rdp::conversion::epsilon(order, divergence, delta) <= epsilon;
    let (mut low, mut high) = (0.0, 1.0);
    while fits(high) && high < 1e12 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The largest sum of prices over the first `settled` rounds in this scope, with the leverages behind it.
fn dearest(shape: &Shape, settled: u32, scope: Scope, price: &mut dyn FnMut(f64) -> f64) -> (f64, Histogram) {
    let nodes = shape.nodes;
    let mut sums = vec![0.0; nodes * nodes];
    for round in 0..settled {
        let blocks = blocks_of(shape, round);
        for (watcher, row) in sums.chunks_exact_mut(nodes).enumerate() {
            blocks.heard_by(watcher, |stretch, total| {
                if blocks.is_uniform() {
                    let price = price(blocks.share(stretch[0] as usize, total));
                    stretch.iter().for_each(|&node| row[node as usize] += price);
                } else {
                    stretch
                        .iter()
                        .for_each(|&node| row[node as usize] += price(blocks.share(node as usize, total)));
                }
            });
        }
    }
    if scope == Scope::Mean {
        return dearest_source(shape, settled, &sums);
    }
    let worst = sums
        .iter()
        .enumerate()
        .fold((0, 0.0), |best, (at, &sum)| if sum > best.1 { (at, sum) } else { best });
    let (watcher, source) = (worst.0 / nodes, worst.0 % nodes);
    (worst.1, histogram(shape, settled, source, |node| f64::from(u8::from(node == watcher))))
}

/// As [`dearest`] for the mean over watchers of each source.
fn dearest_source(shape: &Shape, settled: u32, sums: &[f64]) -> (f64, Histogram) {
    let nodes = shape.nodes;
    let mut totals = vec![0.0; nodes];
    for row in sums.chunks_exact(nodes) {
        totals.iter_mut().zip(row).for_each(|(total, sum)| *total += sum);
    }
    let others = (nodes.max(2) - 1) as f64;
    let most = totals
        .iter()
        .enumerate()
        .fold((0, 0.0), |best, (at, &sum)| if sum > best.1 { (at, sum) } else { best });
    (most.1 / others * (1.0 + 1e-12), histogram(shape, settled, most.0, |_| 1.0 / others))
}

/// The leverages of a source over the rounds, each watcher with a weight.
fn histogram(shape: &Shape, settled: u32, source: usize, weight: impl Fn(usize) -> f64) -> Histogram {
    let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
    let mut column = vec![0.0; shape.nodes];
    for round in 0..settled {
        blocks_of(shape, round).leverages_of(source, &mut column);
        for (watcher, &leverage) in column.iter().enumerate() {
            let weight = weight(watcher);
            if leverage > 0.0 && weight > 0.0 {
                *counts.entry(leverage.to_bits()).or_insert(0.0) += weight;
            }
        }
    }
    counts.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect()
}

fn blocks_of(shape: &Shape, round: u32) -> Blocks {
    let plan = plan_of(&shape.key, round, shape.nodes).expect("a run has nodes");
    let drawn = shape.algorithm.drawn(&shape.key, round, shape.nodes);
    let contributes = |node: usize| drawn.as_ref().is_none_or(|drawn| drawn[node]);
    Blocks::with_variances(&plan, |node| if contributes(node) { shape.variance(node) } else { 0.0 })
}

/// What an undisturbed run costs in the end.
fn figures(shape: &Shape, local: f64) -> Figures {
    let mut tally = Tally::new(shape, true);
    let kind = tally.kind(&shape.release);
    let members: Vec<usize> = (0..shape.nodes).collect();
    let kinds = vec![kind; shape.nodes];
    for round in 0..shape.rounds {
        tally.charge_round(&blocks_of(shape, round), &members, &kinds);
    }
    let pending = tally.pending(std::iter::empty());
    let table = tally.table(&pending, &vec![local; shape.nodes]);
    let worst = if table.complete { table.worst().0 } else { local };
    Figures { analysis: table.mean_name(), worst, mean: table.mean(), coalition: None, local }
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
