//! Reading the vectors, and comparing to 1e-6.

use questions::columns::Bounds;
use questions::estimate::Estimate;
use serde_json::Value;

use super::harness::{Case, Comparison, Outcome, Part, Section};

/// Cases under one key of `questions.json`.
pub(crate) struct Named {
    /// The key.
    pub(crate) name: &'static str,
    /// Keys of a case that are given.
    pub(crate) inputs: &'static [&'static str],
    /// Compares one case.
    pub(crate) check: fn(&Case<'_>, &mut Comparison) -> Outcome,
}

pub(crate) fn section(named: &Named) -> Section {
    Section {
        file: "questions",
        part: Part::Under(named.name),
        inputs: named.inputs,
        check: named.check,
        // What is given inside of a result: a value and its bounds beside the feature, the levels beside their quantiles.
        unstated: |_, pointer| {
            ["/mean/value", "/mean/bounds/0", "/mean/bounds/1"].contains(&pointer) || pointer.ends_with("/q")
        },
    }
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

pub(crate) fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a whole number: {value}"))
}

pub(crate) fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}")).iter().map(number).collect()
}

pub(crate) fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap_or_else(|| panic!("rows: {value}")).iter().map(list).collect()
}

pub(crate) fn bounds(value: &Value) -> Bounds {
    let ends = list(value);
    Bounds { low: ends[0], high: ends[1] }
}

/// To 1e-6 of what is expected.
pub(crate) fn near(compare: &mut Comparison, found: f64, expected: &Value) {
    let expected = number(expected);
    compare.near("figure", found, expected, 1e-6 * expected.abs().max(1.0));
}

pub(crate) fn all_near(compare: &mut Comparison, found: &[f64], expected: &Value) {
    let expected = list(expected);
    compare.holds(found.len() == expected.len(), "lengths differ");
    found.iter().zip(&expected).for_each(|(found, expected)| {
        compare.near("figure", *found, *expected, 1e-6 * expected.abs().max(1.0));
    });
}

/// A figure and its deviation.
pub(crate) fn estimate(compare: &mut Comparison, found: Estimate, expected: &Value) {
    near(compare, found.value, &expected[0]);
    near(compare, found.deviation, &expected[1]);
}
