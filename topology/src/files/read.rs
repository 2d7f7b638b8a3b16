//! Reads lists of edges: SNAP's, networkx's, Matrix Market's, comma-separated tables, plain or gzip.
//!
//! A line is two names separated by white space, commas or semicolons; numbers after them (weights, times) are
//! ignored. `#` and `%` begin comments. A first line with a single number states how many nodes there are, and then
//! names are numbers below it. A first line of two words above nothing but numbers is a heading. Nothing in a file
//! makes this panic.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::FileError;
use super::lines::{Line, Tail, number, split};
use super::names::Names;
use crate::graph::{Dropped, Graph, MAX_EDGES, MAX_NODES};

/// Characters of a bad line that an error shows.
const SHOWN: usize = 80;

/// Reads the graph in `path`; gzip is recognised by content. Self-loops and repetitions are dropped and counted;
/// the graph may have several components.
///
/// Complexity: O(bytes + nodes + edges), and O(log nodes) per name where names are not compact numbers.
///
/// # Errors
/// A file that cannot be read, a line that is not an edge, no edges at all, or more than a graph may have.
pub fn read_edges(path: &Path) -> Result<(Graph, Dropped), FileError> {
    let name = path.display().to_string();
    let cannot_read = |source| FileError::Read { path: name.clone(), source };
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(cannot_read)?);
    let is_gzip = file.fill_buf().map_err(cannot_read)?.starts_with(&[0x1f, 0x8b]);
    if is_gzip {
        parse_edges(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)), &name)
    } else {
        parse_edges(file, &name)
    }
}

/// The same from any source; `name` stands for it in errors.
///
/// # Errors
/// As [`read_edges`].
pub fn parse_edges(source: impl Read, name: &str) -> Result<(Graph, Dropped), FileError> {
    let mut reader = Reader { path: name, ..Reader::new() };
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = source.read_until(b'\n', &mut line);
        let count = read.map_err(|source| FileError::Read { path: name.to_owned(), source })?;
        if count == 0 {
            return reader.finish();
        }
        reader.line += 1;
        reader.take(&line)?;
    }
}

/// What has been read so far.
struct Reader<'a> {
    path: &'a str,
    line: usize,
    stated_nodes: Option<usize>,
    is_matrix_market: bool,
    /// The first line, while it may still be a heading.
    heading: Option<(usize, String)>,
    names: Names,
}

impl<'a> Reader<'a> {
    fn new() -> Self {
        let (path, line, stated_nodes, is_matrix_market) = ("", 0, None, false);
        let names = Names::Numbers(Vec::new());
        Reader { path, line, stated_nodes, is_matrix_market, heading: None, names }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(self.malformed(&String::from_utf8_lossy(bytes), "not text in UTF-8"));
        };
        let text = if self.line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if self.line == 1 && text.starts_with("%%MatrixMarket") {
            self.is_matrix_market = true;
        }
        match split(text) {
            Line::Blank => Ok(()),
            Line::Single(word) => self.take_single(word, text),
            // Matrix Market's first line that is no comment holds rows, columns and entries.
            Line::Pair(..) if std::mem::take(&mut self.is_matrix_market) => Ok(()),
            Line::Pair(u, v, tail) => self.take_pair((u, v), tail, text),
        }
    }

    fn take_single(&mut self, word: &str, text: &str) -> Result<(), FileError> {
        let is_first = self.names.is_empty() && self.heading.is_none() && self.stated_nodes.is_none();
        match number(word) {
            Some(nodes) if is_first => {
                if nodes == 0 || nodes > MAX_NODES as u64 {
                    let why = format!("the number of nodes lies between 1 and {MAX_NODES}");
                    return Err(self.malformed(text, why));
                }
                self.stated_nodes = Some(nodes as usize);
                Ok(())
            }
            _ => Err(self.malformed(text, "an edge needs two nodes")),
        }
    }

    fn take_pair(&mut self, (u, v): (&str, &str), tail: Tail, text: &str) -> Result<(), FileError> {
        let numbers = (number(u), number(v));
        if self.names.is_empty() && self.heading.is_none() && numbers == (None, None) {
            self.heading = Some((self.line, text.to_owned()));
            return Ok(());
        }
        self.add((u, v), tail, text)
    }

    fn add(&mut self, (u, v): (&str, &str), tail: Tail, text: &str) -> Result<(), FileError> {
        if u.is_empty() || v.is_empty() {
            return Err(self.malformed(text, "an edge needs two nodes"));
        }
        if tail == Tail::Words {
            return Err(self.malformed(text, "an edge is two nodes, followed by nothing but numbers"));
        }
        match (number(u), number(v)) {
            (Some(u), Some(v)) => self.check_stated(u.max(v), text)?,
            _ => self.check_words_allowed(text)?,
        }
        match (number(u), number(v), &mut self.names) {
            (Some(u), Some(v), Names::Numbers(edges)) => {
                if edges.len() >= MAX_EDGES {
                    return Err(self.malformed(text, format!("more than {MAX_EDGES} edges")));
                }
                edges.push((u, v));
                Ok(())
            }
            _ => {
                // A name that is no number: then what looked like a heading was an edge.
                self.release_heading()?;
                self.names.push_words(u, v);
                Ok(())
            }
        }
    }

    fn release_heading(&mut self) -> Result<(), FileError> {
        let Some((line, text)) = self.heading.take() else {
            return Ok(());
        };
        let now = std::mem::replace(&mut self.line, line);
        if let Line::Pair(u, v, tail) = split(&text) {
            let later = std::mem::replace(&mut self.names, Names::Numbers(Vec::new()));
            self.add((u, v), tail, &text)?;
            // The heading comes first, then what was read since.
            if let Names::Numbers(edges) = later {
                edges.into_iter().for_each(|(u, v)| self.names.push_words(&u.to_string(), &v.to_string()));
            }
        }
        self.line = now;
        Ok(())
    }

    fn check_stated(&self, largest: u64, text: &str) -> Result<(), FileError> {
        match self.stated_nodes {
            Some(nodes) if largest >= nodes as u64 => {
                let why = format!("the first line states {nodes} nodes, which are 0 to {}", nodes - 1);
                Err(self.malformed(text, why))
            }
            _ => Ok(()),
        }
    }

    fn check_words_allowed(&self, text: &str) -> Result<(), FileError> {
        match self.stated_nodes {
            Some(nodes) => {
                let why = format!("the first line states {nodes} nodes, so names are numbers from 0");
                Err(self.malformed(text, why))
            }
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<(Graph, Dropped), FileError> {
        if self.names.is_empty() {
            self.release_heading()?;
        }
        let path = self.path.to_owned();
        if self.names.is_empty() && self.stated_nodes != Some(1) {
            return Err(FileError::Empty { path });
        }
        let (nodes, edges, labels) = self.names.number(self.stated_nodes);
        let made = Graph::from_edges(nodes, &edges).and_then(|(graph, dropped)| match labels {
            Some(labels) => Ok((graph.with_labels(labels)?, dropped)),
            None => Ok((graph, dropped)),
        });
        made.map_err(|source| FileError::Graph { path, source })
    }

    fn malformed(&self, text: &str, why: impl Into<String>) -> FileError {
        let text = text.trim_end();
        let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if text.chars().count() > SHOWN {
            shown.push('…');
        }
        FileError::Malformed { path: self.path.to_owned(), line: self.line, text: shown, why: why.into() }
    }
}
