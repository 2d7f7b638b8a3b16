//! What a node must not forget: its records, its roster, and where it stood.
//!
//! Invariant: [`Ledger::record`] returns only after the record is on disk, so a node that sends after it returned can crash at any moment and never
//! under-count. A snapshot need not be on disk at once: what came after it is charged in full. So it goes there with the next record: of two commits in a
//! round one was for the snapshot alone.

mod peek;

pub use peek::{Peeked, peek};

use std::path::{Path, PathBuf};

use protocol::{Acceptor, Digest, PeerIx, Record, Snapshot, Values};
use redb::{Builder, Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};

use crate::identity::Roster;

/// Name of the file in the folder of a node.
pub const FILE: &str = "ledger.redb";

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");
const SNAPSHOT: TableDefinition<&str, &[u8]> = TableDefinition::new("snapshot");

/// Pages of the file that are kept in memory. redb's default of a gibibyte is for databases; ours has a model and a list.
const CACHE: usize = 1 << 20;

/// The durable state of one node in one run.
pub struct Ledger {
    database: Database,
    path: PathBuf,
    /// In what the budget's rules count, kept with every snapshot.
    units: Vec<String>,
    /// Whether noise is seeded.
    seeded: bool,
}

/// Whose ledger it is: another run or another node must not write into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The node's identity.
    pub identity: String,
    /// The run: its name and the digest of its configuration.
    pub run: String,
}

/// What was found on opening.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The members, if the run had begun.
    pub begun: Option<Begun>,
    /// Number of records.
    pub records: u64,
    /// The last snapshot.
    pub snapshot: Option<Snapshot>,
    /// In what the spendings in the snapshot are counted, rule by rule.
    pub units: Vec<String>,
    /// Whether the run was over for this node.
    pub finished: bool,
    /// Whether the run began with seeded noise. `false` where nothing says so: then records count as private.
    pub seeded: bool,
}

impl Found {
    /// Forgets spendings in other units than these, so that they are charged anew and in full: a node's own limit may change between two starts.
    pub(crate) fn keep_units(&mut self, units: &[String]) {
        let Some(snapshot) = &mut self.snapshot else { return };
        for (at, spent) in snapshot.spent.iter_mut().enumerate() {
            if self.units.get(at) != units.get(at) {
                spent.clear();
            }
        }
    }
}

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Who takes part.
    pub roster: Roster,
    /// When, in microseconds since 1970, by this node's clock.
    pub at: u64,
}

/// Why the ledger cannot be used. The node must stop: what is not recorded must not be sent.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process has it open.
    #[error("another process uses the state in `{}`", path.display())]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// It is that of another run or node.
    #[error("the state in `{}` belongs to {theirs}, not to {ours}", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        theirs: String,
        /// Who opened it.
        ours: String,
    },
    /// The file cannot be read or written: a full disk, a read-only folder, a damaged file.
    #[error("cannot {doing} `{}`: nothing more will be sent", path.display())]
    Storage {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<redb::Error>,
    },
    /// What is in it makes no sense.
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What.
        what: String,
    },
}

impl LedgerError {
    /// What to try.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::InUse { .. } => {
                "two nodes cannot share one state: give the second its own folder with `--state DIR`".into()
            }
            Self::Foreign { .. } => "choose another folder with `--state DIR`".into(),
            Self::Storage { .. } => {
                "make room or give write access, then start the node again: it goes on where it was".into()
            }
            Self::Damaged { .. } => {
                "what was spent is in this file: do not reuse its identity without it".into()
            }
        })
    }
}

