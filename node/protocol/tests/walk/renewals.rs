//! Tokens that are lost where some member may be hostile: they go on by decision, from copies of which only the name is said.

use std::collections::{BTreeMap, BTreeSet};

use protocol::agreement::Message;
use protocol::walk::{Name, Say};
use protocol::{Body, FaultKind, PeerIx, RunEvent};
use topology::WalkKernel;

use super::harness::{Net, cycle, settings, walk};
use super::{restarts, round_trip_with};

/// Where the token is: the last that held it, and who had it before.
fn last_two(net: &Net) -> (PeerIx, PeerIx) {
    let held = net.held();
    (held[held.len() - 1].3, held[held.len() - 2].3)
}

/// Who passed the token on, and the last hop of each that it did so at.
fn newest_that_went_on(net: &Net) -> BTreeMap<PeerIx, u32> {
    let held = net.held();
    held[..held.len() - 1].iter().map(|held| (held.3, held.2)).collect()
}

fn renewals(net: &Net) -> Vec<(PeerIx, u32, u32)> {
    let line = |(node, event): &(PeerIx, RunEvent)| match event {
        RunEvent::TokenRestarted { hop, generation, .. } => Some((*node, *hop, *generation)),
        _ => None,
    };
    net.log.iter().filter_map(line).collect()
}

/// The holder dies: its custodian calls, the others join when they have missed the token for a while, and one of them goes on.
#[test]
fn where_some_may_be_hostile_a_lost_token_is_renewed_by_decision() {
    let mut net = round_trip_with(0, 40, 1);
    while net.held().len() < 9 {
        net.run(0.000_5);
    }
    let (holder, _) = last_two(&net);
    net.crashed.insert(holder);
    assert!(net.run(2_000.0), "{:?}", net.log.last());
    let renewed = renewals(&net);
    assert!(!renewed.is_empty());
    // One decision after the other, each of one member, with one generation more.
    let generations: Vec<u32> = renewed.iter().map(|renewed| renewed.2).collect();
    assert_eq!(generations, (1..=generations.len() as u32).collect::<Vec<_>>());
    // The second largest hop that is stated, so not where it was lost, and not the beginning.
    assert!((1..=7).contains(&renewed[0].1), "{renewed:?}");
    assert_eq!(net.count(|event| matches!(event, RunEvent::PeerFault { .. })), 0);
}

/// Whatever data make of the models, the same is said of copies: a digest of numbers would let everybody check a guess of them.
#[test]
fn what_is_stated_of_a_copy_follows_from_its_name_alone() {
    let stated = |scale: f32| {
        let kernel = WalkKernel::Simple.matrix(&cycle(6)).unwrap();
        let mut all = settings(6, 40, vec![0.0; 2], walk(kernel, vec![0]));
        all.hostile = 1;
        let mut net = Net::new(all, move |node, _| vec![scale, scale * f32::from(node as u16)]);
        while net.held().len() < 20 {
            net.run(0.000_5);
        }
        let (holder, _) = last_two(&net);
        let went_on = newest_that_went_on(&net);
        net.crashed.insert(holder);
        assert!(net.run(2_000.0));
        let copies = net.sent.iter().flat_map(|sent| match &sent.2.body {
            Body::Walk(Say::Agreement(said)) => match &*said.0 {
                Message::Standing(standing) => standing.content().tokens.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        });
        let copies: BTreeSet<_> = copies.collect();
        let hops: BTreeSet<u32> = copies.iter().map(|copy| copy.hop).collect();
        let said = went_on.iter().filter(|(node, hop)| **node != holder && hops.contains(hop)).count();
        // A standing of each of a quorum, all of which the token has come to.
        assert!(said >= 4, "{hops:?} of {went_on:?}");
        copies
    };
    assert_eq!(stated(1.0), stated(0.5));
}

/// The holder and its custodian die together, which the custody of two does not survive.
#[test]
fn a_token_whose_last_two_holders_are_gone_goes_on_from_an_older_copy() {
    for hostile in [0, 1] {
        let mut net = round_trip_with(0, 40, hostile);
        while net.held().len() < 12 || last_two(&net).0 == last_two(&net).1 {
            net.run(0.000_5);
        }
        let (holder, custodian) = last_two(&net);
        net.crashed.extend([holder, custodian]);
        assert!(net.run(4_000.0), "f = {hostile}: {:?}", net.log.last());
        let (node, hop, _) = renewals(&net)[0];
        assert!(node != holder && node != custodian && hop > 0, "f = {hostile}: node {node} at hop {hop}");
    }
}

/// A token under a generation that nobody decided is not taken, from whomever it is.
#[test]
fn nobody_renews_a_token_alone_where_some_may_be_hostile() {
    let mut net = round_trip_with(3, 40, 1).with_fate(|_, _, _| vec![]);
    net.crashed = (1..6).collect();
    let token = |net: &Net, hop, generation| {
        net.with_numbers(0, 0, Say::Token(Name { token: 0, hop, generation }), &[1.0; 2])
    };
    net.inject(1, 0, token(&net, 5, 1));
    net.inject(1, 0, token(&net, 5, 1 << 30));
    assert!(net.held().is_empty());
    let kinds: Vec<&str> = net.sent.iter().map(|sent| sent.2.body.kind()).collect();
    assert_eq!(kinds, ["ask", "ask"], "it asks whether that was decided");
    net.inject(1, 0, token(&net, 5, 0));
    assert_eq!(net.held(), [(0, 0, 5, 0)]);
    // Its receiver does not answer: it calls, and keeps its copy.
    net.run(11.0);
    assert_eq!(restarts(&net), 0);
    assert!(net.sent.iter().any(|sent| sent.2.body.kind() == "standing"));
    // From now on it adds nothing under this generation.
    let computed = net.computed[0];
    net.inject(5, 0, token(&net, 9, 0));
    net.run(1.0);
    assert_eq!((net.held().len(), net.computed[0]), (1, computed));
}

#[test]
fn a_token_is_renewed_after_all_have_crashed_in_the_middle_of_it() {
    for crash in 0..12 {
        let mut net = round_trip_with(0, 40, 1);
        while net.held().len() < 9 {
            net.run(0.000_5);
        }
        let (holder, _) = last_two(&net);
        net.crashed.insert(holder);
        // The custodian calls after ten seconds, the others join ten later; a message takes a millisecond.
        net.run(19.995 + 0.001 * f64::from(crash));
        net.crash_all();
        (0..6).filter(|node| *node != holder).for_each(|node| net.revive(node));
        assert!(net.run(4_000.0), "crash {crash}: {:?}", net.log.last());
        assert_eq!(
            net.count(|event| matches!(event, RunEvent::PeerFault { fault: FaultKind::Proven, .. })),
            0
        );
    }
}
