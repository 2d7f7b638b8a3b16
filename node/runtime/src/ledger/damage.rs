//! Ledgers that were damaged in thousands of ways: each is refused with a reason, or read as it was written.

use privacy::event::DpEvent;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::identity::Roster;

fn owner() -> Owner {
    Owner { identity: "12D3".into(), run: "a (b)".into() }
}

/// A ledger of several pages after a clean end, and as a crash leaves it.
fn ledgers() -> [(Vec<u8>, Vec<u8>, Contents); 2] {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |name| std::fs::read(folder.path().join(name)).unwrap();
    let (ledger, _) = Ledger::open(folder.path(), &owner()).unwrap();
    let roster = Roster::new((0..5).map(|_| libp2p::PeerId::random()));
    let begun = Begun { roster, at: 17, signed: (0, Vec::new()), part: Part::default() };
    ledger.begin(&begun).unwrap();
    for id in 0..200 {
        let release = DpEvent::Gaussian { noise_multiplier: 1.5 };
        ledger.record(&Record { id, round: id as u32, release, among: None }, None).unwrap();
    }
    let crashed = (bytes(FILE), bytes(count::FILE));
    drop(ledger);
    let clean = (bytes(FILE), bytes(count::FILE));
    [crashed, clean].map(|(file, count)| {
        let contents = examine(file.clone()).unwrap();
        assert_eq!(contents.records.len(), 200);
        (file, count, contents)
    })
}

/// One way to damage a file.
fn damage(bytes: &mut Vec<u8>, dice: &mut ChaCha8Rng) -> &'static str {
    let at = dice.random_range(0..bytes.len());
    let page = at / 4096 * 4096;
    let end = bytes.len().min(page + 4096);
    match dice.random_range(0..8) {
        0 => {
            bytes[at] ^= 1 << dice.random_range(0..8);
            "one bit"
        }
        1 => {
            (0..8).for_each(|_| {
                let at = dice.random_range(0..bytes.len());
                bytes[at] ^= 1 << dice.random_range(0..8);
            });
            "eight bits"
        }
        2 => {
            bytes[page..end].fill(0);
            "a page of zeros"
        }
        3 => {
            dice.fill(&mut bytes[page..end]);
            "a page of noise"
        }
        4 => {
            bytes.truncate(at);
            "the end cut off"
        }
        5 => {
            // The first page holds the roots of everything.
            let at = dice.random_range(0..512);
            bytes[at] ^= 1 << dice.random_range(0..8);
            "a bit of the header"
        }
        6 => {
            let other = dice.random_range(0..bytes.len() / 4096) * 4096;
            let copy: Vec<u8> = bytes[other..bytes.len().min(other + 4096)].to_vec();
            bytes[page..end].copy_from_slice(&copy[..end - page]);
            "a page in the place of another"
        }
        _ => {
            bytes[at..].iter_mut().take(512).for_each(|byte| *byte = 0xff);
            "a sector of ones"
        }
    }
}

/// Tries so many damages; how many were refused.
fn try_damages(times: usize, seed: u64) -> (usize, usize) {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let (mut refused, mut harmless) = (0, 0);
    let ledgers = ledgers();
    for time in 0..times {
        let (whole, count, contents) = &ledgers[time % 2];
        let mut bytes = whole.clone();
        let how = damage(&mut bytes, &mut dice);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), &bytes).unwrap();
        std::fs::write(folder.path().join(count::FILE), count).unwrap();
        match Ledger::open(folder.path(), &owner()) {
            Err(error) => {
                assert!(!error.to_string().is_empty() && protocol::Hint::hint(&error).is_some());
                refused += 1;
            }
            Ok((ledger, found)) => {
                assert_eq!(found.records, 200, "{how} (time {time})");
                assert_eq!(ledger.records().unwrap(), contents.records, "{how} (time {time})");
                assert!(found.begun.is_some(), "{how} (time {time})");
                harmless += 1;
            }
        }
    }
    (refused, harmless)
}

#[test]
fn a_damaged_ledger_is_refused_or_read_as_it_was_written() {
    let (refused, harmless) = try_damages(400, 1);
    // Free pages and the old root may be damaged without harm.
    assert!(refused > 100, "{refused} refused, {harmless} harmless");
}

/// Ten thousand damages: minutes.
#[test]
#[ignore = "minutes; ./test heavy runs it"]
fn many_damaged_ledgers_are_refused_or_read_as_they_were_written() {
    let (refused, harmless) = try_damages(10_000, 2);
    println!("{refused} refused, {harmless} harmless");
}

#[test]
fn a_ledger_with_fewer_records_than_were_made_in_its_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, _) = Ledger::open(folder.path(), &owner()).unwrap();
    let record = |id| Record { id, round: id as u32, release: DpEvent::NonPrivate, among: None };
    ledger.record(&record(0), None).unwrap();
    let old = std::fs::read(folder.path().join(FILE)).unwrap();
    ledger.record(&record(1), None).unwrap();
    drop(ledger);
    std::fs::write(folder.path().join(FILE), old).unwrap();
    for refused in [Ledger::open(folder.path(), &owner()).err(), peek(folder.path()).err()] {
        let text = refused.expect("it must not be read").to_string();
        assert!(text.contains("1 records of 2"), "{text}");
    }
}
