//! Puts the commit into `murmur --version`, where the source is a git checkout, and whether the source is that of the commit.

use std::process::Command;

/// What the program is made of, from the root of the repository.
const SOURCE: [&str; 14] = [
    "Cargo.toml",
    "Cargo.lock",
    "topology/src",
    "privacy/src",
    "sim/src",
    "sim/audit/src",
    "node/cli/src",
    "node/dashboard/page",
    "node/dashboard/src",
    "node/learn/src",
    "node/protocol/src",
    "node/questions/src",
    "node/report/src",
    "node/runtime/src",
];

fn main() {
    println!("cargo:rustc-env=MURMUR_COMMIT={}", commit().unwrap_or_else(|| "unknown commit".into()));
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={head}");
    }
    for path in source() {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

fn source() -> impl Iterator<Item = String> {
    SOURCE.iter().map(|path| format!("../../{path}"))
}

/// The commit; `modified` where what is built is not what it has.
fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let paths: Vec<String> = source().collect();
    // Without locks: a build writes nothing into the repository.
    let mut words = vec!["--no-optional-locks", "status", "--porcelain", "--"];
    words.extend(paths.iter().map(String::as_str));
    // Whether it is clean is not known where git does not say so.
    let clean = git(&words).is_some_and(|changed| changed.is_empty());
    Some(if clean { commit } else { format!("{commit}, modified") })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
