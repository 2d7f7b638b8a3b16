//! Every case of the fuzz corpus, through the very functions that are fuzzed: cases that were found once stay found.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own under the fuzzer")]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn cases(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.expect("a case").path()).collect();
    cases.sort();
    cases
}

#[test]
fn no_case_of_the_corpus_breaks_a_reader() {
    let mut broken = Vec::new();
    for (name, target) in targets::TARGETS {
        let cases = cases(name);
        assert!(cases.len() >= 8, "{name} has {} cases", cases.len());
        for case in cases {
            let bytes = std::fs::read(&case).expect("a case");
            if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                broken.push(case);
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A corpus of which nothing can be read would try only the first check of each reader.
#[test]
fn the_corpus_has_cases_that_can_be_read() {
    let read = |target: &str, case: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target).join(case);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let text = |target: &str, case: &str| String::from_utf8(read(target, case)).expect("text");
    for case in cases("frame") {
        let name = case.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let is_wrong = ["found", "forged", "other", "empty"].iter().any(|wrong| name.starts_with(wrong));
        let bytes = std::fs::read(&case).expect("a case");
        assert_eq!(
            targets::read_frame(&bytes, runtime::wire::Limits::for_model(64)).is_some(),
            !is_wrong,
            "{name}"
        );
    }
    runtime::network::hearing::hears_a_card(&read("hello", "card-running")).expect("a card");
    for case in ["small", "rounds", "gossip", "walk", "mean", "models", "faults"] {
        protocol::config::Config::from_toml(&text("config", case), case).expect("a configuration");
    }
    for case in cases("log") {
        if ["rounds", "broken", "gossip", "walk", "others", "other-releases"]
            .iter()
            .any(|name| case.ends_with(name))
        {
            protocol::log::Log::whole(&case).expect("a log");
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for case in
        ["idx/bytes", "idx/images", "idx/doubles", "idx/gzip", "npy/floats", "npy/fortran", "npy/archive"]
    {
        learn::data::read_arrays(folder.join(case), &Default::default()).expect(case);
    }
}
