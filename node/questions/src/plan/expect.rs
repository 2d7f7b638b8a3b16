//! How exact the answers will be, before anything is asked: the same readers on a sum of records spread evenly.

use serde::{Deserialize, Serialize};

use super::{Method, QuestionPlan, SumPlan};
use crate::answer::{self, Figure};
use crate::blocks::{Block, pairs};
use crate::estimate::half_width_in_deviations;
use crate::kinds::frequent::{FALSE_ALARM, most_candidates, thresholds};
use crate::kinds::moments::triangle_index;
use crate::kinds::{mean, survival};
use crate::language::ast::{Described, Kind};

/// The half-width of an answer's interval, noise only: from the best case to the worst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The expression as written.
    #[serde(skip)]
    pub written: String,
    /// Where the data lie well.
    pub low: f64,
    /// Where they lie badly.
    pub high: f64,
    /// In what: the column's units, `records`, `records in rank`.
    pub unit: String,
}

/// What to expect of every aggregate, for the plan's records spread evenly over the declared groups.
#[must_use]
pub fn expectations(plan: &QuestionPlan) -> Vec<Expectation> {
    match &plan.method {
        Method::Sum(sum) => summed(plan, sum),
        Method::Frequent(search) => {
            let limits = thresholds(search.noise, search.levels, most_candidates(search.values), FALSE_ALARM);
            vec![one(plan, 0, limits.found_from, limits.found_from, "found from so many records")]
        }
        Method::Distinct => Vec::new(),
        Method::Response(response) => responded(plan, response.categories).into_iter().collect(),
    }
}

/// A survey in which every category was reported as often.
fn responded(plan: &QuestionPlan, categories: usize) -> Option<Expectation> {
    let each = plan.terms.contributors / categories as u64;
    let answer =
        answer::responses(&plan.question, plan.terms.epsilon, &vec![each.max(1); categories]).ok()?;
    if let Some(half) = answer.more.get("half_width_in_records") {
        return Some(one(plan, 0, *half, *half, "records in rank"));
    }
    let (low, high) = half_widths(answer.low.as_ref()?, answer.high.as_ref()?)?;
    Some(one(plan, 0, low, high, unit(&plan.question.aggregates.first()?.kind)))
}

fn one(plan: &QuestionPlan, at: usize, low: f64, high: f64, unit: &str) -> Expectation {
    Expectation { written: plan.question.aggregates[at].written.clone(), low, high, unit: unit.to_owned() }
}

/// Records in one declared group where all have as many.
#[must_use]
pub fn records_per_group(plan: &QuestionPlan) -> f64 {
    let groups: f64 = plan.question.groups.iter().map(|levels| levels.declared as f64).product();
    plan.records as f64 / groups
}

fn summed(plan: &QuestionPlan, sum: &SumPlan) -> Vec<Expectation> {
    let records = records_per_group(plan);
    let even: Vec<f64> = sum
        .blocks
        .iter()
        .flat_map(|planned| {
            let one = even(&planned.block, records);
            (0..sum.groups.len()).flat_map(move |_| one.clone())
        })
        .collect();
    let decoders = answer::decoders(sum);
    let reading = answer::Reading { plan: sum, sum: &even, decoders: &decoders, population: false };
    let answers = answer::of_group(&plan.question, &reading, 0);
    let expected = |(at, answer): (usize, &answer::Answer)| {
        let (kind, route) = (&plan.question.aggregates[at].kind, sum.routes.of_aggregate[at]);
        let planned = &sum.blocks[route.block];
        match (kind, &planned.block) {
            (Kind::Mean(value), Block::Mean { .. }) => {
                let (low, high) = mean::expected(value.bounds, records, planned.noise);
                let z = half_width_in_deviations();
                Some(one(plan, at, z * low, z * high, "units of the column"))
            }
            (Kind::Quantile(_, q), _) => {
                let decoder = decoders[route.block].as_ref()?;
                let bin = ((q * decoder.bins() as f64) as usize).min(decoder.bins() - 1);
                let half = half_width_in_deviations() * planned.noise * decoder.rank_deviation(bin, *q);
                Some(one(plan, at, half, half, "records in rank"))
            }
            _ => {
                let (low, high) = half_widths(answer.low.as_ref()?, answer.high.as_ref()?)?;
                Some(one(plan, at, low, high, unit(kind)))
            }
        }
    };
    answers.iter().enumerate().filter_map(expected).collect()
}

