//! A node whose disk is an older copy than what it has sent, within one reserve: the others saw it, and it is charged for what they saw.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::sync::Mutex;

use protocol::{LogLine, PeerIx, RunEvent, Setup, Snapshot};
use sim::{Ended, Hook, Options, simulate_with};
use swarm::setup;

const RESTORED: PeerIx = 2;

/// Gives one node a copy of its disk, of the moment when it had so many records.
struct OldDisk {
    copied: u64,
    copy: Mutex<Option<Snapshot>>,
    /// How many records it had when it crashed.
    made: Mutex<u64>,
}

impl Hook for OldDisk {
    fn saved(&self, node: PeerIx, snapshot: &Snapshot, records: u64) {
        let mut copy = self.copy.lock().unwrap();
        if node == RESTORED && records == self.copied && copy.is_none() {
            *copy = Some(snapshot.clone());
        }
    }

    fn found(&self, node: PeerIx, kept: Option<Snapshot>, records: u64) -> (Option<Snapshot>, u64) {
        if node != RESTORED {
            return (kept, records);
        }
        let copy = self.copy.lock().unwrap().clone().unwrap();
        let reserve = |snapshot: &Snapshot| {
            snapshot.reserves.held.iter().find(|held| held.by == RESTORED).map(|held| held.records)
        };
        assert_eq!(reserve(&copy), kept.as_ref().and_then(reserve), "its reserve is still the same");
        *self.made.lock().unwrap() = records;
        (Some(copy), self.copied)
    }
}

#[test]
fn a_disk_restored_within_its_reserve_is_charged_for_what_the_others_saw() {
    // Thirty-two records to a block: reserves are asked for at 17 and at 34.
    let setup: Setup = setup(&[
        "algorithm.kind=rounds",
        "nodes=7",
        "rounds=3200",
        "batch_size=4",
        "faults.crash=[{ nodes = [2], at = \"140ms\", back = \"200ms\" }]",
    ]);
    let hook = OldDisk { copied: 20, copy: Mutex::default(), made: Mutex::default() };
    let mut lines: Vec<LogLine> = Vec::new();
    let mut sink = |line: &LogLine| lines.push(line.clone());
    let finished = simulate_with(&setup, &Options::default(), &hook, &mut sink, &mut |_| ()).unwrap();
    assert_eq!(finished.ended, Ended::AllDone);
    let made = *hook.made.lock().unwrap();
    let is_its =
        |line: &&LogLine| line.node == Some(RESTORED) && matches!(line.event, RunEvent::Released { .. });
    let released = lines.iter().filter(is_its).count() as u64;
    let records = finished.records_per_node[RESTORED as usize];
    println!("{made} records when it crashed, 20 on its disk; {records} in its ledger, {released} released");
    assert!(made >= 24, "{made} records, of which 20 were on its disk");
    assert!(released > made + 100, "it takes part again: {released}");
    assert!((released..=released + 3).contains(&records), "{records} records, {released} released");
}
