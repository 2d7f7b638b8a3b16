//! Gossip and `mean`, driven by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]

mod harness;

use std::sync::Arc;

use harness::{DELAY, Net, chance, cycle, gossip, graph, release, settings};
use privacy::event::DpEvent;
use proptest::prelude::*;
use protocol::account::Price;
use protocol::gossip::Say;
use protocol::work::Computed;
use protocol::{
    Algorithm, Body, BudgetRule, FaultKind, GossipSettings, Input, Node, Numbers, Output, PeerIx, RunEvent,
    RunId, Scope, Settings, Time,
};
use topology::schedule::RunKey;
use topology::{Chebyshev, MixingMatrix, Schedule};

fn value(node: PeerIx) -> Vec<f32> {
    vec![(node * node) as f32, -1.5 * node as f32, 0.1]
}

fn mean_of(nodes: u32) -> Vec<f64> {
    let sum = |at: usize| (0..nodes).map(|node| f64::from(value(node)[at])).sum::<f64>();
    (0..3).map(|at| sum(at) / f64::from(nodes)).collect()
}

fn mean_settings(gossip: GossipSettings) -> Settings {
    let nodes = match &*gossip.schedule {
        Schedule::Fixed { graph, .. } => graph.nodes(),
        _ => 6,
    };
    settings(nodes, 1, vec![0.0; 3], Algorithm::Gossip(gossip))
}

fn mean_net(gossip: GossipSettings) -> Net {
    Net::new(mean_settings(gossip), |node, _| value(node))
}

/// A path 0 – 1 – 2 with so many steps.
fn path(steps: usize) -> (GossipSettings, Arc<MixingMatrix>) {
    gossip(graph(3, &[(0, 1), (1, 2)]), steps)
}

/// What the recurrence gives in double precision, from the matrix alone.
fn expected(matrix: &MixingMatrix, omegas: &[f64], steps: usize) -> Vec<Vec<f64>> {
    let nodes = matrix.nodes();
    let mut states = vec![vec![0.0; 3]; nodes];
    for at in 0..3 {
        let mut now: Vec<f64> = (0..nodes).map(|node| f64::from(value(node as u32)[at])).collect();
        let mut before = now.clone();
        for step in 0..steps {
            let omega = omegas.get(step).copied().unwrap_or(1.0);
            let mut mixed = vec![0.0; nodes];
            matrix.apply(&now, &mut mixed);
            let next = mixed.iter().zip(&before).map(|(m, b)| omega * m + (1.0 - omega) * b).collect();
            before = std::mem::replace(&mut now, next);
        }
        states.iter_mut().zip(now).for_each(|(state, now)| state[at] = now);
    }
    states
}

fn assert_close(models: &[Vec<f32>], expected: &[Vec<f64>], tolerance: f64) {
    for (node, (model, expected)) in models.iter().zip(expected).enumerate() {
        for (value, expected) in model.iter().zip(expected) {
            let error = (f64::from(*value) - expected).abs();
            assert!(error <= tolerance, "node {node}: {value} instead of {expected}");
        }
    }
}

#[test]
fn averaging_on_a_connected_graph_converges_to_the_mean() {
    // Eigenvalues of a cycle of nine are (1 + 2 cos(2πk/9))/3 ≤ 0.844: 0.844^200 is below 1e-14.
    let mut net = mean_net(gossip(cycle(9), 200).0);
    assert!(net.run(10.0));
    assert_close(&net.models(), &vec![mean_of(9); 9], 1e-4);
    assert!((0..9).all(|node| net.mixed(node) == [(0, vec![], vec![])]), "nothing was missing");
}

#[test]
fn plain_and_accelerated_steps_follow_their_recurrence_and_preserve_the_mean() {
    for accelerated in [false, true] {
        let (mut gossip, matrix) = gossip(cycle(9), 7);
        let omegas = Chebyshev::new(1.0 - 0.844).unwrap().coefficients(7);
        if accelerated {
            gossip.accelerate = omegas.clone().into();
        }
        let mut net = mean_net(gossip);
        assert!(net.run(10.0));
        let omegas = if accelerated { &omegas[..] } else { &[] };
        assert_close(&net.models(), &expected(&matrix, omegas, 7), 5e-5);
        for (at, mean) in mean_of(9).into_iter().enumerate() {
            let sum: f64 = net.models().iter().map(|model| f64::from(model[at])).sum();
            // Seven roundings of numbers below 128, half an ulp each, at nine nodes.
            assert!((sum / 9.0 - mean).abs() <= 7.0 * 128.0 * f64::from(f32::EPSILON), "{accelerated}");
        }
    }
}

