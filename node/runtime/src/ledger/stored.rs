//! A snapshot as it is kept.

use protocol::agreement::KeptReserves;
use protocol::{Digest, PeerIx, Snapshot, Values};
use serde::{Deserialize, Serialize};

use super::SNAPSHOT;

/// A [`Snapshot`] as it is kept.
pub(super) struct StoredSnapshot {
    pub(super) units: String,
    pub(super) header: Vec<u8>,
    pub(super) model: Vec<u8>,
    pub(super) before: Option<Vec<u8>>,
    pub(super) agreement: Option<Vec<u8>>,
    pub(super) reserves: Option<Vec<u8>>,
}

impl StoredSnapshot {
    pub(super) fn insert(&self, transaction: &redb::WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(SNAPSHOT)?;
        table.insert("units", self.units.as_bytes())?;
        table.insert("header", self.header.as_slice())?;
        table.insert("model", self.model.as_slice())?;
        let beside = [("before", &self.before), ("agreement", &self.agreement), ("reserves", &self.reserves)];
        for (key, bytes) in beside {
            match bytes {
                Some(bytes) => drop(table.insert(key, bytes.as_slice())?),
                None => drop(table.remove(key)?),
            }
        }
        Ok(())
    }
}

/// A [`Snapshot`] without its model. What was spent is kept as bits, so that no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SnapshotHeader {
    pub(super) epoch: u32,
    pub(super) members: Vec<PeerIx>,
    pub(super) round: u32,
    pub(super) version: u32,
    pub(super) records: u64,
    pub(super) spent: Vec<Vec<u64>>,
    pub(super) digest: Digest,
}

impl SnapshotHeader {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect();
        Self {
            epoch: snapshot.epoch,
            members: snapshot.members.clone(),
            round: snapshot.round,
            version: snapshot.version,
            records: snapshot.records,
            spent: snapshot.spent.iter().map(bits).collect(),
            digest: Digest::of(snapshot.model.as_slice()),
        }
    }

    pub(super) fn with(self, model: Vec<f32>) -> Snapshot {
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
            before: None,
            agreement: None,
            reserves: KeptReserves::default(),
        }
    }
}
