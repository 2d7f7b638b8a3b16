//! A process that is killed at any of its writes, or in the middle of one, leaves a ledger that is whole and has everything that was durable.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use privacy::event::DpEvent;
use protocol::Values;
use protocol::agreement::KeptReserves;
use redb::StorageBackend;

use super::*;

/// What a process did to its file.
#[derive(Debug, Clone)]
enum Deed {
    Write(u64, Vec<u8>),
    Length(u64),
}

/// A file that remembers what was done to it.
#[derive(Debug)]
struct Watched {
    file: Backend,
    deeds: Arc<Mutex<Vec<Deed>>>,
}

impl Watched {
    fn note(&self, deed: Deed) {
        self.deeds.lock().unwrap().push(deed);
    }
}

impl StorageBackend for Watched {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.note(Deed::Length(length));
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(Deed::Write(offset, data.to_vec()));
        self.file.write(offset, data)
    }
}

fn owner() -> Owner {
    Owner { identity: "12D3".into(), run: "a (b)".into() }
}

/// A snapshot with models so large that the file grows again and again.
fn snapshot(round: u32) -> Snapshot {
    let model = |of: u32| Values::from_wire(vec![of as f32; 2_000 + 700 * round as usize]);
    Snapshot {
        epoch: 1,
        members: vec![0, 1, 2],
        round,
        version: round,
        model: model(round),
        records: u64::from(round),
        spent: vec![vec![0.5; 3]],
        before: round.checked_sub(1).map(model),
        agreement: None,
        reserves: KeptReserves::default(),
    }
}

/// All that a node did to its file, and after how many deeds so many records were durable.
fn life(records: u64) -> (Vec<Deed>, BTreeMap<usize, u64>) {
    let deeds = Arc::new(Mutex::new(Vec::new()));
    let file = Watched { file: Backend::of_bytes(Vec::new()), deeds: deeds.clone() };
    let database = Builder::new().set_cache_size(CACHE).create_with_backend(file).unwrap();
    let ledger = Ledger {
        database,
        path: PathBuf::from("here"),
        units: Vec::new(),
        seeded: false,
        counts: Mutex::default(),
        places: Mutex::default(),
    };
    ledger.claim(&owner()).unwrap();
    let mut durable = BTreeMap::from([(deeds.lock().unwrap().len(), 0)]);
    for id in 0..records {
        let release = DpEvent::Gaussian { noise_multiplier: 1.5 };
        let record = Record { id, round: id as u32, release, among: None };
        ledger.record(&record, Some(&snapshot(id as u32))).unwrap();
        durable.insert(deeds.lock().unwrap().len(), id + 1);
    }
    let all = deeds.lock().unwrap().clone();
    // Left as it is when a process is killed.
    std::mem::forget(ledger);
    (all, durable)
}

fn put(image: &mut [u8], offset: u64, data: &[u8]) {
    let from = offset as usize;
    image[from..from + data.len()].copy_from_slice(data);
}

#[test]
fn a_ledger_is_whole_wherever_its_process_is_killed() {
    let (deeds, durable) = life(24);
    let begun = *durable.keys().next().unwrap();
    let (mut image, mut looked) = (Vec::new(), 0);
    for (at, deed) in deeds.iter().enumerate() {
        let known = durable.range(..=at).next_back().map(|(_, records)| *records);
        let mut look = |image: &[u8], how: &str| {
            // Before the file is made there is nothing to lose.
            let Some(known) = known.filter(|_| at >= begun) else { return };
            let found = examine(image.to_vec()).unwrap_or_else(|why| panic!("deed {at}, {how}: {why}"));
            assert!(
                found.records.len() as u64 >= known,
                "deed {at}, {how}: {} of {known}",
                found.records.len()
            );
            looked += 1;
        };
        match deed {
            Deed::Length(length) => image.resize(*length as usize, 0),
            Deed::Write(offset, data) => {
                // A long write is cut between two pages.
                for end in (4096..data.len()).step_by(16 * 4096) {
                    let mut torn = image.clone();
                    put(&mut torn, *offset, &data[..end]);
                    look(&torn, "torn");
                }
                put(&mut image, *offset, data);
            }
        }
        look(&image, "done");
    }
    assert!(looked > 200, "{looked} moments");
}
