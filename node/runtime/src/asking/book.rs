//! What a node told in answers: a line is durable before the first word of an answer leaves.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use protocol::Hint;
use protocol::work::question::Ask;
use serde::{Deserialize, Serialize};

use crate::identity::owner_only;

/// Name of the book in the folder of a node.
const FILE: &str = "questions.jsonl";

/// One question to which this node contributed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the question.
    pub id: String,
    /// Text and public numbers, as they were sent.
    pub ask: String,
    /// ε of it.
    pub epsilon: f64,
    /// δ of it.
    pub delta: f64,
    /// Whether it is ε-differentially private, and no Gaussian.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pure: bool,
    /// Who asked.
    pub asker: String,
    /// SHA-256 of the records that it was answered from.
    pub data: String,
    /// Run and roster.
    pub roster: String,
    /// When, in seconds since 1970.
    pub at: u64,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The totals one behind the other, as the members hold them.
    Answered(Vec<f32>),
    /// Nothing, and why. It is charged.
    Broken(String),
}

impl Entry {
    /// Whether it is an answer to the same words on the same records among the same members.
    pub fn is_same(&self, ask: &str, data: &str, roster: &str) -> bool {
        self.ask == ask && self.data == data && self.roster == roster
    }

    /// The total, where there is one.
    pub fn model(&self) -> Option<&[f32]> {
        match &self.outcome {
            Some(Outcome::Answered(model)) => Some(model),
            Some(Outcome::Broken(_)) | None => None,
        }
    }

    /// What was asked.
    pub fn asked(&self) -> Option<Ask> {
        serde_json::from_str(&self.ask).ok()
    }
}

/// The book of a node.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
}

/// Why there is no book.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The disk.
    #[error("cannot use the book of questions `{}`", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line that cannot be read: what it told of is not known, and not free.
    #[error("line {line} of the book of questions `{}` cannot be read", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
}

impl Hint for BookError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::File { .. } => None,
            Self::Damaged { .. } => Some("repair the line by hand: what it tells of was spent".into()),
        }
    }
}

impl Book {
    /// The book in the folder of a node.
    ///
    /// # Errors
    /// A file that cannot be read or written, or a line that cannot be understood.
    pub fn open(state: &Path) -> Result<Self, BookError> {
        let path = state.join(FILE);
        let failed = |source| BookError::File { path: path.clone(), source };
        let mut file = owner_only().create(true).read(true).append(true).open(&path).map_err(failed)?;
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text)).map_err(failed)?;
        // A last line without its end was cut by a crash: nothing that it tells of was sent.
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(failed)?;
        let entries = read(&path, &text[..whole])?;
        Ok(Self { path, file, entries })
    }

    /// All that was told, whatever came of it.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether this question was contributed to.
    pub fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }

    /// Puts a question down, or what came of it.
    ///
    /// # Guarantee
    /// It is on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&mut self, entry: Entry) -> Result<(), BookError> {
        let failed = |source| BookError::File { path: self.path.clone(), source };
        let mut line = serde_json::to_string(&entry).map_err(|error| failed(io::Error::other(error)))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_all()).map_err(failed)?;
        keep(&mut self.entries, entry);
        Ok(())
    }
}

/// The last word about a question counts.
fn keep(entries: &mut Vec<Entry>, next: Entry) {
    match entries.iter_mut().find(|known| known.id == next.id) {
        Some(known) => *known = next,
        None => entries.push(next),
    }
}

fn read(path: &Path, text: &str) -> Result<Vec<Entry>, BookError> {
    let mut entries = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry = serde_json::from_str(line)
            .map_err(|_| BookError::Damaged { path: path.to_owned(), line: at + 1 })?;
        keep(&mut entries, entry);
    }
    Ok(entries)
}

/// What a node told by the book in its folder, for those who only look; nothing where there is none.
///
/// # Errors
/// As [`Book::open`].
pub fn look(state: &Path) -> Result<Vec<Entry>, BookError> {
    let path = state.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => read(&path, &text[..text.rfind('\n').map_or(0, |at| at + 1)]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(BookError::File { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, outcome: Option<Outcome>) -> Entry {
        Entry { id: id.into(), epsilon: 1.0, delta: 1e-5, outcome, ..Entry::default() }
    }

    #[test]
    fn what_was_put_down_is_there_again_and_the_last_word_about_a_question_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        book.put(entry("a", None)).unwrap();
        book.put(entry("b", None)).unwrap();
        book.put(entry("a", Some(Outcome::Answered(vec![-1.5])))).unwrap();
        drop(book);
        let book = Book::open(folder.path()).unwrap();
        assert_eq!(book.entries().len(), 2);
        assert_eq!(book.entries()[0].model(), Some(&[-1.5][..]));
        assert!(book.has("b") && !book.has("c") && book.entries()[1].model().is_none());
        assert_eq!(look(folder.path()).unwrap(), book.entries());
    }

    #[test]
    fn a_line_that_a_crash_cut_is_left_out_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        book.put(entry("a", None)).unwrap();
        let path = folder.path().join(FILE);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"id\":\"b")).unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        book.put(entry("c", None)).unwrap();
        let ids: Vec<_> = Book::open(folder.path()).unwrap().entries().iter().map(|e| e.id.clone()).collect();
        assert_eq!(ids, ["a", "c"]);
        std::fs::write(&path, format!("{{\"id\":\n{whole}")).unwrap();
        assert!(matches!(Book::open(folder.path()), Err(BookError::Damaged { line: 1, .. })));
    }
}
