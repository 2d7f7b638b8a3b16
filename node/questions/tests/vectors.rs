//! Every section of `questions.json` to 1e-6: the repository's copy, or the folder that `MURMUR_VECTORS` names.

mod vectors {
    pub(crate) mod read;
    mod sums;
    mod tables;
    mod terms;
}

use vectors::read::vectors;

/// A section that nobody looks at would be a claim without a test.
#[test]
fn every_section_has_a_test() {
    let known = [
        "formulas",
        "noise",
        "plan",
        "mean",
        "variance",
        "histogram",
        "root",
        "quantile",
        "u_local",
        "u_masked",
        "auc",
        "confusion",
        "table",
        "consistent",
        "moments",
        "survival",
        "distinct",
        "heavy",
        "integers",
        "grid",
    ];
    let document = vectors();
    let sections = document.as_object().expect("an object");
    for section in sections.keys() {
        assert!(known.contains(&section.as_str()), "no test reads the section `{section}`");
    }
    for section in known {
        assert!(sections.contains_key(section), "the section `{section}` is missing");
    }
}
