use libp2p::PeerId;
use privacy::event::DpEvent;
use std::sync::Arc;

use protocol::Values;
use protocol::agreement::{KeptReserves, Memory, Reserve};

use super::*;
use crate::identity::Roster;

fn owner(run: &str) -> Owner {
    Owner { identity: "12D3".into(), run: run.into() }
}

fn record(id: u64) -> Record {
    Record { id, round: id as u32, release: DpEvent::NonPrivate, among: None }
}

fn snapshot() -> Snapshot {
    Snapshot {
        epoch: 2,
        members: vec![0, 2],
        round: 7,
        version: 6,
        model: Values::from_wire(vec![0.1, -0.0, f32::MIN_POSITIVE]),
        records: 3,
        spent: vec![vec![0.1 + 0.2, f64::INFINITY], vec![]],
        before: Some(Values::from_wire(vec![0.5, 0.25, 1.0])),
        agreement: Some(Arc::new(Memory { view: 7, ..Memory::default() })),
        reserves: KeptReserves {
            held: vec![Reserve { by: 2, records: 70, signature: protocol::agreement::Signature([5; 64]) }],
            company: vec![(2, protocol::agreement::Seen { begun: 8, done: 7 })],
            idle: 3,
            promised: 0,
        },
    }
}

#[test]
fn what_was_recorded_and_saved_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let units = vec!["worst pair in μ²".to_owned(), "contributions".to_owned()];
    let begun = Begun {
        roster: Roster::new((0..3).map(|_| PeerId::random())),
        at: 17,
        signed: (1, vec![vec![9; 64]]),
        part: Part::default(),
    };
    {
        let (ledger, found) = Ledger::open(folder.path(), &owner("a")).unwrap();
        assert_eq!(found, Found::default());
        let ledger = ledger.with_units(units.clone());
        ledger.begin(&begun).unwrap();
        ledger.save(&snapshot()).unwrap();
        (0..5).for_each(|id| ledger.record(&record(id), None).unwrap());
    }
    let (ledger, found) = Ledger::open(folder.path(), &owner("a")).unwrap();
    let expected =
        Found { begun: Some(begun), records: 5, snapshot: Some(snapshot()), units, ..Found::default() };
    assert_eq!(found, expected);
    let last = Snapshot { round: 9, ..snapshot() };
    ledger.finish(Some(&last)).unwrap();
    let found = ledger.found().unwrap();
    assert_eq!((found.finished, found.snapshot), (true, Some(last)));
    assert_eq!(ledger.records().unwrap(), (0..5).map(record).collect::<Vec<_>>());
}

#[test]
fn that_noise_was_seeded_is_kept_and_never_taken_for_granted() {
    for seeded in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let begun = Begun {
            roster: Roster::new((0..3).map(|_| PeerId::random())),
            at: 17,
            signed: (1, vec![vec![9; 64]]),
            part: Part::default(),
        };
        let (ledger, _) = Ledger::open(folder.path(), &owner("a")).unwrap();
        ledger.with_seeded_noise(seeded).begin(&begun).unwrap();
        assert_eq!(Ledger::open(folder.path(), &owner("a")).unwrap().1.seeded, seeded);
    }
}

#[test]
fn two_nodes_cannot_share_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let first = Ledger::open(folder.path(), &owner("a")).unwrap();
    let refused = Ledger::open(folder.path(), &owner("a")).err().unwrap();
    assert!(matches!(refused, LedgerError::InUse { .. }), "{refused}");
    drop(first);
    Ledger::open(folder.path(), &owner("a")).unwrap();
}

#[test]
fn the_state_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(Ledger::open(folder.path(), &owner("a")).unwrap());
    let refused = Ledger::open(folder.path(), &owner("b")).err().unwrap();
    assert!(matches!(refused, LedgerError::Foreign { .. }), "{refused}");
    assert!(refused.to_string().contains("run a") && refused.to_string().contains("run b"), "{refused}");
}

#[test]
fn a_folder_that_is_not_there_or_a_foreign_file_gets_a_clear_message() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Ledger::open(&folder.path().join("missing"), &owner("a")).err().unwrap();
    assert!(matches!(refused, LedgerError::Storage { doing: "open", .. }), "{refused}");
    std::fs::write(folder.path().join(FILE), "not a database at all").unwrap();
    let refused = Ledger::open(folder.path(), &owner("a")).err().unwrap();
    assert!(matches!(refused, LedgerError::Damaged { .. }), "{refused}");
}

/// What a killed process leaves behind: a copy of the file at any moment after `record` returned.
#[test]
fn a_record_is_on_disk_when_it_returns_and_so_is_the_snapshot_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, _) = Ledger::open(folder.path(), &owner("a")).unwrap();
    for id in 0..20 {
        let before = Snapshot { records: id, ..snapshot() };
        ledger.record(&record(id), Some(&before)).unwrap();
        let copy = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join(FILE), copy.path().join(FILE)).unwrap();
        let (_, found) = Ledger::open(copy.path(), &owner("a")).unwrap();
        assert_eq!(found.records, id + 1);
        assert_eq!(found.snapshot, Some(before));
    }
}

/// A large model and the one before it cost one writing, not two, and are the ones that were saved whatever came before.
#[test]
fn of_two_models_the_one_that_is_there_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, _) = Ledger::open(folder.path(), &owner("a")).unwrap();
    let model = |number: u8| Values::from_wire((0..50_000).map(|at| f32::from(number) + at as f32).collect());
    let places = || *ledger.places.lock().unwrap();
    // As rounds go, then a model that stays, one that comes back, and one of which nothing is known.
    let rounds = [(1, None), (2, Some(1)), (3, Some(2)), (3, Some(3)), (2, Some(3)), (3, None), (9, Some(8))];
    for (now, before) in rounds {
        let snapshot = Snapshot { model: model(now), before: before.map(model), ..snapshot() };
        let there = places();
        ledger.save(&snapshot).unwrap();
        let written = places().iter().zip(there).filter(|(after, there)| **after != *there).count();
        assert_eq!(ledger.found().unwrap().snapshot, Some(snapshot), "{now} after {before:?}");
        let expected = match (now, before) {
            (9, _) => 2,
            (2, Some(3)) | (3, None) => usize::from(before.is_some()),
            _ => 1,
        };
        assert_eq!(written, expected, "{now} after {before:?}");
    }
    drop(ledger);
    let (ledger, found) = Ledger::open(folder.path(), &owner("a")).unwrap();
    let expected = Snapshot { model: model(9), before: Some(model(8)), ..snapshot() };
    assert_eq!(found.snapshot, Some(expected.clone()));
    // What another process wrote is known, and not written again.
    let there = *ledger.places.lock().unwrap();
    ledger.save(&expected).unwrap();
    assert_eq!(*ledger.places.lock().unwrap(), there);
}

#[test]
fn what_was_spent_in_another_unit_is_not_taken_over() {
    let units = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut found = Found { snapshot: Some(snapshot()), units: units(&["a", "b"]), ..Found::default() };
    found.keep_units(&units(&["a", "c"]));
    assert_eq!(found.snapshot.as_ref().unwrap().spent, [snapshot().spent[0].clone(), Vec::new()]);
    found.keep_units(&units(&["x"]));
    assert_eq!(found.snapshot.unwrap().spent, [Vec::<f64>::new(), Vec::new()]);
}
