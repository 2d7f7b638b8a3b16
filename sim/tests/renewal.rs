//! Tokens that are lost go on by decision, whatever one member says about them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;

use protocol::account::Account;
use protocol::{PeerIx, RunEvent};
use sim::Ended;
use swarm::{Run, run, setup};

const HOPS: u32 = 30 * 7;

/// Seven members on a full graph, of whom two may be hostile; one dies.
fn walked(more: &[&str]) -> Run {
    let mut pairs = vec![
        "algorithm.kind=walk",
        "nodes=7",
        "rounds=30",
        "topology=complete",
        "faults.crash=[{ nodes = [2], at = \"60ms\" }]",
    ];
    pairs.extend(more);
    run(&setup(&pairs), 2)
}

/// Node, token, hop and generation of every renewal.
fn renewals(run: &Run) -> Vec<(PeerIx, u32, u32, u32)> {
    let line = |line: &protocol::LogLine| match line.event {
        RunEvent::TokenRestarted { token, hop, generation, .. } => Some((line.node?, token, hop, generation)),
        _ => None,
    };
    run.lines.iter().filter_map(line).collect()
}

#[track_caller]
fn assert_goes_on(run: &Run, but: &[PeerIx]) {
    assert_eq!(run.finished.ended, Ended::AllDone);
    for node in (0..7).filter(|node| !but.contains(node)) {
        let over = |line: &&protocol::LogLine| {
            let over = "all tokens made their last hop";
            line.node == Some(node)
                && matches!(&line.event, RunEvent::Finished { reason, .. } if reason == over)
        };
        assert!(run.lines.iter().any(|line| over(&line)), "node {node} reaches the end");
    }
    let held: BTreeMap<(u32, u32), u32> = run
        .lines
        .iter()
        .filter_map(|line| match line.event {
            RunEvent::Held { token, hop, generation, .. } => Some(((token, generation), hop)),
            _ => None,
        })
        .collect();
    assert!(held.values().all(|&hop| hop <= HOPS));
    let faults: Vec<_> = run.faults().into_iter().filter(|(peer, _)| !but.contains(peer)).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn tokens_that_a_dead_member_held_go_on_by_decision_and_it_is_left_out() {
    let run = walked(&["algorithm.tokens=2"]);
    assert_goes_on(&run, &[2]);
    let all = renewals(&run);
    assert!(!all.is_empty());
    // A decision is about all tokens, and one is enough: who has no seat is given none.
    let generations: Vec<u32> = all.iter().map(|renewed| renewed.3).collect();
    assert!(generations.iter().all(|&generation| generation <= 2), "{all:?}");
    assert!(all.iter().all(|&(node, .., hop, _)| node != 2 && hop < HOPS), "{all:?}");
}

/// It states hop 2³⁰ of generation 2³⁰, and a model that nobody has.
#[test]
fn a_far_hop_that_one_member_states_moves_no_token() {
    let run = walked(&["faults.hostile=[{ nodes = [6], kind = \"false-standing\" }]"]);
    assert_goes_on(&run, &[2, 6]);
    let all = renewals(&run);
    assert!(
        !all.is_empty()
            && all.iter().all(|&(node, _, hop, generation)| node != 6 && hop < HOPS && generation < 9)
    );
}

/// The account is still that of the path that was really walked, in all its branches.
#[test]
fn the_account_of_a_renewed_walk_is_still_that_of_walks() {
    let setup = setup(&[
        "algorithm.kind=walk",
        "nodes=7",
        "rounds=30",
        "topology=complete",
        "faults.crash=[{ nodes = [2], at = \"60ms\" }]",
    ]);
    let run = run(&setup, 2);
    assert!(!renewals(&run).is_empty());
    let mut account = Account::new(setup.shape().with_rho(Some(1.0))).unwrap();
    run.lines.iter().for_each(|line| account.push(line));
    assert_eq!(account.summary().mean.analysis, "walk");
    let local = account.summary().local.epsilon;
    assert!(
        (0..7).all(|one| (0..7)
            .filter(|other| *other != one)
            .all(|other| account.epsilon(one, other) <= local))
    );
}
