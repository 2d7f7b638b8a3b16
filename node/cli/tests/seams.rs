//! What may know what: an algorithm is one folder, and few files outside it may name it.

use std::path::{Path, PathBuf};

/// All files of the program that may name an algorithm, besides those of its own folder. A new one must not make this list longer.
const MAY_NAME_ALGORITHMS: [&str; 8] = [
    // The enum and its few matches, and what is re-exported.
    "node/protocol/src/algorithm/mod.rs",
    "node/protocol/src/lib.rs",
    // What is said on the wire, and what a promise about a roster is.
    "node/protocol/src/message.rs",
    "node/protocol/src/node.rs",
    // The words that people write.
    "node/protocol/src/config/mod.rs",
    "node/protocol/src/config/table/algorithm.rs",
    // What is told to people about the limits of each, and which canary finds most.
    "node/report/src/words.rs",
    "sim/audit/src/canary.rs",
];

const NAMES: [&str; 4] = ["Rounds", "Gossip", "Walk", "Mean"];
const FOLDERS: [&str; 3] = ["rounds", "gossip", "walk"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Sources of the program, tests left out.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// What a piece of code names an algorithm by: its variants, its types, its module, its word in the configuration. `rounds` and `mean` alone are
/// ordinary words.
fn names_one(code: &str) -> Option<String> {
    let variants = ["Algorithm", "AlgorithmKind", "Body"]
        .into_iter()
        .flat_map(|kind| NAMES.map(|name| format!("{kind}::{name}")));
    let types = ["Settings", "Fold"].into_iter().flat_map(|kind| NAMES.map(|name| format!("{name}{kind}")));
    let modules = ["protocol", "crate", "algorithm"]
        .into_iter()
        .flat_map(|at| FOLDERS.map(|name| format!("{at}::{name}")));
    let words = ["gossip", "walk"].map(|word| format!("\"{word}\""));
    variants.chain(types).chain(modules).chain(words).find(|name| code.contains(name))
}

/// The code of a file, without comments and without the tests at its end.
fn code(text: &str) -> String {
    let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    program.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_algorithm_is_named_in_its_folder_and_in_few_other_files() {
    let mut files = Vec::new();
    for part in [
        "node/protocol",
        "node/runtime",
        "node/report",
        "node/dashboard",
        "node/cli",
        "node/learn",
        "sim",
        "sim/audit",
    ] {
        sources(&root().join(part).join("src"), &mut files);
    }
    assert!(files.len() > 250, "{} files", files.len());
    let own = FOLDERS.map(|name| root().join("node/protocol/src/algorithm").join(name));
    assert!(own.iter().all(|folder| folder.join("mod.rs").exists()));
    let mut naming = Vec::new();
    for file in files.iter().filter(|file| own.iter().all(|folder| !file.starts_with(folder))) {
        let text = std::fs::read_to_string(file).expect("a source");
        if let Some(name) = names_one(&code(&text)) {
            let known = MAY_NAME_ALGORITHMS.iter().any(|known| root().join(known) == *file);
            assert!(known, "{} names an algorithm (`{name}`): ask it by a method instead", file.display());
            naming.push(file);
        }
    }
    assert_eq!(
        naming.len(),
        MAY_NAME_ALGORITHMS.len(),
        "a file on the list names none any more: {naming:#?}"
    );
    assert!(naming.len() <= 10);
}

/// Every file of Rust below a folder, what is built left out.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            rust_files(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_file_is_longer_than_450_lines() {
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    assert!(files.len() > 700, "{} files", files.len());
    let lines = |file: &PathBuf| std::fs::read_to_string(file).expect("a source").lines().count();
    let long: Vec<(usize, &PathBuf)> =
        files.iter().map(|file| (lines(file), file)).filter(|(lines, _)| *lines > 450).collect();
    assert!(long.is_empty(), "is there a second job to move out? {long:#?}");
}

#[test]
fn what_names_an_algorithm_is_seen() {
    assert!(names_one("match kind { AlgorithmKind::Walk => 1 }").is_some());
    assert!(names_one("use protocol::gossip::Say;").is_some());
    assert!(names_one("let rounds = config.rounds; privacy::network::walk::loss()").is_none());
    assert_eq!(code("a // Algorithm::Walk\n#[cfg(test)]\nmod tests {\nAlgorithm::Walk }"), "a ");
}
