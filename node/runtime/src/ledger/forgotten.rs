//! A state that is older than what the node has sent: a restored backup, or a clone that takes over.
//!
//! The count outside of the folder knows how many records there were. What the ledger has forgotten is unknown, so each is charged in full, in the ledger too, where
//! budget and report find it.

use std::path::Path;

use privacy::event::DpEvent;
use protocol::{Record, UNKNOWN_ROUND};
use redb::ReadableTable;

use super::count::{self, Count};
use super::{Found, Ledger, LedgerError, META, Owner, RECORDS, seal};

impl Ledger {
    /// Lets a folder outside of the node's count its records, and writes down what the ledger has forgotten: `release` is what one contribution was.
    ///
    /// # Guarantee
    /// Afterwards the ledger has as many records as were ever counted there. Those that were missing cost at least what they can have cost: `release`, or no
    /// bound at all where a known record was another one.
    ///
    /// # Assumes
    /// The count outside is not restored together with the folder.
    ///
    /// # Errors
    /// A count that cannot be read or written, that of another process ([`LedgerError::Twin`]), or a ledger that cannot be written.
    pub fn counted_in(
        self,
        folder: &Path,
        (owner, release): (&Owner, &DpEvent),
        found: &mut Found,
    ) -> Result<Self, LedgerError> {
        let count = Count::open(&count::file_in(folder, owner)?, owner)?;
        let missing = found.records..count.count();
        found.counted = true;
        if !missing.is_empty() {
            found.forgotten = missing.end - missing.start;
            found.unknown += found.forgotten;
            found.records = missing.end;
            // A run that was not over may go on; what an old copy says of its end is as old.
            self.forget(missing, release)?;
        }
        self.counted_by(count, found.records)
    }

    /// Writes down records that were made and are not in this ledger: `release` is what one contribution was. They are counted.
    ///
    /// # Guarantee
    /// What was missing costs at least what it can have cost: `release`, or no bound at all where a known record was another one.
    ///
    /// # Errors
    /// A ledger that cannot be read or written.
    pub fn forget(&self, missing: std::ops::Range<u64>, release: &DpEvent) -> Result<(), LedgerError> {
        let as_planned = self.records()?.iter().all(|record| record.release == *release);
        let release = if as_planned { release.clone() } else { DpEvent::NonPrivate };
        let end = missing.end;
        self.charge(missing, &release)?;
        self.count(end)
    }

    fn charge(&self, missing: std::ops::Range<u64>, release: &DpEvent) -> Result<(), LedgerError> {
        let text = |id| {
            let record = Record { id, round: UNKNOWN_ROUND, release: release.clone(), among: None };
            let text = serde_json::to_vec(&record).map_err(|error| self.damaged(error.to_string()))?;
            Ok((id, seal::seal(id, &text)))
        };
        let sealed: Vec<(u64, Vec<u8>)> = missing.map(text).collect::<Result<_, LedgerError>>()?;
        self.write(|transaction| {
            let mut records = transaction.open_table(RECORDS)?;
            for (id, bytes) in &sealed {
                records.insert(*id, bytes.as_slice())?;
            }
            let mut meta = transaction.open_table(META)?;
            let before = meta.get("forgotten")?.and_then(|bytes| number(bytes.value())).unwrap_or(0);
            let all = before + sealed.len() as u64;
            meta.insert("forgotten", all.to_le_bytes().as_slice())?;
            Ok(())
        })
    }
}

pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, outside: &Path) -> (Ledger, Found) {
        let owner = Owner { identity: "me".into(), run: "run".into() };
        let (ledger, mut found) = Ledger::open(folder, &owner).unwrap();
        let release = DpEvent::Gaussian { noise_multiplier: 2.0 };
        (ledger.counted_in(outside, (&owner, &release), &mut found).unwrap(), found)
    }

    fn record(id: u64) -> Record {
        Record { id, round: id as u32, release: DpEvent::Gaussian { noise_multiplier: 2.0 }, among: None }
    }

    fn copy(from: &Path, to: &Path) {
        for name in [super::super::FILE, count::FILE] {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }

    #[test]
    fn what_a_restored_folder_forgot_is_charged_in_full() {
        let [folder, backup, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let (ledger, _) = open(folder.path(), outside.path());
        (0..3).for_each(|id| ledger.record(&record(id), None).unwrap());
        copy(folder.path(), backup.path());
        (3..10).for_each(|id| ledger.record(&record(id), None).unwrap());
        drop(ledger);
        copy(backup.path(), folder.path());
        let (ledger, found) = open(folder.path(), outside.path());
        assert_eq!((found.records, found.forgotten, found.unknown), (10, 7, 7));
        let records = ledger.records().unwrap();
        assert_eq!(records.len(), 10);
        assert!(records[3..].iter().all(|record| record.round == UNKNOWN_ROUND));
        assert!(records[3..].iter().all(|known| known.release == record(0).release));
        ledger.record(&record(10), None).unwrap();
        drop(ledger);
        let (_, found) = open(folder.path(), outside.path());
        assert_eq!((found.records, found.forgotten), (11, 0), "told once, kept for ever");
        assert_eq!(found.unknown, 7, "still charged in full: no snapshot has them");
        let peeked = super::super::peek(folder.path());
        assert!(matches!(peeked, Ok(Some(peeked)) if peeked.forgotten == 7 && peeked.records.len() == 11));
    }

    #[test]
    fn a_folder_that_was_emptied_forgets_nothing_and_another_mechanism_has_no_bound() {
        let [folder, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (ledger, _) = open(folder.path(), outside.path());
        (0..4).for_each(|id| ledger.record(&record(id), None).unwrap());
        drop(ledger);
        std::fs::remove_file(folder.path().join(super::super::FILE)).unwrap();
        std::fs::remove_file(folder.path().join(count::FILE)).unwrap();
        let (ledger, found) = open(folder.path(), outside.path());
        assert_eq!((found.records, found.forgotten), (4, 4));
        ledger.record(&Record { release: DpEvent::NonPrivate, ..record(4) }, None).unwrap();
        let backup = tempfile::tempdir().unwrap();
        copy(folder.path(), backup.path());
        ledger.record(&record(5), None).unwrap();
        drop(ledger);
        copy(backup.path(), folder.path());
        let (ledger, _) = open(folder.path(), outside.path());
        assert_eq!(ledger.records().unwrap()[5].release, DpEvent::NonPrivate);
    }

    #[test]
    fn two_folders_with_one_identity_cannot_run_at_once() {
        let [folder, clone, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let owner = Owner { identity: "me".into(), run: "run".into() };
        let (first, _) = open(folder.path(), outside.path());
        copy(folder.path(), clone.path());
        let (second, mut found) = Ledger::open(clone.path(), &owner).unwrap();
        let release = DpEvent::NonPrivate;
        let refused = second.counted_in(outside.path(), (&owner, &release), &mut found);
        assert!(matches!(refused, Err(LedgerError::Twin { .. })));
        drop(first);
        open(clone.path(), outside.path());
    }
}
