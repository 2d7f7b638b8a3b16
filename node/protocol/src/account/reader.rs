//! Log files, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Account, FoldError, Shape};
use crate::event::LogLine;

/// A log that cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No such file, or no permission, or a broken disk.
    #[error("the run log `{}` cannot be read", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that is no event.
    #[error("line {line} of `{}` is no event of a run", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// Numbers that are no run.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl ReadError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File { .. } => Some("give the folder of a run, which holds `log.jsonl`"),
            Self::Line { .. } => Some(
                "a last line that was cut off by a crash may be removed; any other damage makes the account incomplete",
            ),
            Self::Fold(_) => None,
        }
    }
}

/// Calls `each` with every line of a log; empty lines are skipped.
///
/// # Errors
/// A file that cannot be read, or a line that is no event: a log with a hole is not priced as if it had none.
pub fn read_lines(path: &Path, mut each: impl FnMut(LogLine)) -> Result<(), ReadError> {
    let failed = |source| ReadError::File { path: path.to_owned(), source };
    let file = BufReader::new(File::open(path).map_err(failed)?);
    for (at, text) in file.lines().enumerate() {
        let text = text.map_err(failed)?;
        if !text.trim().is_empty() {
            let wrong = |source| ReadError::Line { path: path.to_owned(), line: at + 1, source };
            each(serde_json::from_str(&text).map_err(wrong)?);
        }
    }
    Ok(())
}

impl Account {
    /// The account of a run that is over, from its log.
    ///
    /// # Guarantee
    /// That of the account, for the run that the log tells of.
    ///
    /// # Assumes
    /// As the account; the log is whole.
    ///
    /// # Errors
    /// As [`read_lines`] and [`Account::new`].
    pub fn read(path: &Path, shape: Shape) -> Result<Self, ReadError> {
        let mut account = Self::new(shape)?;
        read_lines(path, |line| account.push(&line))?;
        account.settle_final();
        Ok(account)
    }
}
