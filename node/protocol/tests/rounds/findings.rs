//! One hostile member among honest ones: what each attack did before decisions were signed, and no longer does.

use super::*;
use protocol::agreement::danger::Liar;
use protocol::agreement::{
    Decision, Fingerprint, Message as Statement, Model, RoundRecord, Trouble, TroubleKind,
};

const MADE_UP: f32 = 666.0;

pub(crate) fn outsiders(swarm: &Swarm, node: PeerIx) -> usize {
    swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if !members.contains(&node)))
}

/// What nodes 0, 1, … end with where nobody disturbs them.
fn undisturbed(nodes: usize, rounds: u32) -> Vec<u32> {
    let mut swarm = Swarm::new(settings(nodes, rounds));
    swarm.run();
    swarm.model(0)
}

fn agreement(body: &Body) -> Option<&Statement> {
    match body {
        Body::Rounds(Say::Agreement(said)) => Some(&said.0),
        _ => None,
    }
}

fn say(message: Statement) -> Message {
    said(0, Say::Agreement(Agreed(Arc::new(message))).into())
}

/// C1: a final model is taken by the digest of a decision only.
#[test]
fn a_forged_final_model_changes_nothing() {
    let mut swarm = Swarm::new(settings(4, 30));
    for at in (10_000..200_000).step_by(10_000) {
        for to in 0..3 {
            let mut forged = said(0, Say::Model { version: 30 }.into());
            replace_values(&mut forged, vec![MADE_UP, MADE_UP]);
            swarm.push(at, to, Input::Received { from: 3, message: forged });
        }
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!(swarm.model(0), undisturbed(4, 30));
}

/// C2: a decision counts by the signatures of a quorum, whoever sends it.
#[test]
fn a_forged_decision_changes_nothing_and_names_who_sent_it() {
    let mut swarm = Swarm::new(settings(4, 30));
    let liar = Liar::new(&swarm.settings, 3);
    let genesis = liar.charter().genesis();
    let alone = genesis.seats.iter().copied().filter(|seat| seat.member == 3).collect();
    let made_up = Model { version: 30, digest: Fingerprint::of_model(&[MADE_UP, MADE_UP]) };
    let roster = Decision { epoch: 1, seats: alone, ..(*genesis).clone() };
    let model = Decision { epoch: 1, model: made_up, ..(*genesis).clone() };
    let far = Decision { epoch: 1 << 30, model: made_up, ..(*genesis).clone() };
    for (at, decision) in [(10_000, roster), (20_000, model), (30_000, far)] {
        for to in 0..3 {
            let message = say(liar.decided(decision.clone()));
            swarm.push(at, to, Input::Received { from: 3, message });
        }
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!(swarm.model(0), undisturbed(4, 30));
    let named = |event: &RunEvent| {
        matches!(event, RunEvent::PeerFault { peer: 3, fault: FaultKind::BadSignature, .. })
    };
    assert!(swarm.count(named) >= 3);
}

/// C3: what one member says that it holds is not what all go on from.
#[test]
fn a_lie_about_the_newest_model_changes_nothing() {
    let mut swarm = Swarm::new(settings(5, 40));
    let liar = Liar::new(&swarm.settings, 4);
    swarm.fate = Box::new(move |_, from, _, message| {
        let lie = |standing: &mut protocol::agreement::Standing| {
            standing.model = Model { version: 40, digest: Fingerprint::of_model(&[MADE_UP, MADE_UP]) };
        };
        if from == 4
            && let Some(lie) = agreement(&message.body).and_then(|said| liar.standing(said, lie))
        {
            message.body = Say::Agreement(Agreed(Arc::new(lie))).into();
        }
        true
    });
    swarm.run_until(20_000);
    swarm.crash(1);
    swarm.run_until(25_000);
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let model: Vec<f32> = swarm.model(0).into_iter().map(f32::from_bits).collect();
    assert!(model[0] < 4.0 && (model[1] - 1.0).abs() < 0.01, "{model:?}");
    let done = swarm.count(|event| matches!(event, RunEvent::RoundDone { .. }));
    assert!(done >= 40 * 4, "all rounds were made: {done}");
}

/// C4: a sum of nothing is zeros, and whoever passed on what an attacker sent is not the one to pay.
#[test]
fn a_count_of_nothing_with_numbers_costs_its_sender_the_seat_and_nobody_else() {
    for size in [1e6, 0.05] {
        let mut swarm = Swarm::new(settings(7, 40));
        swarm.fate = Box::new(move |_, from, _, message| {
            if from == 6
                && let Body::Rounds(Say::Sum(sum)) = &mut message.body
            {
                sum.count = 0;
                replace_values(message, vec![size, size]);
            }
            true
        });
        swarm.run();
        swarm.assert_all_done_and_equal(0..6);
        let model: Vec<f32> = swarm.model(0).into_iter().map(f32::from_bits).collect();
        // The honest mean is 2.5; with the attacker's own contribution at most 3.
        assert!((2.4..=3.1).contains(&model[0]) && (model[1] - 1.0).abs() < 0.1, "{size}: {model:?}");
        for honest in 0..6 {
            assert_eq!(outsiders(&swarm, honest), 0, "{size}: node {honest}");
        }
        let others = |event: &RunEvent| matches!(event, RunEvent::PeerFault { peer, fault: FaultKind::TooLarge, .. } if *peer != 6);
        assert_eq!(swarm.count(others), 0, "{size}");
    }
}

/// H1: how old a run is has nothing to do with how long its members wait for each other.
#[test]
fn in_an_old_run_a_majority_goes_on_and_fewer_wait_until_enough_are_back() {
    let run = |hostile: u32| {
        let mut settings = settings(5, 1_200);
        settings.hostile = hostile;
        // Younger than the run is when two die.
        settings.timeouts.give_up = 2_000_000;
        let mut swarm = Swarm::new(settings);
        swarm.run_until(3_000_000);
        assert!(swarm.nodes.iter().flatten().all(|node| !node.is_done()));
        swarm.crash(3);
        swarm.crash(4);
        let before = swarm.nodes[0].as_ref().unwrap().round();
        swarm.run_until(4_500_000);
        let went_on = swarm.nodes[0].as_ref().unwrap().round() > before + 10;
        (swarm, went_on)
    };
    let (swarm, went_on) = run(0);
    assert!(went_on, "three of five are a majority");
    assert!(swarm.nodes.iter().flatten().all(|node| !node.is_done() || node.has_reached_the_end()));
    let (mut swarm, went_on) = run(1);
    assert!(!went_on, "four of five are needed where one may be hostile");
    let named = |event: &RunEvent| matches!(event, RunEvent::Waiting { missing } if *missing == [3, 4]);
    assert!(swarm.count(named) >= 3, "who is missing is named");
    swarm.come_back(3);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
}

/// M1: who gives up has not reached the end, and says so.
#[test]
fn to_give_up_is_not_to_finish() {
    let mut swarm = Swarm::new(settings(4, 4_000));
    swarm.run_until(100_000);
    swarm.crash(2);
    swarm.crash(3);
    swarm.run();
    for node in [0, 1] {
        let node = swarm.nodes[node].as_ref().unwrap();
        assert!(node.is_done() && !node.has_reached_the_end());
    }
    let told = |event: &RunEvent| matches!(event, RunEvent::Finished { reason, .. } if reason.contains("2, 3 missing"));
    assert_eq!(swarm.count(told), 2, "{:?}", swarm.log.last());
}

/// H4: no number that a member states moves anything, and calls of one member break nothing.
#[test]
fn high_views_and_epochs_and_lone_calls_stop_nobody() {
    let mut swarm = Swarm::new(settings(4, 200));
    let liar = Liar::new(&swarm.settings, 3);
    let mut standing = None;
    swarm.fate = Box::new(move |_, from, _, message| {
        if from == 3
            && let Some(far) = agreement(&message.body).and_then(|said| liar.turn_in(said, 1 << 30))
        {
            message.body = Say::Agreement(Agreed(Arc::new(far))).into();
        }
        true
    });
    let liar = Liar::new(&swarm.settings, 3);
    let far = Decision { epoch: 1 << 30, ..(*liar.charter().genesis()).clone() };
    // A node that comes back says where it stands: said again and again by somebody who did not go.
    let first = Snapshot::first(&swarm.settings);
    let mut double = Node::new(3, swarm.settings.clone(), None).restored(&first, 0);
    double.handle(Time(0), Input::Start);
    // First it asks what the others hold of it, once that is on its disk.
    double.handle(Time(swarm.settings.timeouts.resend), Input::Tick);
    let reserve = std::iter::from_fn(|| double.poll_output()).find_map(|output| match output {
        Output::Send { message, .. } => match agreement(&message.body)? {
            Statement::Reserve(reserve) => Some(*reserve),
            _ => None,
        },
        _ => None,
    });
    for from in 0..3 {
        let held =
            Statement::ReserveHeld(protocol::agreement::ReserveHeld { reserve, seen: Default::default() });
        double.handle(Time(swarm.settings.timeouts.resend), Input::Received { from, message: say(held) });
    }
    while let Some(output) = double.poll_output() {
        if let Output::Send { message, .. } = output {
            standing.get_or_insert(message);
        }
    }
    let call = standing.expect("who comes back says where it stands");
    for at in (5_000..400_000).step_by(5_000) {
        for to in 0..3 {
            swarm.push(at, to, Input::Received { from: 3, message: call.clone() });
            let message = say(liar.decided(far.clone()));
            swarm.push(at, to, Input::Received { from: 3, message });
            let ask = agreement_ask(1 << 30);
            swarm.push(at, to, Input::Received { from: 3, message: ask });
        }
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..3);
    assert_eq!(swarm.nodes[0].as_ref().unwrap().round(), 200);
    let broken: Vec<u32> = swarm.log.iter().filter_map(|(_, event)| broken_round(event)).collect();
    let rounds: std::collections::BTreeSet<u32> = broken.into_iter().collect();
    assert!(rounds.len() <= 6, "a standing breaks one round of each epoch at most: {rounds:?}");
    for honest in 0..3 {
        assert_eq!(outsiders(&swarm, honest), 0, "node {honest}");
    }
}

fn agreement_ask(epoch: u32) -> Message {
    say(Statement::Ask(protocol::agreement::Ask::Decided(epoch)))
}

fn broken_round(event: &RunEvent) -> Option<u32> {
    match event {
        RunEvent::RoundBroken { round, .. } => Some(*round),
        _ => None,
    }
}

/// H8: who breaks rounds, by different sums or by none, is found and loses its seat; the others' rounds go on.
#[test]
fn who_breaks_rounds_again_and_again_loses_its_seat() {
    type Spoil = fn(PeerIx, &mut Message) -> bool;
    let different: Spoil = |to, message| {
        if let Some(Numbers::Reals(values)) = &message.numbers {
            let changed = values.as_slice().iter().map(|value| value + 0.001 * (to + 1) as f32).collect();
            replace_values(message, changed);
        }
        true
    };
    let silent: Spoil = |_, _| false;
    for (name, spoil) in [("different", different), ("silent", silent)] {
        let mut swarm = Swarm::new(settings(7, 300));
        swarm.fate = Box::new(move |_, from, to, message| {
            let sum = from == 6 && matches!(message.body, Body::Rounds(Say::Sum(_)));
            !sum || spoil(to, message)
        });
        swarm.run();
        swarm.assert_all_done_and_equal(0..6);
        assert!(outsiders(&swarm, 6) > 0, "{name}");
        for honest in 0..6 {
            assert_eq!(outsiders(&swarm, honest), 0, "{name}: node {honest}");
        }
        let broken: std::collections::BTreeSet<u32> =
            swarm.log.iter().filter_map(|(_, event)| broken_round(event)).collect();
        assert!(broken.len() < 40, "{name}: {} of 300 rounds were broken", broken.len());
        let charged = swarm.records[0];
        assert!(charged < 345, "{name}: node 0 contributed {charged} times");
    }
}

/// Where sums are signed, one without a signature proves nothing against who heard it.
#[test]
fn a_sum_without_its_signature_costs_its_sender_the_seat_and_nobody_else() {
    let mut swarm = Swarm::new(settings(7, 200));
    let stripped = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = stripped.clone();
    swarm.fate = Box::new(move |_, from, to, message| {
        if from == 6
            && let Body::Rounds(Say::Sum(sum)) = &mut message.body
        {
            // One lie, and everybody signs.
            let signed = sum.signature.take().is_some();
            count.set(count.get() + usize::from(signed));
            if let Some(Numbers::Reals(values)) = message.numbers.as_ref().filter(|_| signed || to == 0) {
                let changed = values.as_slice().iter().map(|value| value + 0.001 * (to + 1) as f32).collect();
                replace_values(message, changed);
            }
        }
        true
    });
    swarm.run();
    swarm.assert_all_done_and_equal(0..6);
    assert!(stripped.get() > 0, "the first lie made all sign");
    assert!(outsiders(&swarm, 6) > 0);
    for honest in 0..6 {
        assert_eq!(outsiders(&swarm, honest), 0, "node {honest}");
    }
}

/// M9: an accusation costs nobody its seat but an accuser of too many.
#[test]
fn a_false_accusation_costs_an_honest_member_nothing() {
    let mut swarm = Swarm::new(settings(7, 60));
    let liar = Liar::new(&swarm.settings, 6);
    swarm.fate = Box::new(move |_, from, _, message| {
        let accuse = |standing: &mut protocol::agreement::Standing| {
            let round = standing.next_round.saturating_sub(1);
            let trouble = Some(Trouble { kind: TroubleKind::Malformed, with: 0, step: 0 });
            standing.rounds = vec![RoundRecord {
                round,
                steps: Vec::new(),
                total: None,
                trouble,
                opened: None,
                shown: None,
                unproved: Vec::new(),
            }];
        };
        if from == 6
            && let Some(lie) = agreement(&message.body).and_then(|said| liar.standing(said, accuse))
        {
            message.body = Say::Agreement(Agreed(Arc::new(lie))).into();
        }
        true
    });
    for at in [20_000, 60_000] {
        swarm.run_until(at);
        swarm.crash(1);
        swarm.run_until(at + 5_000);
        swarm.come_back(1);
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..6);
    assert_eq!(outsiders(&swarm, 0), 0, "the accused keeps its seat");
}

/// M10: what is forged is not kept, so a flood of it costs no write.
#[test]
fn a_flood_of_forged_statements_is_named_and_not_written() {
    let settings = Arc::new(settings(4, 30));
    let mut node = Node::new(0, settings.clone(), None);
    node.handle(Time(0), Input::Start);
    while node.poll_output().is_some() {}
    let liar = Liar::new(&settings, 3);
    let forged = Decision { epoch: 1, next_round: 9, ..(*liar.charter().genesis()).clone() };
    let message = say(liar.decided(forged));
    let (mut saves, mut sent, mut flood) = (0, 0, 0);
    for at in 0..5_000 {
        node.handle(Time(at), Input::Received { from: 3, message: message.clone() });
        while let Some(output) = node.poll_output() {
            match output {
                Output::Save(_) => saves += 1,
                Output::Send { .. } => sent += 1,
                Output::Log(event) => {
                    let named =
                        matches!(*event, RunEvent::PeerFault { peer: 3, fault: FaultKind::Flood, .. });
                    flood += u32::from(named);
                }
                _ => {}
            }
        }
    }
    assert_eq!((saves, sent, flood), (0, 0, 1));
}

/// Who is sent a decision or comes back after the end gets the result by its digest.
#[test]
fn whoever_comes_back_after_the_end_gets_the_certified_model() {
    let mut swarm = Swarm::new(settings(4, 20));
    swarm.run_until(20_000);
    swarm.crash(2);
    swarm.run();
    swarm.assert_all_done_and_equal([0, 1, 3].into_iter());
    swarm.come_back(2);
    swarm.run_until(swarm.now + 10_000_000);
    swarm.assert_all_done_and_equal(0..4);
    let node = swarm.nodes[2].as_ref().unwrap();
    assert!(node.has_reached_the_end());
    let params: Vec<f32> = node.model().to_vec();
    let terms = Liar::new(&swarm.settings, 0).charter().terms().clone();
    let certificate = node.certificate().unwrap().clone();
    let file = protocol::agreement::DecisionFile { terms, certificate };
    let file = protocol::agreement::DecisionFile::from_bytes(&file.to_bytes()).unwrap();
    assert_eq!(file.verify(&params).unwrap().model.version, 20);
    assert!(file.verify(&[MADE_UP, MADE_UP]).is_err());
    let mut other = file.clone();
    other.terms.hostile = 0;
    assert!(other.verify(&params).is_err(), "the terms are part of what is signed");
}

#[test]
fn who_leaves_takes_its_vote_along() {
    let mut settings = settings(5, 400);
    settings.hostile = 0;
    let mut swarm = Swarm::new(settings);
    swarm.run_until(50_000);
    swarm.push(50_000, 4, Input::Leave);
    swarm.run_until(300_000);
    let left = swarm.nodes[4].as_ref().unwrap();
    assert!(left.is_done() && !left.has_reached_the_end());
    // Four votes are left: of these three decide, so one more may be lost, and then another.
    swarm.crash(3);
    swarm.run_until(1_500_000);
    swarm.crash(2);
    swarm.run();
    swarm.assert_all_done_and_equal(0..2);
    assert!(swarm.nodes[0].as_ref().unwrap().has_reached_the_end());
}
