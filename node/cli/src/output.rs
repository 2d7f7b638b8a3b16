//! Where results go: stdout, or a file that is either whole or not there.

use crate::failure::{Failure, Result};
use crate::narrow::folded;
use serde::Serialize;
use std::fs;
use std::io::{self, BufWriter, Write};
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
        // What is for programs stays as it is, also where somebody looks at it.
        None => write_stdout(bytes, |text| !is_for_programs(text)),
    }
}

/// As [`write()`], for words in a form that nobody asked for: people read them, whatever they begin with.
pub(crate) fn write_words(out: Option<&Path>, text: &str) -> Result<()> {
    match out {
        Some(path) => write_file(path, text.as_bytes()),
        None => write_stdout(text.as_bytes(), |_| true),
    }
}

/// As [`write()`], for what is too large to be held: `tell` writes it piece by piece.
pub(crate) fn stream(out: Option<&Path>, tell: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    match out {
        Some(path) => beside(path, |part| {
            let file = fs::File::create(part).map_err(|error| cannot_write(path, error))?;
            let mut file = BufWriter::new(file);
            tell(&mut file)?;
            file.flush().map_err(|error| cannot_write(path, error))
        }),
        None => {
            let mut stdout = Unread(BufWriter::new(io::stdout().lock()), false);
            tell(&mut stdout)?;
            Ok(stdout.flush()?)
        }
    }
}

/// A reader that had enough (`head`, a pager) is no error; what comes after is thrown away.
struct Unread<W>(W, bool);

impl<W: Write> Unread<W> {
    fn tolerate<T>(&mut self, done: io::Result<T>, unread: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.1 = true;
                Ok(unread)
            }
            done => done,
        }
    }
}

impl<W: Write> Write for Unread<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1 {
            return Ok(bytes.len());
        }
        let done = self.0.write(bytes);
        self.tolerate(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.1 {
            return Ok(());
        }
        let done = self.0.flush();
        self.tolerate(done, ())
    }
}

/// Writes beside the target first and renames, so that an interruption leaves nothing half-written.
fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    beside(path, |part| fs::write(part, bytes).map_err(|error| cannot_write(path, error)))
}

fn beside(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let name = path.file_name().ok_or_else(|| Failure::new(format!("`{}` names no file", path.display())))?;
    let mut part = name.to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(part);
    let renamed = || fs::rename(&part, path).map_err(|error| cannot_write(path, error));
    make(&part).and_then(|()| renamed()).inspect_err(|_| {
        // The partial file may not exist; the first error is the one that matters.
        let _ = fs::remove_file(&part);
    })
}

/// Says something on stderr; where a person reads it, in lines that are folded between words.
pub(crate) fn tell(text: &str) {
    if text.is_empty() {
        return;
    }
    let width = console::Term::stderr().size_checked().map(|(_, columns)| usize::from(columns));
    let folded = width.map(|width| folded(text, width));
    let text = folded.as_deref().unwrap_or(text);
    // Nobody is left to be told that nothing can be told.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = io::stderr().lock().write_all(b"\n");
    }
}

/// [`tell`], with a format.
macro_rules! say {
    ($($words:tt)*) => { $crate::output::tell(&format!($($words)*)) };
}
pub(crate) use say;

fn cannot_write(path: &Path, error: io::Error) -> Failure {
    Failure::from(error).context(format!("cannot write `{}`", path.display()))
}

/// JSON, SVG, Markdown, TOML: a line that is folded would be another one.
fn is_for_programs(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let is_setting = first.split_once(" = ").is_some_and(|(key, _)| {
        key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    });
    first.starts_with(['{', '[', '<', '#']) || first == "---" || is_setting
}

fn write_stdout(bytes: &[u8], is_prose: impl Fn(&str) -> bool) -> Result<()> {
    let width = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let prose = std::str::from_utf8(bytes).ok().filter(|text| is_prose(text));
    let folded = width.zip(prose).map(|(width, text)| folded(text, width));
    let bytes = folded.as_ref().map_or(bytes, String::as_bytes);
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader (`head`, a pager) has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

#[cfg(test)]
mod tests {
    use super::is_for_programs;

    #[test]
    fn what_programs_read_is_not_folded() {
        for text in
            ["{\n", "<svg", "# A draft", "---\nlibrary_name: murmur", "name = \"run\"\nnodes = 8", "[schema]"]
        {
            assert!(is_for_programs(text), "{text}");
        }
        for text in [
            "run   runs/run",
            "Whatever any node saw",
            "\u{3c3} = 14 for \u{3b5} = 1",
            "with it  \u{3b5} = 1",
            "",
        ] {
            assert!(!is_for_programs(text), "{text}");
        }
    }
}
