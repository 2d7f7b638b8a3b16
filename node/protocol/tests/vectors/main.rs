//! Every case of `heterogeneity.json`: `./test vectors`, also with `MURMUR_VECTORS=DIR`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "`./test vectors` sums what is printed")]

#[path = "../../../../privacy/tests/vectors/harness.rs"]
#[allow(dead_code, reason = "other crates have files of other shapes")]
mod harness;
mod laplace;
mod least_squares;
mod releases;
mod training;

use harness::{Case, Comparison, Outcome, Part, Section};

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors");

/// Cases by their name, the keys that are given, and how one is compared.
type Kind = (&'static str, &'static [&'static str], fn(&Case<'_>, &mut Comparison) -> Outcome);

const KINDS: &[&[Kind]] = &[training::KINDS, releases::KINDS, laplace::KINDS];

fn sections() -> Vec<Section> {
    let section = |&(name, inputs, check): &Kind| Section {
        file: "heterogeneity",
        part: Part::With("case", name),
        inputs,
        check,
        unstated: |_, _| false,
    };
    KINDS.iter().copied().flatten().map(section).collect()
}

#[test]
fn what_is_computed_agrees_with_the_reference_vectors() {
    harness::agree(OWN, &sections());
}

#[test]
fn a_changed_number_is_found() {
    harness::a_changed_number_is_found(OWN, &sections());
}

/// A case that nobody looks at would be a claim without a test.
#[test]
fn every_case_has_a_test() {
    let text = std::fs::read_to_string(format!("{OWN}/heterogeneity.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let known: Vec<&str> = KINDS.iter().copied().flatten().map(|(name, ..)| *name).collect();
    for case in cases {
        let name = case["case"].as_str().unwrap();
        assert!(known.contains(&name), "no test reads the case `{name}`");
    }
}
