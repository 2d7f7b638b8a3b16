//! The walk of tokens, driven by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]

#[path = "../harness/mod.rs"]
mod harness;
mod renewals;

use std::collections::BTreeSet;

use harness::{DELAY, Net, chance, cycle, graph, settings, walk};
use proptest::prelude::*;
use protocol::walk::{Name, Say};
use protocol::{Body, FaultKind, PeerIx, RunEvent, gossip};
use rand_chacha::rand_core::Rng;
use topology::schedule::RunKey;
use topology::{Graph, MixingMatrix, WalkKernel};

const HOPS: u32 = 12;

/// A triangle with a tail.
fn uneven() -> Graph {
    Graph::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]).unwrap().0
}

fn kernel() -> MixingMatrix {
    WalkKernel::Lazy.matrix(&uneven()).unwrap()
}

fn net(starts: Vec<PeerIx>) -> Net {
    let all = settings(5, HOPS, vec![0.0; 2], walk(kernel(), starts));
    Net::new(all, |node, _| vec![1.0, f32::from(node as u16)])
}

/// On a cycle every move goes somewhere else.
fn round_trip(hops: u32) -> Net {
    round_trip_from(0, hops)
}

fn round_trip_from(start: PeerIx, hops: u32) -> Net {
    round_trip_with(start, hops, 0)
}

fn round_trip_with(start: PeerIx, hops: u32, hostile: u32) -> Net {
    let kernel = WalkKernel::Simple.matrix(&cycle(6)).unwrap();
    let mut all = settings(6, hops, vec![0.0; 2], walk(kernel, vec![start]));
    all.hostile = hostile;
    Net::new(all, |node, _| vec![1.0, f32::from(node as u16)])
}

/// The path of generation 0, drawn here by inversion of the cumulative law of a dense row.
fn path(kernel: &MixingMatrix, token: u64, start: usize, hops: u32) -> Vec<u32> {
    let key = RunKey::new("hand-driven");
    let mut at = start;
    let mut path = vec![start as u32];
    for hop in 0..hops {
        let uniform = (key.stream("walk", token, u64::from(hop)).next_u64() >> 11) as f64 * 2f64.powi(-53);
        let cumulative = |node: usize| (0..=node).map(|j| kernel.weight(at, j)).sum::<f64>();
        at = (0..kernel.nodes()).find(|&node| uniform < cumulative(node)).expect("the row sums to one");
        path.push(at as u32);
    }
    path
}

fn releases(net: &Net) -> usize {
    net.count(|event| matches!(event, RunEvent::Released { .. }))
}

fn restarts(net: &Net) -> usize {
    net.count(|event| matches!(event, RunEvent::TokenRestarted { .. }))
}

#[test]
fn the_path_is_the_public_draw_and_every_holder_contributes_once_a_hop() {
    let mut net = net(vec![3]);
    assert!(net.run(60.0));
    let expected = path(&kernel(), 0, 3, HOPS);
    let held: Vec<u32> = net.held().iter().map(|held| held.3).collect();
    assert_eq!(held, expected);
    assert!(expected.windows(2).any(|hop| hop[0] == hop[1]), "the lazy walk stays somewhere");
    let graph = uneven();
    assert!(held.windows(2).all(|hop| hop[0] == hop[1] || graph.has_edge(hop[0] as usize, hop[1] as usize)));
    // Hops 0 to 12: thirteen holders, thirteen contributions of step size one half.
    assert_eq!(releases(&net), HOPS as usize + 1);
    let last = *expected.last().unwrap();
    let seconds: u32 = expected.iter().sum();
    assert_eq!(net.nodes[last as usize].model(), [-0.5 * 13.0, -0.5 * seconds as f32]);
    assert_eq!((restarts(&net), net.nodes[last as usize].round()), (0, HOPS));
}

#[test]
fn a_nodes_model_is_the_last_that_it_held_and_a_stranger_keeps_the_public_one() {
    let mut net = net(vec![3]);
    assert!(net.run(60.0));
    let path = path(&kernel(), 0, 3, HOPS);
    for node in 0..5_u32 {
        let expected = path.iter().rposition(|&holder| holder == node).map_or(0, |hop| hop + 1);
        assert_eq!(net.nodes[node as usize].model()[0], -0.5 * expected as f32, "node {node}");
    }
}

