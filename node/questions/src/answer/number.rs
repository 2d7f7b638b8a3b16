//! Answers that are one number.

use super::{Answer, Figure, Reading, TOO_FEW};
use crate::blocks::{Block, KENDALL_BINS};
use crate::estimate::Estimate;
use crate::kinds::quantile::Cumulative;
use crate::kinds::{
    auc as area, confusion, describe, gini as difference, kendall as tau, mean, too_few, variance,
};
use crate::language::ast::{Described, Kind, Value};

/// A number with its interval; `clean` makes true of it what is known of every true answer.
fn answer(estimate: Estimate, population: bool, clean: impl Fn(f64) -> f64) -> Answer {
    if !(estimate.value.is_finite() && estimate.deviation.is_finite()) {
        return Answer::none(TOO_FEW);
    }
    let (low, high) = estimate.interval(population);
    let note = (population && estimate.sampling.is_none())
        .then(|| "noise only: its sampling is not known".to_owned());
    Answer {
        value: Some(Figure::Number(clean(estimate.value))),
        low: Some(Figure::Number(low)),
        high: Some(Figure::Number(high)),
        raw: Some(Figure::Number(estimate.value)),
        note,
        ..Answer::default()
    }
}

pub(super) fn count(estimate: Estimate, population: bool) -> Answer {
    answer(estimate, population, |count| count.max(0.0))
}

/// Sum, mean, variance or deviation off a block of two or three coordinates and perhaps one for missing values.
pub(super) fn moments(kind: &Kind, block: &Block, sum: &[f64], (noise, population): (f64, bool)) -> Answer {
    let (found, bounds) = match block {
        Block::Mean { value, .. } => {
            let mean::Mean { count, sum, mean } = mean::mean(value.bounds, [sum[0], sum[1]], noise);
            let unknown = Estimate::new(f64::NAN, f64::NAN);
            (variance::Moments { count, sum, mean, variance: unknown, stddev: unknown }, value.bounds)
        }
        Block::Variance { value, .. } => {
            (variance::variance(value.bounds, [sum[0], sum[1], sum[2]], noise), value.bounds)
        }
        _ => return Answer::none("asked of another block"),
    };
    match kind {
        Kind::Sum(_) => answer(found.sum, population, |x| x),
        _ if too_few(found.count.value, noise) => Answer::none(TOO_FEW),
        Kind::Mean(_) => answer(found.mean, population, |x| x.clamp(bounds.low, bounds.high)),
        Kind::Variance(_) => answer(found.variance, population, |x| x.max(0.0)),
        _ => root(found.variance, population),
    }
}

/// The root of an estimate that may be negative: ends of its interval are roots of the ends.
fn root(square: Estimate, population: bool) -> Answer {
    let (low, high) = square.interval(population);
    let root = |x: f64| x.max(0.0).sqrt();
    if !(low.is_finite() && high.is_finite()) {
        return Answer::none(TOO_FEW);
    }
    Answer {
        value: Some(Figure::Number(root(square.value))),
        low: Some(Figure::Number(root(low))),
        high: Some(Figure::Number(root(high))),
        raw: Some(Figure::Number(root(square.value))),
        ..Answer::default()
    }
}

pub(super) fn quantile(value: &Value, cumulative: &Cumulative<'_>, q: f64, population: bool) -> Answer {
    let found = cumulative.quantile(q, population);
    if found.too_few {
        return Answer::none(TOO_FEW);
    }
    let whole = value.is_one_value_a_bin(cumulative.raw.len());
    let bounds = value.bounds;
    let within = |x: f64| x.clamp(bounds.low, bounds.high);
    // One whole number a bin: the bins' names, not their edges.
    let (shown, low, high) = if whole {
        (within(found.value.round()), within(found.low + 0.5), within(found.high - 0.5))
    } else {
        (found.value, found.low, found.high)
    };
    let mut answer = Answer {
        value: Some(Figure::Number(shown)),
        low: Some(Figure::Number(low)),
        high: Some(Figure::Number(high)),
        raw: Some(Figure::Number(found.value)),
        ..Answer::default()
    };
    answer.more.insert("half_width_in_records".into(), found.half_width);
    answer
}

pub(super) fn gini(cumulative: &Cumulative<'_>, population: bool) -> Answer {
    if too_few(cumulative.count().value, cumulative.count().deviation) {
        return Answer::none(TOO_FEW);
    }
    answer(difference::gini(cumulative), population, |x| x.max(0.0))
}

pub(super) fn described(
    which: Described,
    cumulative: &Cumulative<'_>,
    whole: bool,
    population: bool,
) -> Answer {
    let found = describe::describe(cumulative, whole);
    if which == Described::Count {
        return count(found.count, population);
    }
    if too_few(found.count.value, found.count.deviation) {
        return Answer::none(TOO_FEW);
    }
    match which {
        Described::Mean => answer(found.mean, population, |x| x),
        _ => answer(found.stddev, population, |x| x.max(0.0)),
    }
}

pub(super) fn auc(reading: &Reading<'_>, block: usize, group: usize, value: &Value) -> Answer {
    let decoder = reading.decoders[block].as_ref().expect("cumulative blocks have decoders");
    let bins = decoder.bins();
    let (zero, one) = reading.coordinates(block, group).split_at(bins);
    let noise = reading.block(block).noise;
    let class = |sum: &[f64]| Cumulative::new(decoder, value.bin_bounds(bins), sum, noise);
    let (zero, one) = (class(zero), class(one));
    let lost = |class: &Cumulative<'_>| too_few(class.count().value, class.count().deviation);
    if lost(&zero) || lost(&one) {
        return Answer::none(TOO_FEW);
    }
    answer(area::from_cumulative(&zero, &one), reading.population, |x| x.clamp(0.0, 1.0))
}

pub(super) fn kendall(sum: &[f64], noise: f64, population: bool) -> Answer {
    // The total of 64 cells has eight times the noise of one.
    if too_few(sum.iter().sum(), noise * KENDALL_BINS as f64) {
        return Answer::none(TOO_FEW);
    }
    answer(tau::tau_b(KENDALL_BINS, KENDALL_BINS, sum, noise), population, |x| x.clamp(-1.0, 1.0))
}

pub(super) fn accuracy(classes: usize, sum: &[f64], (noise, population): (f64, bool)) -> Answer {
    if too_few(sum.iter().sum(), noise * classes as f64) {
        return Answer::none(TOO_FEW);
    }
    answer(confusion::accuracy(classes, sum, noise), population, |x| x.clamp(0.0, 1.0))
}
