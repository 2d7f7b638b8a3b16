//! Answers of the local model, from how often each category was reported.

use super::{Answer, Figure, TOO_FEW};
use crate::clean::{nondecreasing, nonnegative};
use crate::columns::Row;
use crate::estimate::{Estimate, half_width_in_deviations};
use crate::kinds::u_statistic::Kernel;
use crate::language::ast::{Kind, Question, Value, bin};
use crate::local::{Survey, theorem_bound};
use crate::refusal::Refusal;

/// What one person reports before it is randomised: a category below `categories`.
#[must_use]
pub fn category(question: &Question, categories: usize, row: &Row) -> usize {
    let counts = question.filter.as_ref().is_none_or(|filter| filter.holds(row));
    let last = categories - 1;
    let Some(aggregate) = question.aggregates.first() else { return last };
    match &aggregate.kind {
        Kind::Histogram(levels) if counts => levels.of(row).min(last),
        Kind::Quantile(value, _) if counts => value.of(row).map_or(last, |x| bin(value, last, x)),
        Kind::Gini(value) | Kind::Variance(value) | Kind::Stddev(value) => {
            value.of(row).map_or(0, |x| bin(value, categories, x))
        }
        Kind::Kendall(x, y) => {
            let side = categories.isqrt();
            let place = |value: &Value| value.of(row).map_or(0, |v| bin(value, side, v));
            place(x) * side + place(y)
        }
        _ => last,
    }
}

/// The answer from the counts of the reports.
///
/// # Errors
/// If ε or the counts are refused.
pub fn responses(question: &Question, epsilon: f64, counts: &[u64]) -> Result<Answer, Refusal> {
    let survey = Survey::new(epsilon, counts)?;
    let Some(aggregate) = question.aggregates.first() else { return Ok(Answer::none("nothing was asked")) };
    Ok(match &aggregate.kind {
        Kind::Histogram(levels) => histogram(&survey, &levels.names),
        Kind::Quantile(value, q) => quantile(&survey, value, *q),
        Kind::Gini(value) => pairs(
            &survey,
            epsilon,
            counts,
            (value.bounds.range(), 1.0),
            &Kernel::distance(&points(counts.len())),
        ),
        Kind::Variance(value) => {
            let scale = value.bounds.range() * value.bounds.range();
            pairs(&survey, epsilon, counts, (scale, 1.0), &Kernel::half_square(&points(counts.len())))
        }
        Kind::Stddev(value) => {
            let scale = value.bounds.range() * value.bounds.range();
            roots(pairs(&survey, epsilon, counts, (scale, 1.0), &Kernel::half_square(&points(counts.len()))))
        }
        Kind::Kendall(..) => {
            let side = counts.len().isqrt();
            pairs(&survey, epsilon, counts, (1.0, 0.0), &Kernel::concordance(side, side))
        }
        _ => Answer::none("not in the local model"),
    })
}

/// Middles of k bins of [0, 1].
fn points(bins: usize) -> Vec<f64> {
    (0..bins).map(|i| (i as f64 + 0.5) / bins as f64).collect()
}

fn histogram(survey: &Survey, names: &[String]) -> Answer {
    let people = survey.people();
    let shares = survey.histogram();
    let raw: Vec<f64> = shares[..names.len()].iter().map(|share| share * people).collect();
    let half = |share: &f64| half_width_in_deviations() * people * survey.share_deviation(*share, 1);
    let ends = |sign: f64| -> Vec<f64> {
        raw.iter().zip(&shares).map(|(count, share)| count + sign * half(share)).collect()
    };
    let cleaned: Vec<f64> = nonnegative(&shares).into_iter().map(|share| share * people).collect();
    Answer {
        value: Some(Figure::List(cleaned[..names.len()].to_vec())),
        low: Some(Figure::List(ends(-1.0))),
        high: Some(Figure::List(ends(1.0))),
        labels: names.to_vec(),
        raw: Some(Figure::List(raw)),
        ..Answer::default()
    }
}

