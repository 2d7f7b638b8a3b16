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

/// A stream of numbers that a seed stands for (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}

/// A case that is a little wrong: bits turned around, pieces left out, said twice, or of another case.
fn mutated(case: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = case.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        let piece = at..(at + 1 + dice.below(16)).min(bytes.len());
        match dice.below(5) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
            2 => drop(bytes.drain(piece)),
            3 => {
                let again = bytes[piece].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let from = dice.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

/// Tries mutations of the cases of a target until `is_over`; how many there were.
fn tried(name: &str, target: fn(&[u8]), seed: u64, is_over: impl Fn(usize) -> bool) -> usize {
    let cases: Vec<Vec<u8>> = cases(name).iter().map(|case| std::fs::read(case).expect("a case")).collect();
    let (mut dice, mut count) = (Dice(seed), 0);
    while !is_over(count) {
        let (one, other) = (&cases[dice.below(cases.len())], &cases[dice.below(cases.len())]);
        let bytes = mutated(one, other, &mut dice);
        let found = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
        assert!(found.is_ok(), "{name}, seed {seed}, case {count}: {bytes:?}");
        count += 1;
    }
    count
}

#[test]
fn cases_that_are_a_little_wrong_break_no_reader() {
    for (name, target) in targets::TARGETS {
        tried(name, target, 1, |count| count == 100);
    }
}

/// Without a fuzzer, which would see where the cases lead: for a minute each, or `MURMUR_FUZZ_SECONDS`; `MURMUR_FUZZ_SEED` makes others.
#[test]
#[ignore = "takes minutes"]
fn many_cases_that_are_a_little_wrong_break_no_reader() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (seconds, seed) = (number("MURMUR_FUZZ_SECONDS", 60), number("MURMUR_FUZZ_SEED", 2));
    for (name, target) in targets::TARGETS {
        let start = std::time::Instant::now();
        let count = tried(name, target, seed, |_| start.elapsed().as_secs() >= seconds);
        println!("{name}: {count} cases in {seconds} s");
    }
}
