//! The truth beside a simulation: what the answer would be without noise, for values held within their bounds.

use crate::answer::{Answers, Figure, Reading, decoders, in_records, of_group};
use crate::columns::Row;
use crate::contribution::group;
use crate::language::ast::{Described, Kind, Value, YesNo};
use crate::plan::{QuestionPlan, SumPlan};

/// Puts the truth into every answer.
pub(super) fn fill(
    plan: &QuestionPlan,
    sum_plan: &SumPlan,
    exact: &[i64],
    rows: &[&Row],
    answers: &mut Answers,
) {
    let scaled = in_records(sum_plan, exact);
    let decoders = decoders(sum_plan);
    // No noise: a plan whose blocks have none reads the exact sum.
    let mut silent = sum_plan.clone();
    silent.blocks.iter_mut().for_each(|block| block.noise = 0.0);
    let reading = Reading { plan: &silent, sum: &scaled, decoders: &decoders, population: false };
    let mut members: Vec<Vec<&Row>> = vec![Vec::new(); sum_plan.groups.len()];
    for row in passing(plan, rows) {
        members[group(&plan.question, row)].push(row);
    }
    for line in &mut answers.lines {
        let read = of_group(&plan.question, &reading, line.index);
        let rows = &members[line.index];
        for ((answer, read), aggregate) in line.answers.iter_mut().zip(read).zip(&plan.question.aggregates) {
            answer.truth = match from_values(&aggregate.kind, rows) {
                Some(number) => number.map(Figure::Number),
                None => read.raw,
            };
        }
    }
}

fn passing<'a>(plan: &QuestionPlan, rows: &[&'a Row]) -> Vec<&'a Row> {
    let passes = |row: &&Row| plan.question.filter.as_ref().is_none_or(|filter| filter.holds(row));
    rows.iter().copied().filter(passes).collect()
}

/// The truth of a question in the local model.
pub(super) fn of_response(plan: &QuestionPlan, rows: &[&Row]) -> Option<Figure> {
    let rows = passing(plan, rows);
    let kind = &plan.question.aggregates.first()?.kind;
    match kind {
        Kind::Histogram(levels) => {
            let mut counts = vec![0.0; levels.names.len()];
            rows.iter().for_each(|row| counts[levels.of(row)] += 1.0);
            Some(Figure::List(counts))
        }
        _ => from_values(kind, &rows).flatten().map(Figure::Number),
    }
}

/// Figures that are computed from the values themselves, without bins: outer `None` where the exact sum tells it.
fn from_values(kind: &Kind, rows: &[&Row]) -> Option<Option<f64>> {
    let values = |value: &Value| -> Vec<f64> { rows.iter().filter_map(|row| value.of(row)).collect() };
    Some(match kind {
        Kind::Sum(value) => Some(values(value).iter().sum()),
        Kind::Mean(value) | Kind::Described(value, Described::Mean) => mean(&values(value)),
        Kind::Variance(value) => variance(&values(value)),
        Kind::Stddev(value) | Kind::Described(value, Described::Stddev) => {
            variance(&values(value)).map(f64::sqrt)
        }
        Kind::Described(value, Described::Count) => Some(values(value).len() as f64),
        Kind::Described(value, Described::Missing) => Some((rows.len() - values(value).len()) as f64),
        Kind::Quantile(value, q) => quantile(values(value), *q),
        Kind::Gini(value) => gini(values(value)),
        Kind::Auc(value, label) => auc(rows, value, *label),
        _ => return None,
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64)
}

/// The least value at which the cumulative count reaches q·N.
fn quantile(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// The mean distance of two different records.
fn gini(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let weighted: f64 = values.iter().enumerate().map(|(i, x)| (2.0 * i as f64 - n + 1.0) * x).sum();
    (n > 1.0).then(|| 2.0 * weighted / (n * (n - 1.0)))
}

fn auc(rows: &[&Row], value: &Value, label: YesNo) -> Option<f64> {
    let mut scored: Vec<(f64, bool)> =
        rows.iter().filter_map(|row| Some((value.of(row)?, label.of(row)?))).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ones = scored.iter().filter(|(_, class)| *class).count() as f64;
    let zeros = scored.len() as f64 - ones;
    let (mut below, mut wins, mut at) = (0.0, 0.0, 0);
    while at < scored.len() {
        let end = at + scored[at..].iter().take_while(|(x, _)| *x == scored[at].0).count();
        let tied_ones = scored[at..end].iter().filter(|(_, class)| *class).count() as f64;
        let tied_zeros = (end - at) as f64 - tied_ones;
        wins += tied_ones * (below + 0.5 * tied_zeros);
        below += tied_zeros;
        at = end;
    }
    (ones > 0.0 && zeros > 0.0).then(|| wins / (ones * zeros))
}
