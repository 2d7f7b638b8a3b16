//! A run as it lies on disk: the log of all, or of one node, with the ledgers beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use learn::personal::Figures;
use protocol::account::Shape;
use protocol::config::{Config, ConfigError};
use protocol::folder::{self, LOG};
use protocol::log::{Log, ReadError, Renewed};
use protocol::{LogLine, Record, RunEvent, SetupError};
use thiserror::Error;
use topology::Hint;

use crate::lost::{self, LostLines};
use crate::own;

/// What a node's ledger says: every contribution that may have left it.
#[derive(Debug, Clone, Default)]
pub struct LedgerCopy {
    /// The records.
    pub records: Vec<Record>,
    /// The identities of all members, by position, where the run had begun.
    pub members: Vec<String>,
    /// How many of the records stand for contributions that an old copy of the node's folder had forgotten.
    pub forgotten: u64,
}

/// A run that was read.
#[derive(Debug, Clone)]
pub struct Source {
    /// With as many nodes as there were places at last.
    pub(crate) config: Config,
    /// Nodes as it was founded, which names the run.
    founders: usize,
    pub(crate) first: RunEvent,
    pub(crate) lines: Vec<LogLine>,
    pub(crate) ledgers: BTreeMap<usize, LedgerCopy>,
    pub(crate) metrics: Option<String>,
    /// How good models of nodes' own are, as they wrote it.
    pub(crate) own: BTreeMap<usize, Figures>,
    /// Lines that could not be read.
    pub(crate) lost: Vec<LostLines>,
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
    #[error("the log has no first line that describes the run{}", unread(*.lost))]
    NoFirstLine {
        /// Lines that could not be read.
        lost: usize,
    },
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

impl Hint for SourceError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRun { .. } => Some(
                "give the folder of a run (`runs/NAME`), the state folder of a node, or a `log.jsonl`".into(),
            ),
            Self::Read(error) => error.hint(),
            Self::NoFirstLine { lost: 0 } => {
                Some("the run may have ended before it began; look at the node's messages".into())
            }
            Self::NoFirstLine { .. } => Some(
                "the logs of the other nodes hold the same line: give the folder of the whole swarm, or one of theirs"
                    .into(),
            ),
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
        let logs = logs_of(path)?.iter().map(|log| Log::open(log)).collect::<Result<Vec<_>, _>>()?;
        let mut source = Self::of_logs(logs)?;
        source.metrics = std::fs::read_to_string(path.join(folder::METRICS)).ok();
        for (node, state) in Self::ledger_folders(path) {
            let found = source.place(node).zip(own::read(&state));
            source.own.extend(found);
        }
        Ok(source)
    }

    /// A run from the bytes of its log, whatever became of them.
    ///
    /// # Errors
    /// As [`of_lines`](Self::of_lines).
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, SourceError> {
        Self::of_logs(vec![Log::of_bytes(bytes)])
    }

    /// A run from its lines, those of one node in their order.
    ///
    /// # Errors
    /// No first line, or several that differ; a configuration that cannot be read.
    pub fn of_lines(lines: Vec<LogLine>) -> Result<Self, SourceError> {
        Self::of_logs(vec![Log { lines, lost: Vec::new() }])
    }

    fn of_logs(logs: Vec<Log>) -> Result<Self, SourceError> {
        let mut lost: Vec<LostLines> = logs.iter().flat_map(lost::of_log).collect();
        let lines = Log::of_several(logs).lines;
        lost.extend(lost::told_of(&lines));
        let mut firsts = lines.iter().filter_map(|line| match &line.event {
            first @ RunEvent::Run { config, config_digest, .. } => Some((first, config, config_digest)),
            _ => None,
        });
        let none = SourceError::NoFirstLine { lost: lost.len() };
        let (first, config, digest) = firsts.next().ok_or(none)?;
        if let Some((.., other)) = firsts.find(|(.., other)| *other != digest) {
            return Err(SourceError::TwoRuns { one: digest.clone(), other: other.clone() });
        }
        let mut config = Config::from_toml(config, "the configuration in the log")?;
        let first = first.clone();
        let founders = config.nodes;
        config.nodes = renewals(&lines).map(|renewed| renewed.nodes as usize).fold(founders, usize::max);
        Ok(Self {
            config,
            founders,
            first,
            lines,
            ledgers: BTreeMap::new(),
            metrics: None,
            own: BTreeMap::new(),
            lost,
        })
    }

    /// The folders in which a ledger may lie, with the position of the node where the folder's name says it.
    pub fn ledger_folders(path: &Path) -> Vec<(Option<usize>, PathBuf)> {
        let mut folders = folder::nodes(path);
        if folders.is_empty() {
            folders.push((None, path.to_owned()));
        }
        folders
    }

    /// Adds a node's ledger; without a position it is that of the only node whose lines the log has.
    pub fn add_ledger(&mut self, node: Option<usize>, ledger: LedgerCopy) {
        if let Some(node) = self.place(node) {
            self.ledgers.insert(node, ledger);
        }
    }

    /// The node whose folder this is: by the folder's name, or the only one whose lines the log has.
    fn place(&self, named: Option<usize>) -> Option<usize> {
        let told = self.told();
        let only = || told.first().copied().filter(|_| told.len() == 1);
        named.or_else(only).filter(|&node| node < self.config.nodes)
    }

    /// The run as an account sees it: as it was founded, with the places of those who joined.
    pub(crate) fn shape(&self) -> Result<Shape, SetupError> {
        let founded = Config { nodes: self.founders, ..self.config.clone() };
        let rounds = renewals(&self.lines).filter_map(|renewed| renewed.rounds).max().unwrap_or(0);
        Ok(Shape::of_logged(&founded, &self.first)?.renewed(self.config.nodes, rounds))
    }

    /// What the members renewed on the way, once each, in order.
    pub(crate) fn renewals(&self) -> Vec<&Renewed> {
        let mut all: BTreeMap<u32, &Renewed> = BTreeMap::new();
        for renewed in renewals(&self.lines) {
            all.entry(renewed.number).or_insert(renewed);
        }
        all.into_values().collect()
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

fn renewals(lines: &[LogLine]) -> impl Iterator<Item = &Renewed> {
    lines.iter().filter_map(|line| match &line.event {
        RunEvent::Renewed(renewed) => Some(renewed.as_ref()),
        _ => None,
    })
}

fn logs_of(path: &Path) -> Result<Vec<PathBuf>, SourceError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let log = path.join(LOG);
    if log.is_file() {
        return Ok(vec![log]);
    }
    let logs = folder::nodes(path).into_iter().map(|(_, folder)| folder.join(LOG));
    let logs: Vec<PathBuf> = logs.filter(|log| log.is_file()).collect();
    if logs.is_empty() { Err(SourceError::NoRun { path: path.to_owned() }) } else { Ok(logs) }
}

fn unread(lost: usize) -> String {
    if lost == 0 { String::new() } else { format!("; {lost} of its lines could not be read") }
}
