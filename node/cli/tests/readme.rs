//! The commands in the documents do what the documents say.
//!
//! In a `console` block a line `$ murmur …` is run, and the lines below it must be its output; a line `...` stands for any lines. In a `sh`
//! block a line `cargo run --release -- …` must succeed. With `UPDATE_DOCS=1` the outputs in `console` blocks are written anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 3] = ["README.md", "docs/PRIVACY.md", "docs/AUDIT.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn output(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut murmur = Command::cargo_bin("murmur").unwrap();
    let assert = murmur.args(&words).current_dir(place(&words)).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// Commands that leave a run folder get an empty place of their own, so that the folder has the name that the document shows.
fn place(words: &[&str]) -> PathBuf {
    if !matches!(words.first(), Some(&("sim" | "swarm"))) {
        return root();
    }
    let name: String = words.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A document in pieces: text that stays, and what each command printed according to it.
enum Piece {
    Text(String),
    Output { command: String, shown: String },
}

fn pieces(document: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut fence = None;
    for line in document.lines() {
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(language.to_owned()) } else { None };
            pieces.push(Piece::Text(line.to_owned()));
        } else if let (Some("console"), Some(command)) = (fence.as_deref(), line.strip_prefix("$ murmur ")) {
            pieces.push(Piece::Text(line.to_owned()));
            pieces.push(Piece::Output { command: command.to_owned(), shown: String::new() });
        } else if let (Some("console"), Some(Piece::Output { shown, .. })) =
            (fence.as_deref(), pieces.last_mut())
        {
            shown.push_str(line);
            shown.push('\n');
        } else {
            pieces.push(Piece::Text(line.to_owned()));
        }
    }
    pieces
}

/// Whether `found` is `shown`, in which a line `...` stands for any number of lines.
fn agrees(shown: &[&str], found: &[&str]) -> bool {
    match shown.split_first() {
        None => found.is_empty(),
        Some((&"...", rest)) => (0..=found.len()).any(|skipped| agrees(rest, &found[skipped..])),
        Some((line, rest)) => found
            .split_first()
            .is_some_and(|(first, found)| line.trim_end() == first.trim_end() && agrees(rest, found)),
    }
}

#[test]
fn commands_in_the_documents_print_what_the_documents_show() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut commands = 0;
    for name in DOCUMENTS {
        let path = root().join(name);
        let mut renewed = String::new();
        for piece in pieces(&std::fs::read_to_string(&path).unwrap()) {
            match piece {
                Piece::Text(line) => renewed.push_str(&(line + "\n")),
                Piece::Output { command, shown } => {
                    let found = output(&command);
                    commands += 1;
                    let (shown, lines): (Vec<&str>, Vec<&str>) =
                        (shown.trim_end().lines().collect(), found.trim_end().lines().collect());
                    assert!(update || agrees(&shown, &lines), "{name}: `murmur {command}` prints\n{found}");
                    renewed.push_str(&(found.trim_end().to_owned() + "\n"));
                }
            }
        }
        if update {
            std::fs::write(&path, renewed).unwrap();
        }
    }
    assert!(commands >= 5, "the README has commands to run: {commands}");
}

#[test]
fn the_main_command_of_the_readme_runs() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("cargo run --release -- ")).collect();
    assert!(!commands.is_empty());
    commands.into_iter().for_each(|command| assert!(!output(command).is_empty()));
}

#[test]
fn dots_stand_for_any_lines_and_nothing_else_does() {
    assert!(agrees(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(agrees(&["..."], &[]));
    assert!(!agrees(&["a", "d"], &["a", "b", "d"]));
    assert!(!agrees(&["a"], &["a", "b"]));
}
