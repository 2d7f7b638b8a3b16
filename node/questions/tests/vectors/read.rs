//! Reading the vectors, and comparing to 1e-6.

use std::path::PathBuf;

use questions::columns::Bounds;
use questions::estimate::Estimate;
use serde_json::Value;

pub(crate) fn vectors() -> Value {
    let folder = std::env::var_os("MURMUR_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata"), PathBuf::from);
    let path = folder.join("questions.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The cases of a section; never none.
pub(crate) fn cases(section: &str) -> Vec<Value> {
    let cases = vectors()[section].as_array().expect(section).clone();
    assert!(!cases.is_empty(), "{section}");
    cases
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

#[track_caller]
pub(crate) fn near(found: f64, expected: &Value) {
    let expected = number(expected);
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "found {found}, expected {expected}");
}

#[track_caller]
pub(crate) fn all_near(found: &[f64], expected: &Value) {
    let expected = expected.as_array().expect("a list");
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(found, expected)| near(*found, expected));
}

/// A figure and its deviation.
#[track_caller]
pub(crate) fn estimate(found: Estimate, expected: &Value) {
    near(found.value, &expected[0]);
    near(found.deviation, &expected[1]);
}
