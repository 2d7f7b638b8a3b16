//! What people see: a command in a terminal of its own.
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The columns of the terminal.
pub(crate) const WIDTH: usize = 80;

/// What a command writes on a terminal, line by line; `None` where there is no Python to make one.
pub(crate) fn seen(words: &[&str], folder: &Path) -> Option<Vec<String>> {
    let output = watched(words, folder, "")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // 2 is an error that was told; another code is one that nobody told.
    assert!(
        matches!(output.status.code(), Some(0 | 2)),
        "{words:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text.lines().map(str::to_owned).collect())
}

/// The same with its exit code, whatever that is. Somebody presses ctrl-c when some words have appeared, if there are any.
pub(crate) fn watched(words: &[&str], folder: &Path, interrupt_at: &str) -> Option<Output> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_murmur")).args(words).current_dir(folder);
    command.env("MURMUR_LEDGER", folder.join("ledger")).env("INTERRUPT_AT", interrupt_at);
    let output = command.stdin(Stdio::null()).output();
    if output.is_err() {
        println!("skipped: there is no python3");
    }
    output.ok()
}