/// The quantile among those with a value: all but the last category.
fn quantile(survey: &Survey, value: &Value, q: f64) -> Answer {
    let shares = survey.histogram();
    let bins = shares.len() - 1;
    let raw: Vec<f64> = shares[..bins]
        .iter()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    let cumulative: Vec<f64> = nondecreasing(&raw).into_iter().map(|f| f.max(0.0)).collect();
    let total = cumulative[bins - 1];
    let rank = q * total;
    let first = |rank: f64| cumulative.partition_point(|&f| f < rank).min(bins - 1);
    let at = first(rank);
    // F_j − q·F_B: of those at or below j a share 1 − q counts, of those above −q.
    let half =
        half_width_in_deviations() * rank_deviation(survey, (cumulative[at], total), (at + 1, bins), q);
    if half.is_nan() || half > total / 4.0 {
        return Answer::none(TOO_FEW);
    }
    let edges = value.bin_bounds(bins);
    let edge = |bin: usize| edges.low + edges.range() * bin as f64 / bins as f64;
    let before = if at == 0 { 0.0 } else { cumulative[at - 1] };
    let step = cumulative[at] - before;
    let inside = if step > 0.0 { (rank - before) / step } else { 0.5 };
    let found = edge(at) + inside * (edge(at + 1) - edge(at));
    let low = if rank - half <= 0.0 { edges.low } else { edge(first(rank - half)) };
    let high = if rank + half >= total { edges.high } else { edge(first(rank + half) + 1) };
    let within = |x: f64| Some(Figure::Number(x.clamp(value.bounds.low, value.bounds.high)));
    let mut answer = Answer {
        value: within(found),
        low: within(low),
        high: within(high),
        raw: Some(Figure::Number(found)),
        ..Answer::default()
    };
    answer.more.insert("half_width_in_records".into(), half * survey.people());
    answer
}

/// The deviation of F_j − q·F_B over the responses, where F are shares of everybody.
fn rank_deviation(survey: &Survey, (below, total): (f64, f64), (size, bins): (usize, usize), q: f64) -> f64 {
    let beta = survey.beta();
    let k = (bins + 1) as f64;
    // A report counts 1 − q, −q or 0; its law for a truth in each of the three parts.
    let uniform = |weight: f64| beta * weight / k;
    let mean = uniform((1.0 - q) * size as f64 - q * (bins - size) as f64);
    let square = uniform((1.0 - q) * (1.0 - q) * size as f64 + q * q * (bins - size) as f64);
    let variance = |weight: f64| {
        let (m, s) = (mean + (1.0 - beta) * weight, square + (1.0 - beta) * weight * weight);
        s - m * m
    };
    let shares = [below.clamp(0.0, 1.0), (total - below).clamp(0.0, 1.0), (1.0 - total).clamp(0.0, 1.0)];
    let all = shares[0] * variance(1.0 - q) + shares[1] * variance(-q) + shares[2] * variance(0.0);
    (all / survey.people()).sqrt() / (1.0 - beta)
}

/// A U-statistic with its exact variance; the theorem's bound beside it as what it is.
fn pairs(
    survey: &Survey,
    epsilon: f64,
    counts: &[u64],
    (scale, lipschitz): (f64, f64),
    kernel: &Kernel,
) -> Answer {
    let found = survey.u_statistic(kernel);
    let scaled = Estimate::new(found.value * scale, found.deviation * scale);
    let (low, high) = scaled.interval(false);
    if !(low.is_finite() && high.is_finite()) {
        return Answer::none(TOO_FEW);
    }
    let people = counts.iter().sum::<u64>();
    let bound = theorem_bound(epsilon, counts.len(), people, lipschitz).sqrt() * scale;
    let mut answer = Answer {
        value: Some(Figure::Number(scaled.value)),
        low: Some(Figure::Number(low)),
        high: Some(Figure::Number(high)),
        raw: Some(Figure::Number(scaled.value)),
        note: Some("responses and sample together".into()),
        ..Answer::default()
    };
    answer.more.insert("deviation".into(), scaled.deviation);
    answer.more.insert("theorem_bound".into(), bound);
    answer
}

fn roots(answer: Answer) -> Answer {
    let root = |figure: Option<Figure>| match figure {
        Some(Figure::Number(x)) => Some(Figure::Number(x.max(0.0).sqrt())),
        other => other,
    };
    let (value, low, high, raw) = (root(answer.value), root(answer.low), root(answer.high), root(answer.raw));
    Answer { value, low, high, raw, note: answer.note, ..Answer::default() }
}
