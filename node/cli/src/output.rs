//! Where results go: stdout, or a file that is either whole or not there.

use crate::failure::{Failure, Result};
use crate::narrow::folded;
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
