//! What nodes have written down, in logs and ledgers, after the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use protocol::folder::LOG;
use protocol::{Digest, RunEvent};

use crate::rig::Home;

/// The first `nodes` ended each round alike, whoever of them ended it.
pub(crate) fn one_result_for_each_round(home: &Home, nodes: usize) {
    let mut ends: BTreeMap<(u32, u32), BTreeSet<Digest>> = BTreeMap::new();
    for node in 0..nodes {
        for line in home.log(node) {
            if let RunEvent::RoundDone { round, epoch, end, .. } = line.event {
                ends.entry((epoch, round)).or_default().insert(end);
            }
        }
    }
    let differ: Vec<_> = ends.iter().filter(|(_, ends)| ends.len() > 1).map(|(place, _)| place).collect();
    assert!(!ends.is_empty() && differ.is_empty(), "epochs and rounds with more than one result: {differ:?}");
}

/// How many contributions left a node, each of them once and with a record.
pub(crate) fn everything_is_on_record(home: &Home, node: usize) -> usize {
    let recorded: BTreeSet<u32> = home.records(node).iter().map(|record| record.round).collect();
    let mut released = BTreeSet::new();
    for line in home.log(node) {
        if let RunEvent::Released { round, .. } = line.event {
            assert!(released.insert(round), "node {node} released round {round} twice");
            assert!(recorded.contains(&round), "node {node} released round {round} without a record");
        }
    }
    assert!(!released.is_empty(), "node {node} took no part");
    released.len()
}

/// What every node of a home wrote last.
pub(crate) fn last_lines(home: &Path) -> String {
    let of = |node: usize| {
        let lines = std::fs::read_to_string(home.join(node.to_string()).join(LOG)).ok()?;
        let last: Vec<&str> = lines.lines().rev().take(12).collect();
        Some(format!("node {node}, the last first:\n{}\n", last.join("\n")))
    };
    (0..16).map_while(of).collect()
}
