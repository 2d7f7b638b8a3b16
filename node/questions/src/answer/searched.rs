//! Answers of the two questions that have a method of their own.

use super::{Answer, Figure};
use crate::estimate::half_width_in_deviations;
use crate::kinds::distinct::Distinct;
use crate::kinds::frequent::{FALSE_ALARM, Search, most_candidates, thresholds};
use crate::plan::FrequentPlan;

/// The commonest values with their counts.
#[must_use]
pub fn frequent(plan: &FrequentPlan, search: &Search) -> Answer {
    let found = search.found();
    let half = half_width_in_deviations() * plan.noise;
    let counts: Vec<f64> = found.iter().map(|(_, count)| *count).collect();
    let moved = |by: f64| Some(Figure::List(counts.iter().map(|count| count + by).collect()));
    let limits = thresholds(plan.noise, plan.levels, most_candidates(plan.values), FALSE_ALARM);
    let mut answer = Answer {
        value: moved(0.0),
        low: moved(-half),
        high: moved(half),
        raw: moved(0.0),
        labels: found.iter().map(|(value, _)| String::from_utf8_lossy(value).into_owned()).collect(),
        ..Answer::default()
    };
    answer.more.insert("found_from".into(), limits.found_from);
    answer.more.insert("threshold".into(), limits.threshold);
    answer
}

/// How many different values, from the number of buckets that stayed empty.
#[must_use]
pub fn distinct(question: &Distinct, empty: usize) -> Answer {
    match question.answer(empty as f64) {
        None => Answer::none("more values than buckets can tell apart"),
        Some(found) => Answer {
            value: Some(Figure::Number(found.value.max(0.0))),
            low: Some(Figure::Number(found.low)),
            high: Some(Figure::Number(found.high)),
            raw: Some(Figure::Number(found.value)),
            note: Some("the lower end is for values that many nodes hold".into()),
            ..Answer::default()
        },
    }
}