fn unit(kind: &Kind) -> &'static str {
    match kind {
        Kind::Count | Kind::CountOf(_) | Kind::MissingOf(_) | Kind::Clamped(_) => "records",
        Kind::Described(_, Described::Count | Described::Missing) => "records",
        Kind::Histogram(_) | Kind::Crosstab(..) | Kind::Pairs(_) | Kind::Confusion(..) => "records",
        Kind::Auc(..) | Kind::Corr(_) | Kind::Kendall(..) | Kind::Survival(..) | Kind::Accuracy(..) => {
            "share"
        }
        _ => "units of the column",
    }
}

fn half_widths(low: &Figure, high: &Figure) -> Option<(f64, f64)> {
    let (low, high) = (low.numbers(), high.numbers());
    let halves = low.iter().zip(&high).map(|(low, high)| (high - low) / 2.0).filter(|half| half.is_finite());
    halves.fold(None, |ends, half| match ends {
        None => Some((half, half)),
        Some((least, most)) => Some((f64::min(least, half), f64::max(most, half))),
    })
}

/// The sum of `records` records spread evenly over what a block tells apart.
fn even(block: &Block, records: f64) -> Vec<f64> {
    let cells = block.coordinates() as usize;
    let spread = |declared: usize| {
        let mut sum = vec![0.0; cells];
        sum[..declared].fill(records / declared as f64);
        sum
    };
    match block {
        Block::Count(_) | Block::Nodes => vec![records],
        Block::Mean { .. } => spread(2),
        Block::Variance { .. } => {
            let mut sum = vec![0.0; cells];
            // ∫a², √2·∫a(1 − a), ∫(1 − a)² over [0, 1].
            sum[..3].copy_from_slice(&[
                records / 3.0,
                records * std::f64::consts::SQRT_2 / 6.0,
                records / 3.0,
            ]);
            sum
        }
        Block::Histogram(levels) => spread(levels.declared),
        Block::Cumulative { bins, .. } => {
            let mut sum = into_root(*bins, records);
            sum.resize(cells, 0.0);
            sum
        }
        Block::ClassCumulative { bins, .. } => into_root(*bins, records / 2.0).repeat(2),
        Block::Table(a, b) => {
            let cell = |at: usize| {
                let is_declared = at / b.names.len() < a.declared && at % b.names.len() < b.declared;
                if is_declared { records / (a.declared * b.declared) as f64 } else { 0.0 }
            };
            (0..cells).map(cell).collect()
        }
        Block::Tables(columns) => {
            pairs(columns).flat_map(|(a, b)| even(&Block::Table(a.clone(), b.clone()), records)).collect()
        }
        Block::Confusion(..) | Block::Ranks(..) => spread(cells),
        Block::Moments(values) => {
            let size = values.len() + 1;
            let mut sum = vec![0.0; cells];
            (0..size)
                .for_each(|i| sum[triangle_index(size, i, i)] = if i == 0 { records } else { records / 3.0 });
            sum
        }
        Block::Survival(..) => spread(2 * survival::BINS),
    }
}

/// Columns of T for records spread evenly over the bins.
fn into_root(bins: usize, records: f64) -> Vec<f64> {
    let row = crate::kinds::root::coefficients(bins);
    let each = records / bins as f64;
    let mut sum = 0.0;
    row.iter()
        .map(|r| {
            sum += r;
            sum * each
        })
        .collect()
}
