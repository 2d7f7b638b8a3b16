//! One mechanism, one curator: conversions between privacy definitions.

use privacy::gdp;

use super::harness::{Case, Comparison, Outcome, Part, Section};

pub(crate) const SECTIONS: &[Section] = &[Section {
    file: "gdp",
    part: Part::All,
    inputs: &["delta"],
    check: conversion,
    unstated: |_, _| false,
}];

/// ε of μ-GDP at δ, and back.
fn conversion(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let [mu, delta, epsilon] = [case.get("mu")?, case.get("delta")?, case.get("epsilon")?];
    compare.near("ε", gdp::epsilon(mu, delta)?, epsilon, 1e-9 * epsilon);
    compare.near("μ", gdp::mu(epsilon, delta)?, mu, 1e-9 * mu);
    Ok(())
}
