//! The searches, and rules that are left out to see that they are missed.

use stateright::{Checker, HasDiscoveries, Model as _};

use super::super::super::flaw::Flaw;
use super::Swarm;
use crate::PeerIx;

/// What the checker found, by the name of the property; and how many states it saw.
fn check(swarm: Swarm, most: usize) -> (Vec<&'static str>, usize) {
    let exhaustive = most == usize::MAX;
    let checker = swarm.checker().threads(1).finish_when(HasDiscoveries::AnyFailures);
    let checker = if exhaustive { checker } else { checker.target_state_count(most) };
    let checker = checker.spawn_bfs().join();
    let states = checker.unique_state_count();
    let (depth, is_done) = (checker.max_depth(), checker.is_done());
    println!("{states} states, depth {depth}, done {is_done}");
    let mut found: Vec<_> = checker.discoveries().into_iter().collect();
    found.sort_by_key(|(name, _)| *name);
    for (name, path) in &found {
        if !name.starts_with("decided") {
            println!("{name}:\n{:#?}", path.clone().into_actions());
        }
    }
    (found.into_iter().map(|(name, _)| name).collect(), states)
}

/// Four members, the last of them hostile; `first` proposes in view 1.
fn byzantine(first: PeerIx) -> Swarm {
    Swarm::new(4, 1, Some(3), first)
}

fn assert_holds(swarm: Swarm, most: usize) {
    let (found, _) = check(swarm, most);
    let broken: Vec<_> = found.iter().filter(|name| !name.starts_with("decided")).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn four_members_with_a_hostile_one_honest_proposer_first() {
    assert_holds(byzantine(2), 60_000);
}

#[test]
fn four_members_with_a_hostile_one_hostile_proposer_first() {
    assert_holds(byzantine(3), 60_000);
}

#[test]
fn three_members_of_whom_one_crashes_and_one_restarts() {
    let swarm = Swarm { crashes: 1, restarts: 1, ..Swarm::new(3, 0, None, 0) };
    assert_holds(swarm, 60_000);
}

#[test]
#[ignore = "minutes"]
fn three_members_of_whom_one_crashes_and_one_restarts_in_every_order_of_events() {
    assert_holds(Swarm { crashes: 1, restarts: 1, sample: 4096, ..Swarm::new(3, 0, None, 0) }, usize::MAX);
}

/// Everything that can happen in two views, whoever proposes first.
#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_in_every_order_of_events() {
    for first in 0..4 {
        println!("first proposer {first}");
        assert_holds(Swarm { sample: 4096, ..byzantine(first) }, usize::MAX);
    }
}

/// As deep as a bounded search gets.
#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_in_three_views() {
    for first in [3, 0] {
        assert_holds(Swarm { last_view: 3, sample: 4096, ..byzantine(first) }, 5_000_000);
    }
}

/// What the checker finds where a rule is left out and this member proposes first.
fn finds(flaw: Flaw, first: PeerIx) -> Vec<&'static str> {
    let restarts = u8::from(flaw == Flaw::Amnesia);
    let swarm = Swarm { flaw: Some(flaw), restarts, narrow: true, sample: u64::MAX, ..byzantine(first) };
    let (mut found, _) = check(swarm, 400_000);
    found.retain(|name| !name.starts_with("decided"));
    found
}

/// A rule, who proposes first where leaving it out does harm, and what is broken then.
type Rule = (Flaw, PeerIx, &'static str);

fn assert_missed(rules: &[Rule]) {
    let mut unseen = Vec::new();
    for &(flaw, first, property) in rules {
        println!("{flaw:?}");
        let found = finds(flaw, first);
        if !found.contains(&property) {
            unseen.push((flaw, found));
        }
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn a_rule_that_is_left_out_is_missed() {
    assert_missed(&[(Flaw::OneHolder, 2, "validity")]);
}

#[test]
#[ignore = "minutes"]
fn every_rule_that_is_left_out_is_missed() {
    assert_missed(&[
        (Flaw::VotesTwice, 3, "one lock per view"),
        (Flaw::SmallQuorum, 3, "agreement"),
        (Flaw::NoHeardRule, 3, "no wrong expulsion"),
        (Flaw::IgnoresLocks, 2, "agreement"),
        (Flaw::TurnWithoutLock, 2, "agreement"),
        (Flaw::ActsAfterTurn, 2, "agreement"),
        (Flaw::Amnesia, 2, "agreement"),
        (Flaw::EntersUninformed, 2, "no wrong expulsion"),
    ]);
}