#[test]
fn schedules_with_roles_end_where_their_matrices_lead() {
    let matching = Schedule::RandomMatching { graph: None, key: RunKey::new("roles"), steps: 5 };
    for schedule in [Schedule::Doubling, matching].map(Arc::new) {
        let mut net = mean_net(GossipSettings::new(schedule.clone(), 6).unwrap());
        assert!(net.run(10.0));
        let mut states: Vec<Vec<f64>> =
            (0..6).map(|n| value(n).into_iter().map(f64::from).collect()).collect();
        for step in schedule.round(0, 6).unwrap().iter() {
            let row = |i: usize| {
                let sum = |at: usize| (0..6).map(|j| step.matrix.weight(i, j) * states[j][at]).sum();
                (0..3).map(sum).collect()
            };
            states = (0..6).map(row).collect();
        }
        assert_close(&net.models(), &states, 1e-4);
        assert!((0..6).all(|node| net.faults(node).is_empty()));
    }
}

#[test]
fn the_weight_of_a_lost_message_returns_to_the_node() {
    let (gossip, matrix) = path(1);
    let mut net =
        mean_net(gossip).with_fate(|from, to, _| if (from, to) == (2, 1) { vec![] } else { vec![DELAY] });
    assert!(net.run(60.0));
    assert_eq!(net.mixed(1), [(0, vec![(0, 2)], vec![])]);
    for at in 0..3 {
        let (own, other) = (f64::from(value(1)[at]), f64::from(value(0)[at]));
        let expected = matrix.weight(1, 0) * other + (matrix.weight(1, 1) + matrix.weight(1, 2)) * own;
        assert!((f64::from(net.models()[1][at]) - expected).abs() < 1e-6);
    }
}

#[test]
fn a_dead_neighbour_costs_its_deadline_once() {
    let mut net = mean_net(path(11).0);
    net.crashed.insert(2);
    assert!(net.run(60.0));
    let timeouts = net.settings.timeouts;
    assert_eq!(net.mixed(1)[0].1.len(), 11);
    let slack = 50 * DELAY;
    assert!(net.now.0 <= timeouts.silence + 10 * timeouts.resend + slack, "{:?}", net.now);
    assert!(net.now.0 >= timeouts.silence);
}

#[test]
fn a_message_that_was_overtaken_by_a_later_one_is_not_waited_for_at_length() {
    let mut net = mean_net(path(5).0).with_fate(|from, to, message| {
        if (from, to, message.step) == (0, 1, 1) { vec![] } else { vec![DELAY] }
    });
    assert!(net.run(60.0));
    assert_eq!(net.mixed(1)[0].1, [(1, 0)]);
    assert!(net.now.0 < 2 * net.settings.timeouts.resend, "{:?}", net.now);
}

#[test]
fn a_peer_that_is_heard_again_is_waited_for_at_length() {
    // Nothing after the last step shows that its message is lost.
    let mut net = mean_net(path(3).0).with_fate(|from, to, message| {
        if (from, to) == (0, 1) && message.step != 1 { vec![] } else { vec![DELAY] }
    });
    assert!(net.run(60.0));
    assert_eq!(net.mixed(1)[0].1, [(0, 0), (2, 0)]);
    assert!(net.now.0 > net.settings.timeouts.silence, "{:?}", net.now);
}

