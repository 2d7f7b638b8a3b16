//! What a node must not forget: its records, its roster, and where it stood.
//!
//! Invariant: [`Ledger::record`] returns only after the record is on disk, so a node that sends after it returned can crash at any moment and never
//! under-count. A snapshot need not be on disk at once: what came after it is charged in full. So it goes there with the next record: of two commits in a
//! round one was for the snapshot alone.
//!
//! A ledger that is damaged is refused before anything is read from it ([`examine()`]); one that is older than what was sent is noticed by counts beside it.

mod backend;
mod begun;
mod count;
mod error;
mod examine;
mod forgotten;
mod peek;
mod seal;
mod stored;

pub use count::outside;
pub use error::LedgerError;
pub use examine::{Contents, examine};
pub use peek::{Checked, Peeked, Stand, check, peek, stand};

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use protocol::{Disk, Record, Snapshot, UNKNOWN_ROUND};
use redb::{Builder, Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};

use backend::{Backend, Refused};
use begun::StoredBegun;
pub use begun::{Begun, Part};
use count::Count;
use stored::{Places, StoredSnapshot};

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
    /// How many records there are: beside the file, and outside of the folder.
    counts: Mutex<Vec<Count>>,
    /// Which models are in the file.
    places: Mutex<Places>,
}

/// Whose ledger it is: another run or another node must not write into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The node's identity.
    pub identity: String,
    /// The run: its name and the digest of its configuration.
    pub run: String,
}

impl Owner {
    fn words(&self) -> String {
        format!("node {} in run {}", self.identity, self.run)
    }

    /// From its words.
    fn parse(words: &str) -> Option<Self> {
        let (identity, run) = words.strip_prefix("node ")?.split_once(" in run ")?;
        Some(Self { identity: identity.to_owned(), run: run.to_owned() })
    }
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
    /// Contributions that the state had forgotten when it was opened, and that are charged in full from now on.
    pub forgotten: u64,
    /// Of the records after the snapshot, those of which nothing is known: forgotten now, or at an earlier start.
    pub unknown: u64,
    /// Whether a count outside of the folder says that this is all.
    pub counted: bool,
}

impl Found {
    /// What is known of the disk.
    pub(crate) fn disk(&self) -> Disk {
        match (self.forgotten, self.counted) {
            (0, true) => Disk::Sure,
            (0, false) => Disk::Unsure,
            _ => Disk::Old,
        }
    }

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

impl Ledger {
    /// Opens the ledger in a folder, made at the first call, and reads what is in it.
    ///
    /// # Guarantee
    /// What was damaged in whatever way is refused, and nothing is read from it; so is a ledger with fewer records than were made in this folder.
    ///
    /// # Errors
    /// As [`LedgerError`] says.
    pub fn open(folder: &Path, owner: &Owner) -> Result<(Self, Found), LedgerError> {
        let path = folder.join(FILE);
        let (backend, bytes) = Backend::open(&path).map_err(|error| refused(&path, error))?;
        let contents = examine(bytes).map_err(|what| LedgerError::Damaged { path: path.clone(), what })?;
        let opened = Builder::new().set_cache_size(CACHE).create_with_backend(backend);
        let database = opened.map_err(|error| LedgerError::Storage {
            doing: "open",
            path: path.clone(),
            source: Box::new(error.into()),
        })?;
        let ledger = Self {
            database,
            path,
            units: Vec::new(),
            seeded: false,
            counts: Mutex::default(),
            places: Mutex::default(),
        };
        ledger.claim(owner)?;
        let mut found = ledger.found()?;
        let since = found.snapshot.as_ref().map_or(0, |snapshot| snapshot.records);
        let is_unknown = |record: &&Record| record.id >= since && record.round == UNKNOWN_ROUND;
        found.unknown = contents.records.iter().filter(is_unknown).count() as u64;
        let count = Count::open(&folder.join(count::FILE), owner)?;
        check_count(&ledger.path, found.records, count.count())?;
        Ok((ledger.counted_by(count, found.records)?, found))
    }

    /// Adds a count, which knows from now on how many records there are.
    fn counted_by(self, mut count: Count, records: u64) -> Result<Self, LedgerError> {
        count.raise(records)?;
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).push(count);
        Ok(self)
    }

