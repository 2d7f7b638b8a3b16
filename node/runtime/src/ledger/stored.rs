//! A snapshot as it is kept.
//!
//! Its two models, that of the round and the one before, have two places in the file. The one before is mostly there already, as the model of the last snapshot, and what is there is
//! not written again: of a large model every byte that is written costs time in every round.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::agreement::{KeptReserves, Memory};
use protocol::{Digest, PeerIx, Snapshot, Values};
use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use super::SNAPSHOT;

/// Where models are.
const PLACES: [&str; 2] = ["model 0", "model 1"];
/// Where the model and the one before it were until version 5 of the wire format.
const OLD: [&str; 2] = ["model", "before"];

/// Digests of what is in the two places.
pub(super) type Places = [Option<Digest>; 2];

/// What is to be written.
pub(super) struct StoredSnapshot<'a> {
    units: String,
    header: Vec<u8>,
    /// What is not in its place.
    models: [Option<&'a Values>; 2],
    agreement: Option<Vec<u8>>,
    reserves: Option<Vec<u8>>,
    /// What is in the places afterwards.
    pub(super) places: Places,
}

impl<'a> StoredSnapshot<'a> {
    /// Of a snapshot, where these models are in their places.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        units: &[String],
        places: Places,
    ) -> Result<Self, serde_json::Error> {
        let (model, before) = (snapshot.model.digest(), snapshot.before.as_ref().map(Values::digest));
        let is_there = places.iter().position(|place| *place == Some(model));
        let place = is_there.unwrap_or(usize::from(before.is_some() && places[0] == before));
        let (mut after, mut models) = (places, [None; 2]);
        let wanted = [(place, Some(&snapshot.model)), (1 - place, snapshot.before.as_ref())];
        for (place, values) in wanted.into_iter().filter_map(|(place, values)| Some((place, values?))) {
            let digest = Some(values.digest());
            models[place] = (places[place] != digest).then_some(values);
            after[place] = digest;
        }
        Ok(Self {
            units: units.join("\n"),
            header: serde_json::to_vec(&SnapshotHeader::of(snapshot, (place, before)))?,
            models,
            agreement: snapshot.agreement.as_ref().map(|memory| memory.to_bytes()),
            reserves: (snapshot.reserves != KeptReserves::default()).then(|| snapshot.reserves.to_bytes()),
            places: after,
        })
    }

    pub(super) fn insert(&self, transaction: &redb::WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(SNAPSHOT)?;
        table.insert("units", self.units.as_bytes())?;
        table.insert("header", self.header.as_slice())?;
        for (key, values) in PLACES.into_iter().zip(self.models) {
            let Some(values) = values.map(Values::as_slice) else { continue };
            let mut room = table.insert_reserve(key, 4 * values.len())?;
            let (numbers, _) = room.as_mut().as_chunks_mut::<4>();
            numbers.iter_mut().zip(values).for_each(|(to, value)| *to = value.to_le_bytes());
        }
        for key in OLD {
            drop(table.remove(key)?);
        }
        for (key, bytes) in [("agreement", &self.agreement), ("reserves", &self.reserves)] {
            match bytes {
                Some(bytes) => drop(table.insert(key, bytes.as_slice())?),
                None => drop(table.remove(key)?),
            }
        }
        Ok(())
    }
}

/// What was read, by its key.
pub(super) struct Read(BTreeMap<&'static str, Vec<u8>>);

impl Read {
    pub(super) fn of(table: &impl ReadableTable<&'static str, &'static [u8]>) -> Result<Self, redb::Error> {
        let mut found = BTreeMap::new();
        for key in ["units", "header", "agreement", "reserves"].into_iter().chain(PLACES).chain(OLD) {
            if let Some(bytes) = table.get(key)? {
                found.insert(key, bytes.value().to_vec());
            }
        }
        Ok(Self(found))
    }

    pub(super) fn units(&self) -> Vec<String> {
        let units = self.0.get("units").map_or(&[][..], Vec::as_slice);
        String::from_utf8_lossy(units).lines().map(str::to_owned).collect()
    }

    /// The snapshot, and what is in the places; or what is wrong with it.
    pub(super) fn snapshot(&self) -> Result<Option<(Snapshot, Places)>, String> {
        let Some(header) = self.0.get("header") else { return Ok(None) };
        let header: SnapshotHeader = serde_json::from_slice(header).map_err(|error| error.to_string())?;
        let [model, before] = match header.place {
            Some(0) => PLACES,
            Some(_) => [PLACES[1], PLACES[0]],
            None => OLD,
        };
        let Some(model) = self.model(model) else { return Ok(None) };
        if model.digest() != header.digest {
            return Err("the model is not the one that was saved".into());
        }
        let before = self.model(before).filter(|_| header.place.is_none() || header.before.is_some());
        if header.place.is_some() && before.as_ref().map(Values::digest) != header.before {
            return Err("the model before is not the one that was saved".into());
        }
        let memory = self.0.get("agreement").map(|bytes| Memory::from_bytes(bytes)).transpose();
        let agreement = memory.map_err(|error| format!("the memory of decisions: {error}"))?;
        let kept = self.0.get("reserves").map(|bytes| KeptReserves::from_bytes(bytes)).transpose();
        let reserves = kept.map_err(|error| format!("reserves: {error}"))?.unwrap_or_default();
        let mut places = Places::default();
        if let Some(place) = header.place {
            places[place.min(1)] = Some(header.digest);
            places[1 - place.min(1)] = header.before;
        }
        let snapshot =
            Snapshot { before, agreement: agreement.map(Arc::new), reserves, ..header.with(model) };
        Ok(Some((snapshot, places)))
    }

    /// It was sent before, or follows from what was.
    fn model(&self, key: &str) -> Option<Values> {
        let (numbers, _) = self.0.get(key)?.as_chunks::<4>();
        Some(Values::from_wire(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()))
    }
}

/// A [`Snapshot`] without its model. What was spent is kept as bits, so that no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SnapshotHeader {
    epoch: u32,
    members: Vec<PeerIx>,
    pub(super) round: u32,
    version: u32,
    records: u64,
    spent: Vec<Vec<u64>>,
    digest: Digest,
    /// In which of the two places the model is.
    #[serde(default)]
    place: Option<usize>,
    /// Of the one before, in the other place.
    #[serde(default)]
    before: Option<Digest>,
}

impl SnapshotHeader {
    fn of(snapshot: &Snapshot, (place, before): (usize, Option<Digest>)) -> Self {
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect();
        Self {
            epoch: snapshot.epoch,
            members: snapshot.members.clone(),
            round: snapshot.round,
            version: snapshot.version,
            records: snapshot.records,
            spent: snapshot.spent.iter().map(bits).collect(),
            digest: snapshot.model.digest(),
            place: Some(place),
            before,
        }
    }

    fn with(self, model: Values) -> Snapshot {
        let values = |row: Vec<u64>| row.into_iter().map(f64::from_bits).collect();
        Snapshot {
            epoch: self.epoch,
            members: self.members,
            round: self.round,
            version: self.version,
            model,
            records: self.records,
            spent: self.spent.into_iter().map(values).collect(),
            before: None,
            agreement: None,
            reserves: KeptReserves::default(),
        }
    }
}