#[test]
fn late_messages_are_logged_as_seen_and_change_nothing() {
    let slow = |steps| {
        mean_net(path(steps).0).with_fate(|from, to, message| {
            let late = (from, to, message.step) == (0, 1, 0);
            vec![if late { 30_000_000 } else { DELAY }]
        })
    };
    let mut net = slow(1);
    assert!(net.run(60.0));
    let model = net.models();
    net.inject(0, 1, net.state(0, 0, &value(0)));
    net.inject(0, 1, net.state(0, 0, &value(0)));
    assert_eq!(net.mixed(1), [(0, vec![(0, 0)], vec![]), (1, vec![], vec![(0, 0, 0)])], "once");
    assert_eq!(net.models(), model);
    // Within a run it is listed by the next line. Node 1 mixes at 3.5 ms and knows soon that node 0 is beyond that; it gives the message up
    // 250 ms later and contributes for 3.5 ms more.
    let (mut gossip, _) = path(1);
    gossip.train = true;
    let all = settings(3, 2, vec![0.0; 3], Algorithm::Gossip(gossip));
    let mut net = Net::new(all, |node, _| value(node)).with_fate(|from, to, message| {
        vec![if (from, to, message.round) == (0, 1, 0) { 251_500 } else { DELAY }]
    });
    assert!(net.run(60.0));
    assert_eq!(net.mixed(1), [(0, vec![(0, 0)], vec![]), (1, vec![], vec![(0, 0, 0)])]);
}

#[test]
fn the_order_of_arrival_does_not_change_a_bit() {
    let run = |factor: u64| {
        let mut net = mean_net(gossip(cycle(7), 6).0).with_fate(move |from, to, message| {
            vec![DELAY + (u64::from(from * 31 + to * 17 + message.step * 7) * factor) % 977]
        });
        assert!(net.run(10.0));
        net.models()
    };
    let bits = |models: Vec<Vec<f32>>| -> Vec<u32> { models.iter().flatten().map(|x| x.to_bits()).collect() };
    let first = bits(run(0));
    assert!((1..20).all(|factor| bits(run(factor * 131)) == first));
}

#[test]
fn bad_messages_are_faults_of_their_sender_which_is_left_out() {
    let clean = {
        let mut net = mean_net(gossip(cycle(5), 3).0);
        assert!(net.run(10.0));
        net.models()
    };
    let mut net = mean_net(gossip(cycle(5), 3).0);
    let good = net.state(0, 1, &value(1));
    let mut foreign = good.clone();
    foreign.run = RunId(8);
    let faults = [
        (1, foreign, FaultKind::WrongRun),
        (0, good.clone(), FaultKind::WrongSender),
        (9, good.clone(), FaultKind::WrongSender),
        (2, good.clone(), FaultKind::WrongSender),
        (1, net.state(0, 1, &[1.0, f32::NAN, 0.0]), FaultKind::NotFinite),
        (1, net.state(0, 1, &[1.0; 4]), FaultKind::WrongLength),
        (1, net.state(0, 3, &value(1)), FaultKind::WrongRound),
        (1, net.state(1, 0, &value(1)), FaultKind::WrongRound),
        (1, net.state(0, 1, &[1e4; 3]), FaultKind::TooLarge),
        (1, net.message(0, 0, Body::Nudge), FaultKind::WrongKind),
        (1, net.with_words(0, 1, Say::State), FaultKind::WrongKind),
    ];
    for (from, message, _) in faults.clone() {
        net.inject(from, 0, message);
    }
    assert_eq!(net.faults(0), faults.map(|(from, _, fault)| (from, fault)));
    let before = net.now;
    assert!(net.run(10.0));
    // Node 1 has sent what nobody honest sends, as far as node 0 knows: it is left out there, and nobody waits for it.
    assert_eq!(net.mixed(0), [(0, vec![(0, 1), (1, 1), (2, 1)], vec![])]);
    assert!((1..5).all(|node| net.mixed(node) == [(0, vec![], vec![])]));
    assert!(net.now.0 - before.0 < net.settings.timeouts.resend, "{:?}", net.now);
    assert_ne!(net.models()[0], clean[0]);
}

#[test]
fn early_messages_are_kept_and_a_second_version_is_a_contradiction() {
    let mut net = mean_net(path(2).0);
    let first = net.state(0, 1, &[1.0; 3]);
    net.inject(1, 0, first.clone());
    net.inject(1, 0, first);
    assert_eq!(net.faults(0), []);
    net.inject(1, 0, net.state(0, 1, &[2.0; 3]));
    assert_eq!(net.faults(0), [(1, FaultKind::Contradiction)]);
    // The first version is the one that is mixed, and the neighbour's true message is the contradiction.
    assert!(net.run(10.0));
    let (_, matrix) = path(2);
    let mut half = vec![0.0; 3];
    matrix.apply(&[0.0, 1.0, 4.0], &mut half);
    let expected = matrix.weight(0, 0) * half[0] + matrix.weight(0, 1) * 1.0;
    assert!((f64::from(net.models()[0][0]) - expected).abs() < 1e-6);
}

