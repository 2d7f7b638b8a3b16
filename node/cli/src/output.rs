//! Where results go: stdout, or a file that is either whole or not there.

use crate::failure::{Failure, Result};
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// In which form a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
}

/// Pretty JSON with a newline.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::of(error, None))?;
    Ok(text + "\n")
}

/// Writes a result to `out`, or to stdout where no file is named.
pub(crate) fn write(out: Option<&Path>, bytes: &[u8]) -> Result<()> {
    match out {
        Some(path) => write_file(path, bytes),
        None => write_stdout(bytes),
    }
}

/// Writes beside the target first and renames, so that an interruption leaves nothing half-written.
fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().ok_or_else(|| Failure::new(format!("`{}` names no file", path.display())))?;
    let mut beside = name.to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(beside);
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        // The partial file may not exist; the first error is the one that matters.
        let _ = fs::remove_file(&beside);
        Failure::from(error).context(format!("cannot write `{}`", path.display()))
    })
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let width = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    // What is for programs stays as it is, also where somebody looks at it.
    let prose = std::str::from_utf8(bytes).ok().filter(|text| !text.starts_with(['{', '[', '<']));
    let folded = width.zip(prose).map(|(width, text)| folded(text, width));
    let bytes = folded.as_ref().map_or(bytes, String::as_bytes);
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader (`head`, a pager) has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Text for a screen of so many columns: prose is folded between words, under its own indentation. Rows of tables, in which columns stand apart, and lines
/// without a place to fold stay as they are.
fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let indent = bare.len() - bare.trim_start_matches([' ', '-']).len();
        if bare.chars().count() <= width || bare[indent..].contains("  ") || indent + 20 > width {
            out.push_str(line);
            continue;
        }
        let mut column = indent;
        out.push_str(&bare[..indent]);
        for (at, word) in bare[indent..].split(' ').enumerate() {
            let long = word.chars().count();
            if at > 0 && column + 1 + long > width {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else if at > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += long;
        }
        out.push_str(&line[bare.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_folded_between_words_and_tables_are_not() {
        let prose = "  - one two three four five six seven eight nine ten\n";
        let folded_prose = folded(prose, 30);
        assert_eq!(folded_prose, "  - one two three four five\n    six seven eight nine ten\n");
        assert!(folded_prose.lines().all(|line| line.chars().count() <= 30));
        let row = "worst pair        1.836    masked  and so on for ever\n";
        assert_eq!(folded(row, 30), row);
        let word = "https://example.org/a/very/long/address/without/a/place\n";
        assert_eq!(folded(word, 30), word);
        assert_eq!(folded("ε ε ε ε", 3), "ε ε ε ε", "too narrow for anything");
        assert_eq!(folded("short\n\nlines", 80), "short\n\nlines");
    }
}
