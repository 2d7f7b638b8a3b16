//! Reading a ledger that is not ours to change.

use std::path::Path;

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase, ReadableDatabase, ReadableTable};

use super::{FILE, LedgerError, META, RECORDS, StoredBegun};
use crate::identity::Roster;
use protocol::Record;

/// What a ledger holds, for a report.
#[derive(Debug, Clone, Default)]
pub struct Peeked {
    /// All records, in order.
    pub records: Vec<Record>,
    /// The members, if the run had begun.
    pub roster: Option<Roster>,
}

/// Reads the ledger in a folder without changing it; `None` where there is none.
///
/// A ledger that a crash left behind needs repair before it can be read: that is done on a copy.
///
/// # Errors
/// As [`LedgerError`] says; [`LedgerError::InUse`] while the node runs.
pub fn peek(folder: &Path) -> Result<Option<Peeked>, LedgerError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let failed = |error: DatabaseError| match error {
        DatabaseError::DatabaseAlreadyOpen => LedgerError::InUse { path: path.clone() },
        other => LedgerError::Storage { doing: "open", path: path.clone(), source: Box::new(other.into()) },
    };
    match ReadOnlyDatabase::open(&path) {
        Ok(database) => read(&path, &database).map(Some),
        Err(DatabaseError::RepairAborted) => {
            let database = repaired(&path).map_err(failed)?;
            read(&path, &database).map(Some)
        }
        Err(error) => Err(failed(error)),
    }
}

/// A repaired copy in memory.
fn repaired(path: &Path) -> Result<Database, DatabaseError> {
    let bytes = std::fs::read(path).map_err(redb::StorageError::Io)?;
    let copy = redb::backends::InMemoryBackend::new();
    redb::StorageBackend::set_len(&copy, bytes.len() as u64).map_err(redb::StorageError::Io)?;
    redb::StorageBackend::write(&copy, 0, &bytes).map_err(redb::StorageError::Io)?;
    Builder::new().create_with_backend(copy)
}

fn read(path: &Path, database: &impl ReadableDatabase) -> Result<Peeked, LedgerError> {
    let look = || {
        let transaction = database.begin_read()?;
        let table = transaction.open_table(RECORDS)?;
        let texts: Result<Vec<Vec<u8>>, redb::Error> =
            table.iter()?.map(|entry| Ok(entry?.1.value().to_vec())).collect();
        let begun = transaction.open_table(META)?.get("begun")?.map(|text| text.value().to_vec());
        Ok((texts?, begun))
    };
    let (texts, begun) = look().map_err(|source: redb::Error| LedgerError::Storage {
        doing: "read",
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    let damaged = |what: String| LedgerError::Damaged { path: path.to_owned(), what };
    let records = texts
        .iter()
        .map(|text| serde_json::from_slice(text).map_err(|error| damaged(error.to_string())))
        .collect::<Result<_, _>>()?;
    let roster = match begun {
        None => None,
        Some(text) => {
            let stored: StoredBegun =
                serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
            Some(Roster::from_bytes(&stored.roster).ok_or_else(|| damaged("no roster".into()))?)
        }
    };
    Ok(Peeked { records, roster })
}

#[cfg(test)]
mod tests {
    use super::super::{Ledger, Owner};
    use super::*;
    use privacy::event::DpEvent;

    #[test]
    fn a_ledger_is_read_without_being_changed_even_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        assert!(peek(folder.path()).unwrap().is_none());
        let owner = Owner { identity: "me".into(), run: "run".into() };
        let (ledger, _) = Ledger::open(folder.path(), &owner).unwrap();
        let record = Record { id: 0, round: 3, release: DpEvent::Gaussian { noise_multiplier: 2.0 } };
        ledger.record(&record, None).unwrap();
        assert!(matches!(peek(folder.path()), Err(LedgerError::InUse { .. })));
        // A file that was open when its process died.
        let crashed = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join(FILE), crashed.path().join(FILE)).unwrap();
        let before = std::fs::read(crashed.path().join(FILE)).unwrap();
        assert_eq!(peek(crashed.path()).unwrap().unwrap().records.len(), 1);
        assert_eq!(std::fs::read(crashed.path().join(FILE)).unwrap(), before);
        drop(ledger);
        assert_eq!(peek(folder.path()).unwrap().unwrap().records, [record]);
    }
}
