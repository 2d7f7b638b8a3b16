//! The commands in the documents do what the documents say.
//!
//! In a `console` block a line `$ murmur …` is run, and the lines below it must be its output; a line `...` stands for any lines. In a `console numbers` block
//! numbers may differ: real noise is not the same twice. In a `sh` block of the README a line `cargo run --release -- …` must succeed. The commands of one document
//! are run in one empty folder, one after the other; those of an example find its files there. With `UPDATE_DOCS=1` the outputs in `console` blocks are written anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, the documents, and what stands in the folders of the examples.
fn documents() -> Vec<PathBuf> {
    let folders = |parent: &Path| {
        let mut found: Vec<PathBuf> =
            fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    let mut all = vec![root().join("README.md")];
    all.extend(
        folders(&root().join("docs"))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "md")),
    );
    all.extend(folders(&root().join("examples")).into_iter().map(|folder| folder.join("README.md")));
    all.retain(|path| path.is_file());
    all
}

/// An empty folder for the commands of a document, with the files of its example.
fn place(document: &Path) -> PathBuf {
    let relative = document.strip_prefix(root()).unwrap();
    let name: String =
        relative.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    if relative.starts_with("examples") {
        for entry in fs::read_dir(document.parent().unwrap()).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() {
                fs::copy(&file, path.join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    path
}

fn output(place: &Path, command: &str) -> String {
    let mut murmur = Command::cargo_bin("murmur").unwrap();
    let assert = murmur.args(words(command)).current_dir(place).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    // Reports of a program that is being worked on say so; documents are about one that is not.
    text.replace(
        "Careful: The program was built from modified source: what ran is not what its commit says.\n\n",
        "",
    )
}

/// The words of a command; what stands between double quotes is one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A document in pieces: text that stays, and what each command printed according to it.
enum Piece {
    Text(String),
    Output { command: String, shown: String, exact: bool },
}

fn pieces(document: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut fence = None;
    for line in document.lines() {
        let console = fence.as_deref().filter(|words: &&str| words.starts_with("console"));
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(language.to_owned()) } else { None };
            pieces.push(Piece::Text(line.to_owned()));
        } else if let (Some(words), Some(command)) = (console, line.strip_prefix("$ murmur ")) {
            let (command, exact) = (command.to_owned(), words != "console numbers");
            pieces.push(Piece::Text(line.to_owned()));
            pieces.push(Piece::Output { command, shown: String::new(), exact });
        } else if let (Some(_), Some(Piece::Output { shown, .. })) = (console, pieces.last_mut()) {
            shown.push_str(line);
            shown.push('\n');
        } else {
            pieces.push(Piece::Text(line.to_owned()));
        }
    }
    pieces
}

/// The text with every number replaced by the same sign, and any space by one.
fn without_numbers(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let mut kept = String::new();
        for c in word.chars() {
            let number = c.is_ascii_digit() || (c == '.' && kept.ends_with('#'));
            if !number {
                kept.push(c);
            } else if !kept.ends_with('#') {
                kept.push('#');
            }
        }
        words.push(kept);
    }
    words.join(" ")
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
    for path in documents() {
        let place = place(&path);
        let mut renewed = String::new();
        for piece in pieces(&fs::read_to_string(&path).unwrap()) {
            match piece {
                Piece::Text(line) => renewed.push_str(&(line + "\n")),
                Piece::Output { command, shown, exact } => {
                    let found = output(&place, &command);
                    commands += 1;
                    let kept = |text: &str| if exact { text.to_owned() } else { without_numbers(text) };
                    let lines = |text: &str| text.trim_end().lines().map(kept).collect::<Vec<String>>();
                    let (shown_lines, found_lines) = (lines(&shown), lines(&found));
                    let agree = agrees(
                        &shown_lines.iter().map(String::as_str).collect::<Vec<_>>(),
                        &found_lines.iter().map(String::as_str).collect::<Vec<_>>(),
                    );
                    assert!(update || agree, "{}: `murmur {command}` prints\n{found}", path.display());
                    // What was cut short stays so.
                    let text = if agree || shown.contains("...\n") { &shown } else { &found };
                    renewed.push_str(text.trim_end());
                    if !text.trim_end().is_empty() {
                        renewed.push('\n');
                    }
                }
            }
        }
        if update {
            fs::write(&path, renewed).unwrap();
        }
    }
    assert!(commands >= 5, "the README has commands to run: {commands}");
}

#[test]
fn the_main_command_of_the_readme_runs() {
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("cargo run --release -- ")).collect();
    assert!(!commands.is_empty());
    let place = place(&root().join("docs/main-command"));
    commands.into_iter().for_each(|command| assert!(!output(&place, command).is_empty()));
}

#[test]
fn the_promise_of_the_readme_says_at_once_what_it_rests_on() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let beginning = text.split("## ").next().unwrap();
    assert!(beginning.contains("nobody to trust"));
    for part in ["fewer than a third of the members", "the masks are", "whatever breaks"] {
        assert!(beginning.contains(part), "the README promises before it says: {part}");
    }
}

#[test]
fn numbers_may_differ_and_words_may_not() {
    assert_eq!(without_numbers("ε =  1.98 after 160 rounds"), without_numbers("ε = 2.1 after 9 rounds"));
    assert_ne!(without_numbers("worst pair 1.2"), without_numbers("mean 1.2"));
}

#[test]
fn dots_stand_for_any_lines_and_nothing_else_does() {
    assert!(agrees(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(agrees(&["..."], &[]));
    assert!(!agrees(&["a", "d"], &["a", "b", "d"]));
    assert!(!agrees(&["a"], &["a", "b"]));
}
