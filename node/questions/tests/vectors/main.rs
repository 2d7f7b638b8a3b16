//! Every section of `questions.json` to 1e-6: `./test vectors`, also with `MURMUR_VECTORS=DIR`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "`./test vectors` sums what is printed")]

#[path = "../../../../privacy/tests/vectors/harness.rs"]
#[allow(dead_code, reason = "other crates have files of other shapes")]
mod harness;
mod read;
mod sums;
mod tables;
mod terms;

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors");

fn sections() -> Vec<harness::Section> {
    [terms::SECTIONS, sums::SECTIONS, tables::SECTIONS].into_iter().flatten().map(read::section).collect()
}

#[test]
fn what_is_computed_agrees_with_the_reference_vectors() {
    harness::agree(OWN, &sections());
}

#[test]
fn a_changed_number_is_found() {
    harness::a_changed_number_is_found(OWN, &sections());
}

/// A section that nobody looks at would be a claim without a test; `formulas` are words.
#[test]
fn every_section_has_a_test() {
    let text = std::fs::read_to_string(format!("{OWN}/questions.json")).expect("the vectors");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let known: Vec<&str> =
        [terms::SECTIONS, sums::SECTIONS, tables::SECTIONS].into_iter().flatten().map(|s| s.name).collect();
    for section in document.as_object().expect("an object").keys().filter(|name| *name != "formulas") {
        assert!(known.contains(&section.as_str()), "no test reads the section `{section}`");
    }
}
