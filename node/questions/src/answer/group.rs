//! All answers of one group: which reader reads which block.

use super::{Answer, Reading, number, table};
use crate::blocks::{Block, pairs};
use crate::estimate::Estimate;
use crate::kinds::quantile::Cumulative;
use crate::language::ast::{Described, Kind, Question, Value};
use crate::plan::Route;

/// One answer for each aggregate.
pub(super) fn answers(question: &Question, reading: &Reading<'_>, group: usize) -> Vec<Answer> {
    let routes = &reading.plan.routes.of_aggregate;
    question
        .aggregates
        .iter()
        .zip(routes)
        .map(|(aggregate, route)| answer(&aggregate.kind, reading, *route, group))
        .collect()
}

fn answer(kind: &Kind, reading: &Reading<'_>, route: Route, group: usize) -> Answer {
    let sum = reading.coordinates(route.block, group);
    let noise = reading.block(route.block).noise;
    let population = reading.population;
    match kind {
        Kind::Count | Kind::CountOf(_) | Kind::MissingOf(_) | Kind::Clamped(_) => {
            let estimate = count(kind, &reading.block(route.block).block, sum, noise, route.as_total);
            number::count(estimate, population)
        }
        Kind::Sum(_) | Kind::Mean(_) | Kind::Variance(_) | Kind::Stddev(_) => {
            number::moments(kind, &reading.block(route.block).block, sum, (noise, population))
        }
        Kind::Histogram(levels) => table::histogram(levels, sum, noise),
        Kind::Quantile(value, q) => {
            number::quantile(value, &cumulative(reading, route, group, value), *q, population)
        }
        Kind::Gini(value) => number::gini(&cumulative(reading, route, group, value), population),
        Kind::Described(value, Described::Missing) => missing(reading, route, group, value),
        Kind::Described(value, which) => {
            let bins = value.is_one_value_a_bin(value.fine_bins());
            number::described(*which, &cumulative(reading, route, group, value), bins, population)
        }
        Kind::Auc(value, _) => number::auc(reading, route.block, group, value),
        Kind::Crosstab(a, b) => table::crosstab(a, b, sum, noise),
        Kind::Pairs(columns) => table::pairs(&pairs(columns).collect::<Vec<_>>(), sum, noise),
        Kind::Corr(values) => table::correlations(values, sum, (noise, population)),
        Kind::Linreg(values) => table::least_squares(values, sum, (noise, population)),
        Kind::Kendall(..) => number::kendall(sum, noise, population),
        Kind::Survival(time, _) => table::survival(time, sum, (noise, population)),
        Kind::Confusion(classes, _) => table::confusion(classes, sum, noise),
        Kind::Accuracy(classes, _) => number::accuracy(classes.declared, sum, (noise, population)),
        // These have methods of their own and never share a sum.
        Kind::Frequent(..) | Kind::Distinct(_) => Answer::none("asked alone"),
    }
}

/// Cumulative counts of a value in a group.
fn cumulative<'a>(reading: &Reading<'a>, route: Route, group: usize, value: &Value) -> Cumulative<'a> {
    let decoder = reading.decoders[route.block].as_ref().expect("cumulative blocks have decoders");
    let bins = decoder.bins();
    let sum = &reading.coordinates(route.block, group)[..bins];
    Cumulative::new(decoder, value.bin_bounds(bins), sum, reading.block(route.block).noise)
}

/// The coordinate for missing values, which weighs as much as a value.
fn missing(reading: &Reading<'_>, route: Route, group: usize, value: &Value) -> Answer {
    let planned = reading.block(route.block);
    let bins = value.fine_bins();
    let Some(&sum) = reading.coordinates(route.block, group).get(bins) else {
        return Answer::none("not asked");
    };
    let weight = crate::blocks::missing_weight(bins, planned.grid.bits) as f64 / planned.grid.scale();
    number::count(
        Estimate::new(sum / weight, planned.noise / weight).sampled(sum / weight),
        reading.population,
    )
}

/// A count off a block of its own, or off one that serves a mean too.
fn count(kind: &Kind, block: &Block, sum: &[f64], noise: f64, as_total: bool) -> Estimate {
    let sqrt_2 = std::f64::consts::SQRT_2;
    // Weights of the coordinates in the number of records with a value, and whether missing ones follow.
    let (weights, missing): (&[f64], bool) = match block {
        Block::Mean { missing, .. } => (&[1.0, 1.0], *missing),
        Block::Variance { missing, .. } => (&[1.0, sqrt_2, 1.0], *missing),
        _ => (&[1.0], false),
    };
    let present = crate::estimate::dot(weights, sum);
    let squares = crate::estimate::square(weights);
    let absent = if missing { sum[weights.len()] } else { 0.0 };
    let (value, squares) = match kind {
        Kind::MissingOf(_) if missing => (absent, 1.0),
        _ if as_total && missing => (present + absent, squares + 1.0),
        _ => (present, squares),
    };
    Estimate::new(value, noise * squares.sqrt()).sampled(value)
}
