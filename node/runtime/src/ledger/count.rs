//! How many records a node has made, beside its ledger: in its folder, and outside of it, under the node's identity.
//!
//! A ledger that has fewer records than were counted is not the last one: a page was lost, or the folder is an old copy. The count is written after the record is
//! durable and before anybody hears of it, so that it is never ahead of what was sent. It is given to the operating system at once, and is on disk
//! every [`DURABLE_EVERY`] records: a crash of the machine can make it older, which never accuses a ledger that is whole.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use protocol::Digest;

use super::{LedgerError, Owner};
use crate::data_ledger::DataLedger;
use crate::identity::{owner_only, private_folder};

/// Name of the file in the folder of a node.
pub(super) const FILE: &str = "ledger.count";
/// After how many records the count is on disk, whatever happens to the machine.
const DURABLE_EVERY: u64 = 64;
/// Length of a line; there are two, written in turn, so that one is always whole.
const LINE: usize = 54;

/// An open count.
#[derive(Debug)]
pub(super) struct Count {
    file: File,
    path: PathBuf,
    of: String,
    count: u64,
}

impl Count {
    /// Opens the count in a folder for this process alone, made with zero.
    pub(super) fn open(path: &Path, owner: &Owner) -> Result<Self, LedgerError> {
        let failed = |source| LedgerError::Count { path: path.to_owned(), source };
        let mut file = owner_only().read(true).write(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LedgerError::Twin { identity: owner.identity.clone() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let of = label(owner);
        let mut text = String::new();
        let count = match file.read_to_string(&mut text) {
            Ok(0) => {
                let zero = line(0, &of);
                file.write_all(&[zero.as_slice(), &zero].concat())
                    .and_then(|()| file.sync_all())
                    .map_err(failed)?;
                0
            }
            Ok(_) => newest(&text, &of).ok_or_else(|| damaged(path))?,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(damaged(path)),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { file, path: path.to_owned(), of, count })
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Says that there are so many.
    pub(super) fn raise(&mut self, count: u64) -> Result<(), LedgerError> {
        if count <= self.count {
            return Ok(());
        }
        let failed = |source| LedgerError::Count { path: self.path.clone(), source };
        let place = SeekFrom::Start(count % 2 * LINE as u64);
        self.file.seek(place).and_then(|_| self.file.write_all(&line(count, &self.of))).map_err(failed)?;
        if count / DURABLE_EVERY != self.count / DURABLE_EVERY {
            self.file.sync_data().map_err(failed)?;
        }
        self.count = count;
        Ok(())
    }
}

/// The count in a file that is not ours to change; none where there is no file.
pub(super) fn look(path: &Path, owner: &Owner) -> Result<Option<u64>, LedgerError> {
    match fs::read(path) {
        Ok(bytes) if bytes.is_empty() => Ok(None),
        Ok(bytes) => {
            let text = std::str::from_utf8(&bytes).map_err(|_| damaged(path))?;
            newest(text, &label(owner)).map(Some).ok_or_else(|| damaged(path))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Count { path: path.to_owned(), source }),
    }
}

/// Where the counts of this user's nodes are, outside of every node's folder; none where there is no such place.
pub fn outside() -> Option<PathBuf> {
    DataLedger::of_user().ok().map(|ledger| ledger.folder().join("counts"))
}

/// The file of one node in one run. The folder is made if it is not there.
pub(super) fn file_in(folder: &Path, owner: &Owner) -> Result<PathBuf, LedgerError> {
    private_folder(folder).map_err(|source| LedgerError::Count { path: folder.to_owned(), source })?;
    Ok(place_in(folder, owner))
}

pub(super) fn place_in(folder: &Path, owner: &Owner) -> PathBuf {
    folder.join(format!("{}.count", Digest::of_text(&label(owner))))
}

fn label(owner: &Owner) -> String {
    format!("{}\n{}", owner.identity, owner.run)
}

fn line(count: u64, of: &str) -> Vec<u8> {
    format!("{count:020} {}\n", Digest::of_text(&format!("{of}\n{count}"))).into_bytes()
}

/// The larger of the counts that are whole.
fn newest(text: &str, of: &str) -> Option<u64> {
    let count = |one: &str| {
        one.get(..20)?.parse().ok().filter(|&count| line(count, of) == [one, "\n"].concat().as_bytes())
    };
    text.split('\n').filter_map(count).max()
}

fn damaged(path: &Path) -> LedgerError {
    LedgerError::Damaged { path: path.to_owned(), what: "no count in it is whole".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner { identity: "me".into(), run: "run".into() }
    }

    #[test]
    fn a_count_comes_back_and_a_torn_line_costs_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.count");
        assert_eq!(look(&path, &owner()).unwrap(), None);
        let mut count = Count::open(&path, &owner()).unwrap();
        (1..=129).for_each(|at| count.raise(at).unwrap());
        assert!(matches!(Count::open(&path, &owner()), Err(LedgerError::Twin { .. })));
        drop(count);
        assert_eq!(Count::open(&path, &owner()).unwrap().count(), 129);
        let mut bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 2 * LINE);
        bytes[LINE + 19] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(look(&path, &owner()).unwrap(), Some(128));
        bytes[19] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(look(&path, &owner()), Err(LedgerError::Damaged { .. })));
        let other = Owner { identity: "other".into(), run: "run".into() };
        assert!(look(&path, &other).is_err(), "another node's");
    }
}
