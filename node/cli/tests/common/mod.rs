//! The program from outside, for the tests of several commands.
#![allow(dead_code, reason = "each of its users needs another part")]

pub(crate) mod terminal;

use std::process::{Command, Output};

use serde_json::Value;

/// Runs `murmur` with these words.
pub(crate) fn murmur(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_murmur")).args(words).output().expect("it runs")
}

/// stdout of a run that must succeed.
#[track_caller]
pub(crate) fn stdout(words: &[&str]) -> String {
    let output = murmur(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The JSON that a run prints which must succeed.
#[track_caller]
pub(crate) fn json(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(words)).expect("JSON")
}

/// stderr of a run that must be refused: exit code 2, nothing on stdout, one error with all `parts`.
#[track_caller]
pub(crate) fn refused(words: &[&str], parts: &[&str]) -> String {
    let output = murmur(words);
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?}: stdout is data, and there is none");
    assert_eq!(stderr.matches("error: ").count(), 1, "{words:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{words:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{words:?}: `{part}` is not in: {stderr}");
    }
    stderr
}

/// As [`refused`], with one hint.
#[track_caller]
pub(crate) fn refused_with_a_hint(words: &[&str], parts: &[&str]) {
    let stderr = refused(words, parts);
    assert_eq!(stderr.matches("hint: ").count(), 1, "{words:?}: {stderr}");
}