    fn count(&self, records: u64) -> Result<(), LedgerError> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter_mut().try_for_each(|count| count.raise(records))
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
        let ours = owner.words();
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
        self.write_with(before, |transaction| {
            transaction.open_table(RECORDS)?.insert(record.id, seal::seal(record.id, &text).as_slice())?;
            Ok(())
        })?;
        self.count(record.id + 1)
    }

    /// Keeps a snapshot durably: where it holds a promise that is about to be given, and at the end.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, snapshot: &Snapshot) -> Result<(), LedgerError> {
        self.write_with(Some(snapshot), |_| Ok(()))
    }

    /// One durable commit, with a snapshot where there is one.
    fn write_with(
        &self,
        snapshot: Option<&Snapshot>,
        change: impl FnOnce(&redb::WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), LedgerError> {
        let Some(snapshot) = snapshot else { return self.write(change) };
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = StoredSnapshot::new(snapshot, &self.units, *places);
        let stored = stored.map_err(|error| self.damaged(error.to_string()))?;
        self.write(|transaction| {
            change(transaction)?;
            stored.insert(transaction)
        })?;
        *places = stored.places;
        Ok(())
    }

    /// Remembers with whom the run began, durably.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(&self, begun: &Begun) -> Result<(), LedgerError> {
        let stored = StoredBegun::of(begun);
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
        self.write_with(last, |transaction| {
            transaction.open_table(META)?.insert("finished", [].as_slice())?;
            Ok(())
        })
    }

    /// All records, in order.
    ///
    /// # Errors
    /// A file that cannot be read, or is damaged.
    pub fn records(&self) -> Result<Vec<Record>, LedgerError> {
        let entry = |(id, bytes): (redb::AccessGuard<'_, u64>, redb::AccessGuard<'_, &[u8]>)| {
            (id.value(), bytes.value().to_vec())
        };
        let sealed = self.read(|transaction| {
            let table = transaction.open_table(RECORDS)?;
            table.iter()?.map(|found| Ok(entry(found?))).collect::<Result<Vec<_>, redb::Error>>()
        })?;
        let open = |(id, bytes): &(u64, Vec<u8>)| {
            let text = seal::open(*id, bytes).ok_or_else(|| self.damaged(format!("record {id}")))?;
            serde_json::from_slice(text).map_err(|error| self.damaged(error.to_string()))
        };
        sealed.iter().map(open).collect()
    }

    fn found(&self) -> Result<Found, LedgerError> {
        let (last, begun, (finished, seeded), saved) = self.read(|transaction| {
            let last = transaction.open_table(RECORDS)?.last()?.map(|(id, _)| id.value());
            let meta = transaction.open_table(META)?;
            let saved = transaction.open_table(SNAPSHOT)?;
            let bytes =
                |entry: Option<redb::AccessGuard<'_, &[u8]>>| entry.map(|bytes| bytes.value().to_vec());
            let flags = (meta.get("finished")?.is_some(), meta.get("seeded")?.is_some());
            let begun = bytes(meta.get("begun")?);
            Ok((last, begun, flags, stored::Read::of(&saved)?))
        })?;
        let begun = begun.map(|text| self.parse_begun(&text)).transpose()?;
        let units = saved.units();
        let (snapshot, places) = saved.snapshot().map_err(|what| self.damaged(what))?.unzip();
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places.unwrap_or_default();
        Ok(Found {
            begun,
            records: last.map_or(0, |id| id + 1),
            snapshot,
            units,
            finished,
            seeded,
            forgotten: 0,
            unknown: 0,
            counted: false,
        })
    }

    fn parse_begun(&self, text: &[u8]) -> Result<Begun, LedgerError> {
        let stored: StoredBegun =
            serde_json::from_slice(text).map_err(|error| self.damaged(error.to_string()))?;
        stored.begun().ok_or_else(|| self.damaged("no roster".into()))
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

fn refused(path: &Path, why: Refused) -> LedgerError {
    match why {
        Refused::InUse => LedgerError::InUse { path: path.to_owned() },
        Refused::Io(error) => LedgerError::Storage {
            doing: "open",
            path: path.to_owned(),
            source: Box::new(redb::Error::Io(error)),
        },
    }
}

/// Fewer records than were made in this folder: the file is not the one that was written last.
fn check_count(path: &Path, records: u64, counted: u64) -> Result<(), LedgerError> {
    if records >= counted {
        return Ok(());
    }
    let what = format!("it has {records} records of {counted} that were made");
    Err(LedgerError::Damaged { path: path.to_owned(), what })
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod tests;
