//! What holds for the sources and for everything that is linked: no `unsafe` of our own, and only licences that `deny.toml` allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Files that may say `unsafe`, each with the test that exercises it. None: all that needs it is in dependencies.
const NAMED: [(&str, &str); 0] = [];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust files of the repository, but those of build folders.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) && !name.starts_with('.') {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line of code, its comments and texts left out, has the word.
fn says_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let outside_texts: String = code.split('"').step_by(2).collect();
    outside_texts.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[test]
fn no_source_of_ours_is_unsafe_outside_named_places() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    let is_named = |path: &Path| NAMED.iter().any(|(name, _)| path.ends_with(name));
    let found: Vec<String> = files
        .iter()
        .filter(|path| !is_named(path))
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("a source");
            let lines: Vec<String> = text
                .lines()
                .enumerate()
                .filter(|(_, line)| says_unsafe(line))
                .map(|(at, line)| format!("{}:{}: {line}", path.display(), at + 1))
                .collect();
            lines
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(says_unsafe("let x = unsafe { y };") && says_unsafe("pub unsafe fn f() {}"));
    assert!(!says_unsafe("// unsafe") && !says_unsafe("let unsafe_code = \"unsafe\";"));
}

/// A lint of the workspace that a crate does not ask for does nothing.
#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let about = metadata(&["--no-deps"]);
    for package in about["packages"].as_array().expect("packages") {
        let manifest = package["manifest_path"].as_str().expect("a manifest");
        let text = std::fs::read_to_string(manifest).expect("a manifest");
        let table: toml::Table = text.parse().expect("TOML");
        let inherited = table.get("lints").and_then(|lints| lints.get("workspace"));
        assert_eq!(inherited.and_then(toml::Value::as_bool), Some(true), "{manifest}");
    }
    let text = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let workspace: toml::Table = text.parse().expect("TOML");
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
}

fn metadata(more: &[&str]) -> Value {
    let text = cargo(&[&["metadata", "--format-version", "1", "--locked"], more].concat());
    serde_json::from_slice(&text).expect("JSON")
}

/// What is really built for a target, with all features. The graph of `cargo metadata` has more: crates that only weak features name.
fn built(target: &str) -> BTreeSet<(String, String)> {
    let kinds = ["tree", "--workspace", "--all-features", "--locked", "--prefix", "none", "--format", "{p}"];
    let text = cargo(&[&kinds[..], &["--target", target]].concat());
    let text = String::from_utf8(text).expect("text");
    let package = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    text.lines().filter_map(package).collect()
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn deny() -> toml::Table {
    std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml").parse().expect("TOML")
}

fn words(table: &toml::Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = table[section][key].as_array().expect("a list");
    list.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
}

/// Whether an SPDX expression can be met with the allowed licences: one of each `OR`, all of each `AND`; `/` is an old `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let text = expression.replace('/', " OR ");
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let spaced = tokens.join(" ").replace('(', "( ").replace(')', " )");
    let mut tokens: Vec<&str> = spaced.split(' ').collect();
    tokens.reverse();
    let met = any_of(&mut tokens, allowed);
    met && tokens.is_empty()
}

fn any_of(tokens: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(tokens, allowed);
    while tokens.last() == Some(&"OR") {
        tokens.pop();
        met |= all_of(tokens, allowed);
    }
    met
}

fn all_of(tokens: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(tokens, allowed);
    while tokens.last() == Some(&"AND") {
        tokens.pop();
        met &= one(tokens, allowed);
    }
    met
}

fn one(tokens: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    match tokens.pop() {
        Some("(") => {
            let met = any_of(tokens, allowed);
            tokens.pop() == Some(")") && met
        }
        Some(name) if tokens.last() == Some(&"WITH") => {
            tokens.pop();
            tokens.pop().is_some_and(|exception| allowed.contains(&format!("{name} WITH {exception}")))
        }
        Some(name) => allowed.contains(name),
        None => false,
    }
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed_and_comes_from_the_registry() {
    let rules = deny();
    let allowed = words(&rules, "licenses", "allow");
    let banned: BTreeSet<&str> = rules["bans"]["deny"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|ban| ban["name"].as_str())
        .collect();
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for target in words(&rules, "graph", "targets") {
        let about = metadata(&["--all-features", "--filter-platform", &target]);
        let built = built(&target);
        for package in about["packages"].as_array().expect("packages") {
            let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
            if !built.contains(&(text("name"), text("version"))) {
                continue;
            }
            count += 1;
            let name = format!("{} {}", text("name"), text("version"));
            if !is_met(&text("license"), &allowed) {
                wrong.insert(name.clone(), format!("licence `{}`", text("license")));
            }
            if banned.contains(text("name").as_str()) {
                wrong.insert(name.clone(), "is banned".into());
            }
            let source = package["source"].as_str();
            if source.is_some_and(|source| {
                !source.starts_with("registry+https://github.com/rust-lang/crates.io-index")
            }) {
                wrong.insert(name, format!("comes from {}", source.unwrap_or_default()));
            }
        }
    }
    assert!(count > 300, "{count} packages");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn expressions_are_read_as_spdx_says() {
    let allowed: BTreeSet<String> =
        ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"].map(str::to_owned).into();
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/GPL-3.0",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_met(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "GPL-3.0 WITH LLVM-exception",
        "(MIT OR GPL-3.0) AND Zlib",
        "MIT MIT",
        "(MIT",
    ] {
        assert!(!is_met(bad, &allowed), "{bad}");
    }
}

/// Documents that say by which test something is shown name one that there is.
#[test]
fn tests_that_documents_name_are_there() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    let texts: Vec<String> = files.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    let mut named = BTreeSet::new();
    for document in ["docs/AGREEMENT.md", "docs/RELIABILITY.md"] {
        let text = std::fs::read_to_string(root().join(document)).expect("a document");
        let words = text.split('`').skip(1).step_by(2).filter(|word| word.matches('_').count() >= 3);
        let plain =
            |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        named.extend(words.filter(plain).map(str::to_owned));
    }
    assert!(named.len() > 40, "{} tests are named", named.len());
    let missing: Vec<&String> =
        named.iter().filter(|name| !texts.iter().any(|text| text.contains(&format!("fn {name}(")))).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
