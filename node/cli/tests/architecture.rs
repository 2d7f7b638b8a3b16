//! What ARCHITECTURE.md names exists, and what exists is named there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files and folders below a folder, but those of builds.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if ["target", "node_modules", ".git", "corpus", "runs"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found);
        }
        found.push(path);
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(move |letter| !is_part(letter)).filter(|word| !word.is_empty())
}

/// All words of the code of the repository, its comments left out, and all names of files and folders.
fn known() -> BTreeSet<String> {
    let mut paths = Vec::new();
    walk(&root(), &mut paths);
    let mut known = BTreeSet::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        known.extend(words(name).map(str::to_owned));
        let is_source =
            path.extension().is_some_and(|kind| ["rs", "toml", "js"].iter().any(|known| kind == *known));
        if is_source && !path.ends_with("tests/architecture.rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            code.for_each(|line| known.extend(words(line).map(str::to_owned)));
        }
    }
    known
}

/// The texts in backticks of a document, without its blocks.
fn names(text: &str) -> Vec<String> {
    let outside: String = text.split("```").step_by(2).collect();
    outside.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Words in backticks that are neither in the code nor a file.
fn strangers(text: &str, known: &BTreeSet<String>) -> Vec<String> {
    let is_unknown = |name: &String| words(name).any(|word| !known.contains(word));
    names(text).into_iter().filter(is_unknown).collect()
}

#[test]
fn every_name_in_backticks_exists() {
    let known = known();
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a document");
    assert!(names(&text).len() > 100, "{} names", names(&text).len());
    assert_eq!(strangers(&text, &known), [""; 0], "names of what does not exist");
    assert_eq!(strangers("`Nöde::handel` and `Node::handle`", &known), ["Nöde::handel"]);
}

/// Every library has a row in the table of folders.
#[test]
fn every_package_is_in_the_table_of_folders() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a document");
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let workspace: toml::Table = workspace.parse().expect("TOML");
    for member in workspace["workspace"]["members"].as_array().expect("members") {
        let folder = member.as_str().expect("a path");
        assert!(text.contains(&format!("| `{folder}/` |")), "{folder} is not in ARCHITECTURE.md");
    }
}