#[test]
fn tokens_go_to_the_next_holder_only_and_the_end_carries_no_numbers() {
    let mut net = round_trip(9);
    assert!(net.run(60.0));
    let path = path(&WalkKernel::Simple.matrix(&cycle(6)).unwrap(), 0, 0, 9);
    let looks = net.sent.iter().filter(|(_, _, message)| message.numbers.is_some());
    let tokens: Vec<(u32, u32)> = looks.map(|(from, to, _)| (*from, *to)).collect();
    assert_eq!(tokens, path.windows(2).map(|hop| (hop[0], hop[1])).collect::<Vec<_>>());
}

#[test]
fn copies_are_forgotten_when_the_token_is_safe() {
    let mut net = round_trip(9);
    assert!(net.run(60.0));
    // Nobody has anything left to send, so nobody wakes, once the end was answered.
    net.run(1.0);
    let pending = net.nodes.iter().filter(|node| node.wake_at().is_some()).count();
    assert!(pending <= 1, "only the notice of the end may wait: {pending}");
}

#[test]
fn a_lost_answer_leads_to_no_second_contribution() {
    let mut answers = 0;
    let mut net = round_trip(60).with_fate(move |_, _, message| {
        let answer = matches!(message.body, Body::Walk(Say::Here(_) | Say::Safe(_)));
        answers += u32::from(answer);
        // Two answers of three are lost, and a token is under way for nearly as long as a sender waits.
        if answer && answers % 3 != 0 { vec![] } else { vec![100 * DELAY] }
    });
    assert!(net.run(600.0));
    assert_eq!((releases(&net), restarts(&net)), (61, 0));
    assert_eq!(net.records.iter().sum::<u64>(), 61);
    let again = net.sent.iter().filter(|sent| sent.2.numbers.is_some()).count();
    assert!(again > 70, "tokens were sent again");
}

#[test]
fn a_copy_is_guarded_asked_about_and_started_again_if_nobody_answers() {
    // Nothing arrives but what the test delivers; node 0 is the holder of hop 5.
    let mut net = round_trip_from(3, 9).with_fate(|_, _, _| vec![]);
    net.crashed = (1..6).collect();
    let name = |hop| Name { token: 0, hop, generation: 0 };
    net.inject(1, 0, net.with_numbers(5, 0, Say::Token(name(5)), &[1.0; 2]));
    net.run(0.1);
    let (to, offered) = net.sent.last().map(|(_, to, message)| (*to, message.clone())).unwrap();
    assert_eq!(offered.body.kind(), "token");
    net.inject(to, 0, net.message(6, 0, Say::Here(name(6))));
    let safe = Body::Walk(Say::Safe(name(5)));
    assert_eq!(net.sent.last().map(|(_, to, message)| (*to, &message.body)), Some((1, &safe)));
    // Three silences of ten seconds pass, then the same bytes are sent again.
    net.sent.clear();
    net.run(29.9);
    assert_eq!(net.sent, []);
    net.run(0.2);
    assert_eq!(net.sent, [(0, to, offered)]);
    net.inject(to, 0, net.message(6, 0, Say::Here(name(6))));
    net.run(29.9);
    assert_eq!(
        (net.sent.len(), restarts(&net)),
        (1, 0),
        "it is guarded again, and the first holder was told before"
    );
    // Asked again and silent: the token goes the other way.
    net.run(10.2);
    let restarted = RunEvent::TokenRestarted { token: 0, hop: 5, generation: 1, copy_of: Some(0) };
    assert_eq!(net.log.iter().filter(|(_, event)| *event == restarted).count(), 1);
    let last = net.sent.last().unwrap();
    assert_eq!((last.1, last.2.body.kind()), (6 - to, "token"));
    assert_eq!(net.computed[0], 1, "one contribution");
}