impl Ledger {
    /// Opens the ledger in a folder, made at the first call, and reads what is in it.
    ///
    /// # Errors
    /// As [`LedgerError`] says.
    pub fn open(folder: &Path, owner: &Owner) -> Result<(Self, Found), LedgerError> {
        let path = folder.join(FILE);
        let database = Builder::new().set_cache_size(CACHE).create(&path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => LedgerError::InUse { path: path.clone() },
            other => {
                LedgerError::Storage { doing: "open", path: path.clone(), source: Box::new(other.into()) }
            }
        })?;
        let ledger = Self { database, path, units: Vec::new(), seeded: false };
        ledger.claim(owner)?;
        let found = ledger.found()?;
        Ok((ledger, found))
    }

    /// Says in what the budget's rules count.
    #[must_use]
    pub fn with_units(mut self, units: Vec<String>) -> Self {
        self.units = units;
        self
    }

    /// Says that noise is seeded, which the beginning of a run keeps.
    #[must_use]
    pub fn with_seeded_noise(mut self, seeded: bool) -> Self {
        self.seeded = seeded;
        self
    }

    /// Writes the owner into a new ledger, compares it with that of an old one.
    fn claim(&self, owner: &Owner) -> Result<(), LedgerError> {
        let ours = format!("node {} in run {}", owner.identity, owner.run);
        let theirs = self.write(|transaction| {
            let mut meta = transaction.open_table(META)?;
            transaction.open_table(RECORDS)?;
            transaction.open_table(SNAPSHOT)?;
            if let Some(owner) = meta.get("owner")? {
                return Ok(Some(String::from_utf8_lossy(owner.value()).into_owned()));
            }
            meta.insert("owner", ours.as_bytes())?;
            Ok(None)
        })?;
        match theirs {
            Some(theirs) if theirs != ours => {
                Err(LedgerError::Foreign { path: self.path.clone(), theirs, ours })
            }
            _ => Ok(()),
        }
    }

    /// Makes a record durable, and in the same commit the last snapshot of what came before it, if there is a new one. A record that is there
    /// already stays.
    ///
    /// # Errors
    /// When it could not be made durable; then it must not be sent.
    pub fn record(&self, record: &Record, before: Option<&Snapshot>) -> Result<(), LedgerError> {
        let text = serde_json::to_vec(record).map_err(|error| self.damaged(error.to_string()))?;
        let before = before.map(|snapshot| self.stored(snapshot)).transpose()?;
        self.write(|transaction| {
            transaction.open_table(RECORDS)?.insert(record.id, text.as_slice())?;
            before.map_or(Ok(()), |snapshot| snapshot.insert(transaction))
        })
    }

    /// Keeps a snapshot durably: where it holds a promise that is about to be given, and at the end.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, snapshot: &Snapshot) -> Result<(), LedgerError> {
        let snapshot = self.stored(snapshot)?;
        self.write(|transaction| snapshot.insert(transaction))
    }

    fn stored(&self, snapshot: &Snapshot) -> Result<StoredSnapshot, LedgerError> {
        let header = serde_json::to_vec(&SnapshotHeader::of(snapshot))
            .map_err(|error| self.damaged(error.to_string()))?;
        let model = snapshot.model.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(StoredSnapshot { units: self.units.join("\n"), header, model })
    }

    /// Remembers with whom the run began, durably.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(&self, begun: &Begun) -> Result<(), LedgerError> {
        let stored = StoredBegun { roster: begun.roster.to_bytes(), at: begun.at };
        let text = serde_json::to_vec(&stored).map_err(|error| self.damaged(error.to_string()))?;
        self.write(|transaction| {
            let mut meta = transaction.open_table(META)?;
            meta.insert("begun", text.as_slice())?;
            if self.seeded {
                meta.insert("seeded", [].as_slice())?;
            }
            Ok(())
        })
    }

    /// Remembers that the run is over for this node, with its last snapshot if there is a new one, durably.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(&self, last: Option<&Snapshot>) -> Result<(), LedgerError> {
        let last = last.map(|snapshot| self.stored(snapshot)).transpose()?;
        self.write(|transaction| {
            transaction.open_table(META)?.insert("finished", [].as_slice())?;
            last.map_or(Ok(()), |snapshot| snapshot.insert(transaction))
        })
    }

    /// All records, in order.
    ///
    /// # Errors
    /// A file that cannot be read, or is damaged.
    pub fn records(&self) -> Result<Vec<Record>, LedgerError> {
        let texts = self.read(|transaction| {
            let table = transaction.open_table(RECORDS)?;
            table.iter()?.map(|entry| Ok(entry?.1.value().to_vec())).collect::<Result<Vec<_>, redb::Error>>()
        })?;
        texts
            .iter()
            .map(|text| serde_json::from_slice(text).map_err(|error| self.damaged(error.to_string())))
            .collect()
    }

    fn found(&self) -> Result<Found, LedgerError> {
        let (last, begun, (finished, seeded), units, (header, model)) = self.read(|transaction| {
            let last = transaction.open_table(RECORDS)?.last()?.map(|(id, _)| id.value());
            let meta = transaction.open_table(META)?;
            let saved = transaction.open_table(SNAPSHOT)?;
            let bytes =
                |entry: Option<redb::AccessGuard<'_, &[u8]>>| entry.map(|bytes| bytes.value().to_vec());
            let flags = (meta.get("finished")?.is_some(), meta.get("seeded")?.is_some());
            let begun = bytes(meta.get("begun")?);
            let units = bytes(saved.get("units")?);
            let snapshot = (bytes(saved.get("header")?), bytes(saved.get("model")?));
            Ok((last, begun, flags, units, snapshot))
        })?;
        let begun = begun.map(|text| self.parse_begun(&text)).transpose()?;
        let snapshot = match (header, model) {
            (Some(header), Some(model)) => Some(self.parse_snapshot(&header, &model)?),
            _ => None,
        };
        let units = String::from_utf8_lossy(&units.unwrap_or_default()).lines().map(str::to_owned).collect();
        Ok(Found { begun, records: last.map_or(0, |id| id + 1), snapshot, units, finished, seeded })
    }

    fn parse_begun(&self, text: &[u8]) -> Result<Begun, LedgerError> {
        let stored: StoredBegun =
            serde_json::from_slice(text).map_err(|error| self.damaged(error.to_string()))?;
        let roster = Roster::from_bytes(&stored.roster).ok_or_else(|| self.damaged("no roster".into()))?;
        Ok(Begun { roster, at: stored.at })
    }

    fn parse_snapshot(&self, header: &[u8], model: &[u8]) -> Result<Snapshot, LedgerError> {
        let header: SnapshotHeader =
            serde_json::from_slice(header).map_err(|error| self.damaged(error.to_string()))?;
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let model: Vec<f32> = model.chunks_exact(4).map(number).collect();
        if Digest::of(&model) != header.digest {
            return Err(self.damaged("the model is not the one that was saved".into()));
        }
        Ok(header.with(model))
    }

    fn damaged(&self, what: String) -> LedgerError {
        LedgerError::Damaged { path: self.path.clone(), what }
    }

    /// One durable commit.
    fn write<T>(
        &self,
        change: impl FnOnce(&redb::WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, LedgerError> {
        let attempt = || {
            let mut transaction = self.database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        attempt().map_err(|source: redb::Error| self.storage("write", source))
    }

    fn read<T>(
        &self,
        look: impl FnOnce(&redb::ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, LedgerError> {
        let attempt = || look(&self.database.begin_read()?);
        attempt().map_err(|source: redb::Error| self.storage("read", source))
    }

    fn storage(&self, doing: &'static str, source: redb::Error) -> LedgerError {
        LedgerError::Storage { doing, path: self.path.clone(), source: Box::new(source) }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredBegun {
    roster: Vec<Vec<u8>>,
    at: u64,
}

/// A [`Snapshot`] as it is kept.
struct StoredSnapshot {
    units: String,
    header: Vec<u8>,
    model: Vec<u8>,
}

impl StoredSnapshot {
    fn insert(&self, transaction: &redb::WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(SNAPSHOT)?;
        table.insert("units", self.units.as_bytes())?;
        table.insert("header", self.header.as_slice())?;
        table.insert("model", self.model.as_slice())?;
        Ok(())
    }
}

/// A [`Snapshot`] without its model. What was spent is kept as bits, so that no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
struct SnapshotHeader {
    epoch: u32,
    members: Vec<PeerIx>,
    round: u32,
    version: u32,
    records: u64,
    spent: Vec<Vec<u64>>,
    acceptor: Option<Acceptor>,
    digest: Digest,
}

impl SnapshotHeader {
    fn of(snapshot: &Snapshot) -> Self {
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect();
        Self {
            epoch: snapshot.epoch,
            members: snapshot.members.clone(),
            round: snapshot.round,
            version: snapshot.version,
            records: snapshot.records,
            spent: snapshot.spent.iter().map(bits).collect(),
            acceptor: snapshot.acceptor.clone(),
            digest: Digest::of(snapshot.model.as_slice()),
        }
    }

    fn with(self, model: Vec<f32>) -> Snapshot {
        let values = |row: Vec<u64>| row.into_iter().map(f64::from_bits).collect();
        Snapshot {
            epoch: self.epoch,
            members: self.members,
            round: self.round,
            version: self.version,
            // It was sent before, or follows from what was.
            model: Values::from_wire(model),
            records: self.records,
            spent: self.spent.into_iter().map(values).collect(),
            acceptor: self.acceptor,
        }
    }
}

#[cfg(test)]
mod tests;
