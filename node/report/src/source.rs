//! A run as it lies on disk: the log of all, or of one node, with the ledgers beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use protocol::account::ReadError;
use protocol::config::{Config, ConfigError};
use protocol::{LogLine, Record, RunEvent};
use thiserror::Error;

use crate::order::by_round;

/// Name of the log in a folder.
const LOG: &str = "log.jsonl";

/// What a node's ledger says: every contribution that may have left it.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The records.
    pub records: Vec<Record>,
    /// The identities of all members, by position, where the run had begun.
    pub members: Vec<String>,
}

/// A run that was read.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) config: Config,
    pub(crate) first: RunEvent,
    pub(crate) lines: Vec<LogLine>,
    pub(crate) ledgers: BTreeMap<usize, Ledger>,
    pub(crate) metrics: Option<String>,
    /// Lines that a crash cut short.
    pub(crate) damaged: usize,
}

/// Why a run cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Neither a log nor a folder with one.
    #[error("`{}` is no run: it has no `{LOG}`", path.display())]
    NoRun {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A log that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A folder that cannot be listed.
    #[error("cannot list `{}`", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No line says what was run.
    #[error("the log has no first line that describes the run")]
    NoFirstLine,
    /// Logs of different runs in one folder.
    #[error("logs of different runs: configuration {one} and {other}")]
    TwoRuns {
        /// One digest.
        one: String,
        /// Another.
        other: String,
    },
    /// A configuration that this version does not read.
    #[error("the configuration in the log cannot be read")]
    Config(#[from] ConfigError),
}

impl SourceError {
    /// What the user could do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRun { .. } => Some(
                "give the folder of a run (`runs/NAME`), the state folder of a node, or a `log.jsonl`".into(),
            ),
            Self::Read(error) => error.hint().map(str::to_owned),
            Self::NoFirstLine => {
                Some("the run may have ended before it began; look at the node's messages".into())
            }
            Self::TwoRuns { .. } => Some("give each run a folder of its own".into()),
            Self::Config(_) => Some("the run was made by another version; report it with that one".into()),
            Self::Folder { .. } => None,
        }
    }
}

impl Source {
    /// Reads a run: the folder of a run, the state folder of a node, or a log file.
    ///
    /// # Errors
    /// As [`SourceError`] says.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let logs = logs_of(path)?;
        let (mut all, mut damaged) = (Vec::new(), 0);
        for log in &logs {
            let (lines, cut) = read(log)?;
            damaged += cut;
            all.extend(lines);
        }
        if logs.len() > 1 {
            all.sort_by_key(|line: &LogLine| (line.node.is_some(), line.time, line.node));
            all = by_round(all);
        }
        let mut source = Self::of_lines(all)?;
        source.damaged = damaged;
        source.metrics = std::fs::read_to_string(path.join("metrics.csv")).ok();
        Ok(source)
    }

    /// A run from its lines, those of one node in their order.
    ///
    /// # Errors
    /// No first line, or several that differ; a configuration that cannot be read.
    pub fn of_lines(lines: Vec<LogLine>) -> Result<Self, SourceError> {
        let mut firsts = lines.iter().filter_map(|line| match &line.event {
            first @ RunEvent::Run { config_digest, .. } => Some((first, config_digest)),
            _ => None,
        });
        let (first, digest) = firsts.next().ok_or(SourceError::NoFirstLine)?;
        if let Some((_, other)) = firsts.find(|(_, other)| *other != digest) {
            return Err(SourceError::TwoRuns { one: digest.clone(), other: other.clone() });
        }
        let RunEvent::Run { config, .. } = first else { return Err(SourceError::NoFirstLine) };
        let config = Config::from_toml(config, "the configuration in the log")?;
        let first = first.clone();
        Ok(Self { config, first, lines, ledgers: BTreeMap::new(), metrics: None, damaged: 0 })
    }

    /// The folders in which a ledger may lie, with the position of the node where the folder's name says it.
    pub fn ledger_folders(path: &Path) -> Vec<(Option<usize>, PathBuf)> {
        let mut folders: Vec<(Option<usize>, PathBuf)> = node_folders(path)
            .into_iter()
            .map(|folder| (folder.file_name().and_then(|name| name.to_str()?.parse().ok()), folder))
            .collect();
        if folders.is_empty() {
            folders.push((None, path.to_owned()));
        }
        folders
    }

    /// Adds a node's ledger; without a position it is that of the only node whose lines the log has.
    pub fn add_ledger(&mut self, node: Option<usize>, ledger: Ledger) {
        let told = self.told();
        let only = || told.first().copied().filter(|_| told.len() == 1);
        if let Some(node) = node.or_else(only).filter(|&node| node < self.config.nodes) {
            self.ledgers.insert(node, ledger);
        }
    }

    /// The configuration of the run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Nodes whose lines the log has.
    pub(crate) fn told(&self) -> BTreeSet<usize> {
        let nodes = self.lines.iter().filter_map(|line| line.node.map(|node| node as usize));
        nodes.filter(|&node| node < self.config.nodes).collect()
    }

    /// Who ran it.
    pub(crate) fn driver(&self) -> &str {
        match &self.first {
            RunEvent::Run { driver, .. } => driver,
            _ => "",
        }
    }
}

fn logs_of(path: &Path) -> Result<Vec<PathBuf>, SourceError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let log = path.join(LOG);
    if log.is_file() {
        return Ok(vec![log]);
    }
    let logs: Vec<PathBuf> =
        node_folders(path).into_iter().map(|folder| folder.join(LOG)).filter(|log| log.is_file()).collect();
    if logs.is_empty() { Err(SourceError::NoRun { path: path.to_owned() }) } else { Ok(logs) }
}

/// `nodes/0`, `nodes/1`, … in the order of their numbers.
fn node_folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path.join("nodes")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<usize>().ok());
    folders.sort_by_key(|path| (number(path).is_none(), number(path), path.clone()));
    folders
}

/// The lines of a log. One that a crash cut short is left out and counted: a line is whole before
/// what it tells of is sent, so that was never sent; and what was received needs no line, for what was sent counts as seen.
fn read(path: &Path) -> Result<(Vec<LogLine>, usize), SourceError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ReadError::File { path: path.to_owned(), source })?;
    let (mut lines, mut damaged) = (Vec::new(), 0);
    for (at, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        match serde_json::from_str(text) {
            Ok(line) => lines.push(line),
            Err(error) if error.is_eof() => damaged += 1,
            Err(source) => return Err(ReadError::Line { path: path.to_owned(), line: at + 1, source }.into()),
        }
    }
    Ok((lines, damaged))
}
