//! Reading a ledger that is not ours to change.

use std::path::{Path, PathBuf};

use super::backend;
use super::count;
use super::examine::Contents;
use protocol::UNKNOWN_ROUND;
use protocol::agreement::{Certificate, Memory};

use super::forgotten::number;
use super::{
    Begun, FILE, LedgerError, Owner, StoredBegun, check_count, examine, refused, stored::SnapshotHeader,
};
use crate::identity::{Identity, Roster};
use privacy::event::DpEvent;
use protocol::Record;

/// What a ledger holds, for a report.
#[derive(Debug, Clone, Default)]
pub struct Peeked {
    /// All records, in order.
    pub records: Vec<Record>,
    /// The members, if the run had begun.
    pub roster: Option<Roster>,
    /// Records that stand for what the state had forgotten.
    pub forgotten: u64,
}

/// A ledger that is whole, and what is known of it outside.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The file.
    pub path: PathBuf,
    /// Whose it is, in words.
    pub owner: Option<String>,
    /// What it holds.
    pub peeked: Peeked,
    /// Whether the run was over for this node.
    pub finished: bool,
    /// How many records were counted outside of the folder; none where nothing was.
    pub counted: Option<u64>,
}

/// Reads the ledger in a folder without changing it; `None` where there is none.
///
/// A ledger that a crash left behind needs repair before it can be read: that is done on a copy.
///
/// # Errors
/// As [`LedgerError`] says; [`LedgerError::InUse`] while the node runs.
pub fn peek(folder: &Path) -> Result<Option<Peeked>, LedgerError> {
    contents(folder)?.map(|contents| peeked(&folder.join(FILE), contents)).transpose()
}

/// Looks whether the ledger in a folder is whole and the last one, by the counts in the folder and in `outside`; `None` where there is no ledger.
///
/// # Errors
/// As [`LedgerError`] says: what is damaged, and where.
pub fn check(folder: &Path, outside: Option<&Path>) -> Result<Option<Checked>, LedgerError> {
    let Some(contents) = contents(folder)? else { return Ok(None) };
    let (path, owner, finished) = (folder.join(FILE), contents.owner.clone(), contents.finished);
    let known = owner.as_deref().and_then(Owner::parse);
    let counted = match (&known, outside) {
        (Some(owner), Some(outside)) => count::look(&count::place_in(outside, owner), owner)?,
        _ => None,
    };
    let peeked = peeked(&path, contents)?;
    Ok(Some(Checked { path, owner, peeked, finished, counted }))
}

/// Where a node stands that does not run.
#[derive(Debug, Clone)]
pub struct Stand {
    /// With whom the run began.
    pub begun: Begun,
    /// What was decided last; empty where nothing was.
    pub certificate: Certificate,
    /// The first round that this node has not begun.
    pub next_round: u32,
    /// Whether the run was over for it.
    pub finished: bool,
}

/// Where the node with this folder stands; `None` where it has begun no run.
///
/// # Errors
/// As [`LedgerError`] says; [`LedgerError::InUse`] while the node runs.
pub fn stand(folder: &Path) -> Result<Option<Stand>, LedgerError> {
    let Some(contents) = contents(folder)? else { return Ok(None) };
    let damaged = |what: String| LedgerError::Damaged { path: folder.join(FILE), what };
    let Some(begun) = begun(contents.begun.as_deref()).map_err(damaged)? else { return Ok(None) };
    let memory = contents.agreement.as_deref().map(Memory::from_bytes).transpose();
    let memory = memory.map_err(|error| damaged(error.to_string()))?.unwrap_or_default();
    let header = contents.header.as_deref().map(serde_json::from_slice::<SnapshotHeader>).transpose();
    let header = header.map_err(|error| damaged(error.to_string()))?;
    Ok(Some(Stand {
        begun,
        certificate: memory.certificate,
        next_round: header.map_or(0, |header| header.round.saturating_add(1)),
        finished: contents.finished,
    }))
}

/// What a whole ledger holds that has all the records that were made in its folder.
fn contents(folder: &Path) -> Result<Option<Contents>, LedgerError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = backend::read(&path).map_err(|error| refused(&path, error))?;
    let contents = examine(bytes).map_err(|what| LedgerError::Damaged { path: path.clone(), what })?;
    if let Some(owner) = contents.owner.as_deref().and_then(Owner::parse) {
        let counted = count::look(&folder.join(count::FILE), &owner)?;
        check_count(&path, contents.records.len() as u64, counted.unwrap_or(0))?;
    }
    Ok(Some(contents))
}

fn peeked(path: &Path, contents: Contents) -> Result<Peeked, LedgerError> {
    let damaged = |what: String| LedgerError::Damaged { path: path.to_owned(), what };
    let begun = begun(contents.begun.as_deref()).map_err(damaged)?;
    let roster = begun.map(|begun| begun.places().clone());
    let forgotten = contents.forgotten.as_deref().and_then(number).unwrap_or(0);
    Ok(Peeked { records: contents.records, roster, forgotten })
}

fn begun(text: Option<&[u8]>) -> Result<Option<Begun>, String> {
    let Some(text) = text else { return Ok(None) };
    let stored: StoredBegun = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    stored.begun().map(Some).ok_or_else(|| "no roster".into())
}

impl Checked {
    /// Contributions that were counted outside and that the ledger does not know: an old copy of the folder.
    pub fn missing(&self) -> u64 {
        self.counted.unwrap_or(0).saturating_sub(self.peeked.records.len() as u64)
    }

    /// What it holds, with a record that costs in full for everything that is missing.
    ///
    /// # Guarantee
    /// As many records as were counted. What one of the missing can have been is what all known ones are; where these differ, or there are none, it has no bound.
    pub fn charged(self) -> Peeked {
        let missing = self.missing();
        let Peeked { mut records, roster, forgotten } = self.peeked;
        let alike = records.first().filter(|first| records.iter().all(|one| one.release == first.release));
        let release = alike.map_or(DpEvent::NonPrivate, |first| first.release.clone());
        let known = records.len() as u64;
        let record = |id| Record { id, round: UNKNOWN_ROUND, release: release.clone(), among: None };
        records.extend((known..known + missing).map(record));
        Peeked { records, roster, forgotten: forgotten + missing }
    }

    /// Whether the key beside it is that of its node; also where there is no key.
    pub fn fits(&self, folder: &Path) -> bool {
        let owner = self.owner.as_deref().and_then(Owner::parse);
        match (owner, Identity::look(folder)) {
            (Some(owner), Some(identity)) => owner.identity == identity.peer_id().to_base58(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ledger, Owner};
    use super::*;

    #[test]
    fn a_ledger_is_read_without_being_changed_even_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        assert!(peek(folder.path()).unwrap().is_none());
        let owner = Owner { identity: "me".into(), run: "run".into() };
        let (ledger, _) = Ledger::open(folder.path(), &owner).unwrap();
        let record =
            Record { id: 0, round: 3, release: DpEvent::Gaussian { noise_multiplier: 2.0 }, among: None };
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