#[test]
fn a_receiver_that_never_answers_is_replaced_by_another() {
    let mut net = round_trip(9);
    let path = path(&WalkKernel::Simple.matrix(&cycle(6)).unwrap(), 0, 0, 9);
    let dead = path[1];
    net.crashed.insert(dead);
    net.run(30.0);
    let restart = net.log.iter().find(|(_, event)| matches!(event, RunEvent::TokenRestarted { .. }));
    let expected = RunEvent::TokenRestarted { token: 0, hop: 0, generation: 1, copy_of: Some(0) };
    assert_eq!(restart, Some(&(0, expected)));
    let held = net.held();
    assert_eq!((held[1].1, held[1].2, held[1].3), (1, 1, 6 - dead), "the other neighbour of node 0");
    // The first holder made one contribution, however often the token left it.
    assert_eq!(
        net.log
            .iter()
            .filter(|(node, event)| { *node == 0 && matches!(event, RunEvent::Released { round: 0, .. }) })
            .count(),
        1
    );
}

#[test]
fn a_holder_that_crashes_is_replaced_from_the_copy_of_the_one_before() {
    let mut net = round_trip(6);
    let path = path(&WalkKernel::Simple.matrix(&cycle(6)).unwrap(), 0, 0, 6);
    // Until hop 2 is held; its holder dies before it can pass the token on.
    while net.held().len() < 3 {
        net.run(0.000_5);
    }
    let (before, holder) = (path[1], path[2]);
    assert_eq!(net.held()[2], (0, 0, 2, holder));
    net.crashed.insert(holder);
    let done = net.run(600.0);
    let restarted = net.log.iter().find_map(|(node, event)| match event {
        RunEvent::TokenRestarted { hop, generation, .. } => Some((*node, *hop, *generation)),
        _ => None,
    });
    assert_eq!(restarted, Some((before, 1, 1)));
    // The path may lead back to the dead node, then it restarts again; it ends all the same.
    assert!(done);
    let hop_one = |(_, event): &&(PeerIx, RunEvent)| matches!(event, RunEvent::Released { round: 1, .. });
    assert_eq!(net.log.iter().filter(hop_one).count(), 1, "the holder before contributed once");
}

#[test]
fn two_tokens_walk_on_their_own() {
    let mut net = net(vec![3, 0]);
    assert!(net.run(60.0));
    for (token, start) in [(0_u32, 3_usize), (1, 0)] {
        let held = net.held().into_iter().filter(|held| held.0 == token);
        assert_eq!(
            held.map(|held| held.3).collect::<Vec<_>>(),
            path(&kernel(), u64::from(token), start, HOPS)
        );
    }
    assert_eq!(releases(&net), 2 * (HOPS as usize + 1));
    // Even two tokens that start at one node make one contribution at a time: the harness would see a second.
    let mut net = self::net(vec![3, 3, 3]);
    assert!(net.run(60.0));
    assert_eq!(releases(&net), 3 * (HOPS as usize + 1));
}

#[test]
fn tokens_that_cannot_be_are_faults_and_change_nothing() {
    let mut net = net(vec![3]);
    let token = |hop, values: &[f32]| {
        net.with_numbers(0, 0, Say::Token(Name { token: 0, hop, generation: 9 }), values)
    };
    let faults = [
        (1, token(0, &[1.0; 2]), FaultKind::WrongRound),
        (1, token(HOPS + 1, &[1.0; 2]), FaultKind::WrongRound),
        (3, token(2, &[1.0; 2]), FaultKind::WrongSender),
        (1, token(2, &[1.0; 3]), FaultKind::WrongLength),
        (1, token(2, &[]), FaultKind::WrongLength),
        (1, token(2, &[f32::INFINITY; 2]), FaultKind::NotFinite),
        (1, token(2, &[1e6; 2]), FaultKind::TooLarge),
        (1, net.message(0, 0, Say::Here(Name { token: 1, hop: 2, generation: 0 })), FaultKind::WrongRound),
        (1, net.with_numbers(0, 0, gossip::Say::State, &[1.0; 2]), FaultKind::WrongKind),
        (1, net.with_words(0, 0, Say::Token(Name { token: 0, hop: 2, generation: 9 })), FaultKind::WrongKind),
    ];
    for (from, message, _) in faults.clone() {
        net.inject(from, 0, message);
    }
    assert_eq!(net.faults(0), faults.map(|(from, _, fault)| (from, fault)));
    assert!(net.sent.is_empty() && net.held().is_empty());
}

