//! Inspections of masked rounds: what they cost, and what passes them.

use privacy::network::inspection;

use super::harness::{Case, Comparison, Outcome, Part, Section};

pub(crate) const SECTIONS: &[Section] = &[
    section("loss", &["honest", "rows", "change"], loss),
    section("edge", &["directions", "t"], edge),
    section("share", &["directions", "dimension", "t"], share),
    section("length", &["longest", "noise", "dimension", "t"], length),
    section("passes", &["directions", "ratio", "t"], passes),
];

const fn section(
    part: &'static str,
    inputs: &'static [&'static str],
    check: fn(&Case<'_>, &mut Comparison) -> Outcome,
) -> Section {
    Section { file: "inspection", part: Part::Under(part), inputs, check, unstated: |_, _| false }
}

/// Relative 1e-8.
fn near(compare: &mut Comparison, what: &str, found: f64, expected: f64) {
    compare.near(what, found, expected, 1e-8 * expected.abs());
}

fn loss(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (rows, change): (Vec<Vec<f64>>, Vec<f64>) = (case.get("rows")?, case.get("change")?);
    near(compare, "μ²", inspection::loss(case.get("honest")?, &rows, &change)?, case.get("mu2")?);
    Ok(())
}

fn edge(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    near(compare, "a", inspection::edge(case.get("directions")?, case.get("t")?)?, case.get("a")?);
    Ok(())
}

fn share(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (k, d): (u64, u64) = (case.get("directions")?, case.get("dimension")?);
    near(compare, "share", inspection::share(k, d, case.get("t")?)?, case.get("share")?);
    near(compare, "mean share", inspection::mean_share(k, d), case.get("mean")?);
    Ok(())
}

fn length(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (longest, noise) = (case.get("longest")?, case.get("noise")?);
    let found = inspection::length_squared(longest, noise, case.get("dimension")?, case.get("t")?);
    near(compare, "ℓ²", found, case.get("length2")?);
    Ok(())
}

fn passes(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (k, ratio, t): (u64, f64, f64) = (case.get("directions")?, case.get("ratio")?, case.get("t")?);
    near(compare, "spread", inspection::passes(k, ratio, t)?, case.get("probability")?);
    let one = inspection::passes_one_coordinate(k, ratio, t)?;
    near(compare, "one coordinate", one, case.get("one_coordinate")?);
    Ok(())
}