#[test]
fn nobody_is_believed_to_be_more_than_two_rounds_ahead() {
    let (mut gossip, _) = gossip(cycle(5), 2);
    gossip.train = true;
    let all = settings(5, 9, vec![0.0; 3], Algorithm::Gossip(gossip));
    let mut net = Net::new(all, |node, _| value(node));
    net.inject(1, 0, net.state(2, 0, &value(1)));
    assert_eq!(net.faults(0), []);
    net.inject(1, 0, net.state(2, 1, &value(1)));
    assert_eq!(net.faults(0), [(1, FaultKind::WrongRound)]);
}

#[test]
fn nothing_is_sent_before_the_record_is_durable() {
    let all = Arc::new(mean_settings(path(1).0));
    let mut node = Node::new(0, all, None);
    let mut step = |input| {
        node.handle(Time(0), input);
        std::iter::from_fn(|| node.poll_output()).collect::<Vec<_>>()
    };
    assert!(matches!(step(Input::Start)[..], [Output::Compute(_)]));
    let computed = Computed {
        round: 0,
        contribution: release(value(0)).into(),
        release: DpEvent::NonPrivate,
        loss: None,
    };
    assert!(matches!(step(Input::Computed(computed))[..], [Output::Record(_)]));
    assert!(step(Input::Recorded(5)).is_empty(), "a record that nobody asked for");
    let sent = step(Input::Recorded(0));
    let [Output::Log(event), Output::Send { to, .. }] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(**to, [1]);
    assert!(matches!(**event, RunEvent::Released { .. }), "{event:?}");
}

#[test]
fn training_takes_a_step_at_the_own_state_and_then_mixes() {
    let (mut gossip, matrix) = path(1);
    gossip.train = true;
    let all = settings(3, 2, vec![1.0, 2.0, 3.0], Algorithm::Gossip(gossip));
    // The gradient of ‖θ − c‖²/2 with c = 10·node.
    let mut net = Net::new(all, |node, job| {
        job.params.as_slice().iter().map(|param| param - 10.0 * node as f32).collect()
    });
    assert!(net.run(10.0));
    let mut states: Vec<Vec<f64>> = vec![vec![1.0, 2.0, 3.0]; 3];
    for _ in 0..2 {
        let moved = |i: usize, at: usize| states[i][at] - 0.5 * (states[i][at] - 10.0 * i as f64);
        let row =
            |i: usize| (0..3).map(|at| (0..3).map(|j| matrix.weight(i, j) * moved(j, at)).sum()).collect();
        states = (0..3).map(row).collect();
    }
    assert_close(&net.models(), &states, 1e-5);
    assert_eq!(net.count(|event| matches!(event, RunEvent::Released { .. })), 6);
}

#[test]
fn a_node_without_budget_goes_on_mixing_and_adds_nothing() {
    let (gossip, matrix) = path(1);
    let mut all = mean_settings(gossip);
    let price = Price::Gaussian { noise_multiplier: 1.0 };
    all.budget = vec![BudgetRule { scope: Scope::Local, limit: 0.5, price, name: "nothing".into() }];
    let mut net = Net::new(all, |node, _| value(node));
    assert!(net.run(10.0));
    assert_eq!(net.count(|event| matches!(event, RunEvent::Refused { round: 0, .. })), 3);
    assert_eq!(net.computed, [0, 0, 0]);
    assert_eq!(net.models(), vec![vec![0.0; 3]; 3]);
    assert!(matrix.is_symmetric());
}