#[test]
fn an_old_token_is_answered_and_not_used() {
    let mut net = net(vec![3]);
    let token = |net: &Net, hop, generation| {
        net.with_numbers(0, 0, Say::Token(Name { token: 0, hop, generation }), &[1.0; 2])
    };
    net.inject(1, 0, token(&net, 5, 2));
    assert_eq!(net.held(), [(0, 2, 5, 0)]);
    for (hop, generation) in [(5, 2), (4, 2), (11, 1), (11, 0)] {
        net.sent.clear();
        net.inject(2, 0, token(&net, hop, generation));
        assert_eq!(net.held().len(), 1);
        let kinds: Vec<&str> = net.sent.iter().map(|sent| sent.2.body.kind()).collect();
        assert_eq!(kinds, ["token_here", "token_safe"], "hop {hop} of generation {generation}");
    }
    // The one whose token is here is not told that it is safe.
    net.sent.clear();
    net.inject(1, 0, token(&net, 5, 2));
    assert_eq!(net.sent.iter().map(|sent| sent.2.body.kind()).collect::<Vec<_>>(), ["token_here"]);
    assert_eq!(net.computed[0], 1);
}

#[test]
fn a_first_holder_that_comes_back_starts_no_second_token() {
    let mut net = round_trip(400);
    net.run(0.1);
    net.crashed.insert(0);
    assert!(net.held().len() > 3);
    let before = net.held().iter().filter(|held| held.2 == 0).count();
    net.revive(0);
    assert!(net.run(6000.0));
    assert_eq!(net.held().iter().filter(|held| held.2 == 0).count(), before);
}

#[test]
fn a_lonely_node_holds_its_token_to_the_end() {
    let graph = graph(2, &[]);
    let kernel = WalkKernel::Simple.matrix(&graph).unwrap();
    let mut net = Net::new(settings(2, 3, vec![0.0], walk(kernel, vec![1])), |_, _| vec![1.0]);
    assert!(net.run(10.0));
    assert_eq!(net.nodes[1].model(), [-2.0], "four contributions, half a step each");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The harness panics if a contribution leaves before its record. Whatever is lost or repeated, the walk ends, no hop of a generation is
    /// used twice at a node, and each contribution has one record.
    #[test]
    fn loss_and_repetition_end_in_order(seed in any::<u64>(), loss in 0_u64..50, twice in 0_u64..50) {
        let mut net = net(vec![3, 1]).with_fate(chance(seed, (loss, twice), 300 * DELAY));
        prop_assert!(net.run(3000.0));
        let held = net.held();
        prop_assert_eq!(held.iter().collect::<BTreeSet<_>>().len(), held.len());
        prop_assert_eq!(releases(&net) as u64, net.records.iter().sum::<u64>());
        prop_assert!(releases(&net) <= held.len());
        // A network that repeats messages hundreds of hops later looks like a peer that replays them.
        let fault = |event: &RunEvent| matches!(event, RunEvent::PeerFault { fault, .. } if *fault != FaultKind::Replay);
        prop_assert_eq!(net.count(fault), 0);
    }
}

#[test]
fn a_token_survives_when_all_crash_at_once_whenever_that_is() {
    // A hop takes 5.5 ms: a crash in every state that a token can be in.
    for crash in 1..60 {
        let mut net = round_trip(20);
        assert!(!net.run(f64::from(crash) * 0.7e-3));
        net.crash_all();
        (0..6).for_each(|node| net.revive(node));
        assert!(net.run(600.0), "the token is lost after a crash at {crash}");
        assert!(releases(&net) > 20, "every hop has its contribution");
    }
}

#[test]
fn who_sent_a_token_that_cannot_be_is_not_believed_again() {
    let mut net = net(vec![3]);
    let token = |net: &Net, hop, values: &[f32]| {
        net.with_numbers(0, 0, Say::Token(Name { token: 0, hop, generation: 9 }), values)
    };
    let (bad, good) = (token(&net, 2, &[1e6; 2]), token(&net, 2, &[1.0; 2]));
    net.inject(1, 0, bad);
    net.inject(1, 0, good.clone());
    assert!(net.held().is_empty() && net.sent.is_empty());
    net.inject(2, 0, good);
    assert_eq!(net.held().len(), 1, "another may bring it");
}
