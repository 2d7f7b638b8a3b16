//! Random lists of operations on a few nodes: whatever a driver, a network, a disk and hostile peers do, and in whatever order.
//!
//! What holds after every operation is asserted in [`play`]; what holds between two plays of the same list is asserted here.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]

mod algorithms;
mod operation;
mod play;

use std::sync::Arc;

use algorithms::{ALGORITHMS, LIMIT, settings};
use operation::{Operation, operations};
use play::{Change, Played, play};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use protocol::account::{Account, Shape};
use protocol::agreement;
use protocol::rounds::{Agreed, Say};
use protocol::work::{Adjacency, Computed};
use protocol::{Body, Input, LogLine, Message, Node, Output, RunEvent, Snapshot, Time};

const NODES: usize = 4;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_same_operations_give_the_same_outputs(list in operations(200)) {
        for name in ALGORITHMS {
            let (once, again) = (play(name, &list, Change::default()), play(name, &list, Change::default()));
            prop_assert_eq!(once.outputs, again.outputs, "{}", name);
        }
    }

    /// Non-interference: another contribution changes nothing that leaves the node before its record was answered.
    #[test]
    fn nothing_that_leaves_depends_on_a_contribution_before_it_is_recorded(list in operations(200), which in 0..12_usize) {
        for name in ALGORITHMS {
            let one = play(name, &list, Change::default());
            let other = play(name, &list, Change { contribution: Some(which) });
            let same = one.outputs.iter().zip(&other.outputs).take_while(|(one, other)| one == other).count();
            let recorded = other.recorded_at.unwrap_or(one.outputs.len().max(other.outputs.len()));
            prop_assert!(same >= recorded.min(one.outputs.len()), "{}: output {} of {}", name, same, recorded);
        }
    }

    #[test]
    fn the_account_takes_every_log_and_counts_every_release(list in operations(200)) {
        for name in ALGORITHMS {
            let Played { log, .. } = play(name, &list, Change::default());
            let shape = Shape::new(&settings(name), Adjacency::Node, 1e-5).with_rho(Some(1.0));
            let mut account = Account::new(shape).unwrap();
            for (node, event) in &log {
                let line = LogLine { time: Time(0), node: Some(*node), event: event.clone() };
                // As it comes back from a file.
                let line = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
                account.push(&line);
            }
            let interim = account.interim();
            account.settle_final();
            let summary = account.summary();
            let released = log.iter().filter(|(_, event)| matches!(event, RunEvent::Released { .. })).count();
            prop_assert_eq!(summary.releases, released as u64, "{}", name);
            prop_assert!(summary.local.epsilon >= summary.worst.epsilon, "{}", name);
            prop_assert!(summary.worst.epsilon * (1.0 + 1e-12) >= summary.mean.epsilon, "{}: {:?}", name, summary);
            prop_assert!((summary.local.epsilon > 0.0) == (released > 0), "{}", name);
            prop_assert!(interim.local >= summary.local.epsilon * (1.0 - 1e-9), "{}", name);
        }
    }
}

/// Lists that get nowhere would prove nothing.
#[test]
fn random_operations_reach_releases_crashes_faults_and_the_end_of_the_budget() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut released, mut refused, mut faults, mut records) = ([0; 4], [0; 4], [0; 4], 0);
    for _ in 0..64 {
        let list: Vec<Operation> = operations(1_600).new_tree(&mut runner).unwrap().current();
        for (at, name) in ALGORITHMS.iter().enumerate() {
            let played = play(name, &list, Change::default());
            let count =
                |wanted: fn(&RunEvent) -> bool| played.log.iter().filter(|(_, event)| wanted(event)).count();
            released[at] += count(|event| matches!(event, RunEvent::Released { .. }));
            refused[at] += count(|event| matches!(event, RunEvent::Refused { .. }));
            faults[at] += count(|event| matches!(event, RunEvent::PeerFault { .. }));
            records = records.max(played.most_records);
        }
    }
    assert!(released.iter().all(|&count| count > 100), "releases {released:?}");
    assert!(refused.iter().all(|&count| count > 0), "refusals {refused:?}");
    assert!(faults.iter().all(|&count| count > 100), "faults {faults:?}");
    assert_eq!(records, LIMIT, "some node spends all that it may");
}

/// What a node says that it makes at most.
fn reserve_of(output: &Output) -> Option<agreement::Reserve> {
    let Output::Send { message, .. } = output else { return None };
    let Body::Rounds(Say::Agreement(said)) = &message.body else { return None };
    let agreement::Message::Reserve(reserve) = *said.0 else { return None };
    Some(reserve)
}

/// A vote is saved while a record is on its way to the disk: the record is there when the node comes back, so it must be paid for.
#[test]
fn a_record_that_was_under_way_when_a_vote_was_saved_is_charged_after_a_crash() {
    let settings = Arc::new(settings("rounds"));
    let mut node = Node::new(0, settings.clone(), None);
    node.handle(Time(0), Input::Start);
    let release = settings.release.clone();
    node.handle(
        Time(0),
        Input::Computed(Computed {
            round: 0,
            contribution: play::contribution(vec![1.0, 1.0]).into(),
            release,
            loss: None,
        }),
    );
    // Two others come back and say where they stand: one of them at least is honest, so node 0 stops and says so too.
    for other in [1, 2] {
        let first = Snapshot::first(&settings);
        let mut back = Node::new(other, settings.clone(), None).restored(&first, 0);
        back.handle(Time(0), Input::Start);
        // They ask what others hold of them before they speak.
        let now = Time(settings.timeouts.resend);
        back.handle(now, Input::Tick);
        let asked: Vec<Output> = std::iter::from_fn(|| back.poll_output()).collect();
        let reserve = asked.iter().find_map(reserve_of).unwrap();
        for from in (0..NODES as u32).filter(|&from| from != other) {
            let held = agreement::ReserveHeld { reserve: Some(reserve), seen: Default::default() };
            let body = Say::Agreement(Agreed(Arc::new(agreement::Message::ReserveHeld(held)))).into();
            let message = Message { run: settings.run, round: 0, step: 0, body, numbers: None };
            back.handle(now, Input::Received { from, message });
        }
        let mut stood = false;
        while let Some(output) = back.poll_output() {
            if let Output::Send { message, .. } = output {
                stood = true;
                node.handle(Time(0), Input::Received { from: other, message });
            }
        }
        assert!(stood, "it says where it stands");
    }
    let mut saved = None;
    while let Some(output) = node.poll_output() {
        if let Output::Save(snapshot) = output {
            saved = Some(snapshot);
        }
    }
    let back = Node::new(0, settings, None).restored(&saved.unwrap(), 1);
    let one = 1.0 / LIMIT as f64;
    assert!(back.spent().iter().all(|&part| part >= one * (1.0 - 1e-9)), "{:?}", back.spent());
}