#[test]
fn message_noise_is_fresh_for_each_receiver_and_the_sender_keeps_its_value() {
    let (mut gossip, matrix) = path(1);
    gossip.message_noise = 0.5;
    let mut net = mean_net(gossip);
    assert!(net.run(10.0));
    let of = |from: u32, to: u32| {
        let message = net.sent.iter().find(|sent| (sent.0, sent.1) == (from, to)).expect("it was sent");
        message.2.numbers.as_ref().and_then(Numbers::reals).unwrap().as_slice().to_vec()
    };
    assert_ne!(of(1, 0), of(1, 2));
    assert_ne!(of(1, 0), value(1));
    // Node 0 mixes its clean value with the noisy one of node 1.
    for at in 0..3 {
        let expected =
            matrix.weight(0, 0) * f64::from(value(0)[at]) + matrix.weight(0, 1) * f64::from(of(1, 0)[at]);
        assert!((f64::from(net.models()[0][at]) - expected).abs() < 1e-6);
    }
}

fn training(rounds: u32) -> Net {
    let (mut gossip, _) = gossip(cycle(5), 2);
    gossip.train = true;
    let all = settings(5, rounds, vec![0.0; 3], Algorithm::Gossip(gossip));
    Net::new(all, |node, _| value(node))
}

#[test]
fn a_node_that_comes_back_joins_the_others_where_they_are() {
    let mut net = training(60);
    net.run(0.05);
    net.crashed.insert(3);
    let saved = net.saved[3].clone().expect("it was saved");
    assert!(saved.round > 2);
    // The others wait for its silence once, then half a second a round.
    net.run(15.0);
    let others = net.nodes[2].round();
    assert!(others > saved.round + 3);
    net.revive(3);
    assert_eq!(net.nodes[3].model(), saved.model.as_slice(), "its own state");
    assert!(net.run(60.0));
    let rounds: Vec<u32> = net.mixed(3).iter().map(|line| line.0).collect();
    assert!(rounds.windows(2).any(|pair| pair[1] >= others), "{rounds:?}");
    assert_eq!(rounds.last(), Some(&59));
    let last = net.mixed(2).last().unwrap().clone();
    assert_eq!(last.1, [], "its neighbours hear it again");
}

#[test]
fn a_node_that_slept_jumps_when_most_neighbours_are_far_ahead_and_not_for_one() {
    let mut net = training(60);
    net.run(0.000_1);
    net.inject(1, 0, net.state(40, 0, &value(1)));
    assert_eq!(net.nodes[0].round(), 0, "one of two is not most");
    net.inject(4, 0, net.state(30, 1, &value(1)));
    assert_eq!(net.nodes[0].round(), 31, "the lower median, and its first step is over");
}

#[test]
fn a_contribution_that_may_be_on_disk_is_charged_when_the_node_jumps() {
    let (mut gossip, _) = path(1);
    gossip.train = true;
    let mut all = settings(3, 9, vec![0.0; 3], Algorithm::Gossip(gossip));
    let price = Price::Gaussian { noise_multiplier: 1.0 };
    all.budget = vec![BudgetRule { scope: Scope::Local, limit: 4.0, price, name: "four".into() }];
    let mut net = Net::new(all, |node, _| value(node));
    // Contributions are computed at 3 ms and durable half a millisecond later.
    net.run(0.003_2);
    assert_eq!((net.records[0], net.nodes[0].spent()[0]), (1, 0.0));
    net.inject(1, 0, net.state(5, 0, &value(1)));
    assert_eq!(net.nodes[0].round(), 5, "its only neighbour is there");
    assert!((net.nodes[0].spent()[0] - 0.25).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The harness panics if a contribution leaves before its record; every node ends whatever is lost.
    #[test]
    fn loss_and_repetition_end_in_order(seed in any::<u64>(), loss in 0_u64..60, twice in 0_u64..60) {
        let mut net = training(4).with_fate(chance(seed, (loss, twice), 5 * DELAY));
        prop_assert!(net.run(1000.0));
        prop_assert!(net.nodes.iter().all(|node| node.model().iter().all(|value| value.is_finite())));
        // With every second message lost an honest node may get far ahead of another: nothing else may be held against it.
        let accused = |event: &RunEvent| {
            matches!(event, RunEvent::PeerFault { fault, .. } if !matches!(fault, FaultKind::WrongRound | FaultKind::Replay))
        };
        prop_assert_eq!(net.count(accused), 0);
        prop_assert_eq!(&net.computed, &net.records.iter().map(|&records| records as u32).collect::<Vec<_>>());
    }
}
