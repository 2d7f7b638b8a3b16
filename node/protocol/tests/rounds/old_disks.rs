//! Old disks: a folder that is restored together with everything that counts its records, and reserves that nobody holds.

use protocol::agreement::{self, block_of, first_block};

use super::*;

const ROUNDS: u32 = 300;

fn counted() -> Settings {
    let mut settings = settings(4, ROUNDS);
    settings.budget =
        vec![BudgetRule { scope: Scope::Local, limit: 1e6, price: Price::Releases, name: "all".into() }];
    settings
}

fn released(swarm: &Swarm, node: PeerIx) -> u64 {
    let of_it = |(at, event): &&(PeerIx, RunEvent)| *at == node && matches!(event, RunEvent::Released { .. });
    swarm.log.iter().filter(of_it).count() as u64
}

fn spent(swarm: &Swarm, node: usize) -> u64 {
    (swarm.nodes[node].as_ref().unwrap().spent()[0] * 1e6).round() as u64
}

fn run_to(swarm: &mut Swarm, node: usize, records: u64) {
    while swarm.records[node] < records {
        swarm.run_until(swarm.now + 1_000);
    }
}

/// Nothing on this node's side knows of what was forgotten: a backup of folder and count. What the others hold of it does.
#[test]
fn a_folder_restored_together_with_its_count_is_noticed_and_charged_up_to_its_reserve() {
    let mut swarm = Swarm::new(counted());
    run_to(&mut swarm, 1, 30);
    let backup = (swarm.saved[1].clone(), swarm.records[1]);
    run_to(&mut swarm, 1, 90);
    swarm.crash(1);
    let real = swarm.records[1];
    (swarm.saved[1], swarm.records[1]) = backup;
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let again = released(&swarm, 1) - real;
    assert!(again > 100, "it takes part again: {again} contributions after its return");
    let (charged, least) = (swarm.records[1], real + again);
    let block = block_of(ROUNDS) + first_block(ROUNDS);
    assert!((least..=least + block).contains(&charged), "{charged} records, {least} contributions");
    assert!((least..=least + block).contains(&spent(&swarm, 1)), "{} spent of {least}", spent(&swarm, 1));
    // It had signed what it forgot, and was silent until the next decision: nobody can prove anything against it.
    assert_eq!(swarm.count(|event| matches!(event, RunEvent::PeerFault { fault: FaultKind::Proven, .. })), 0);
}

/// The disk is the last one: a restart costs nothing but what was under way.
#[test]
fn who_comes_back_from_its_own_disk_forgets_nothing() {
    let mut swarm = Swarm::new(counted());
    for records in [30, 60, 61, 90] {
        run_to(&mut swarm, 1, records);
        swarm.crash(1);
        swarm.run_until(swarm.now + 30_000);
        swarm.come_back(1);
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let (records, released) = (swarm.records[1], released(&swarm, 1));
    assert!(released >= 90, "{released}");
    assert!(records - released <= 4, "{records} records, {released} released, 4 crashes");
    assert!((records..=records + 4).contains(&spent(&swarm, 1)), "{} spent of {records}", spent(&swarm, 1));
}

#[test]
fn who_is_not_heard_to_reserve_adds_no_data_and_holds_nobody_up() {
    let mut swarm = Swarm::new(settings(4, 40));
    swarm.fate = Box::new(|_, from, _, message| {
        let Body::Rounds(Say::Agreement(said)) = &message.body else { return true };
        from != 2 || !matches!(*said.0, agreement::Message::Reserve(_))
    });
    // It waits once: 40 rounds of a few milliseconds, the agreement at the end, and one silence.
    let silence = swarm.settings.timeouts.silence;
    while !swarm.nodes.iter().flatten().all(Node::is_done) {
        swarm.run_until(swarm.now + 10_000);
        assert!(swarm.now < 4 * silence, "{} of silence {silence}", swarm.now);
    }
    swarm.assert_all_done_and_equal(0..4);
    let records: Vec<u64> = swarm.records.clone();
    assert_eq!(records, [40, 40, first_block(40), 40]);
    let refused =
        |event: &RunEvent| matches!(event, RunEvent::Refused { reason, .. } if reason.contains("reserve"));
    assert_eq!(swarm.count(refused) as u64, 40 - first_block(40));
}

/// What a node has reserved, as its disk says.
fn own_reserve(swarm: &Swarm, node: u32) -> u64 {
    let held = &swarm.saved[node as usize].as_ref().unwrap().reserves.held;
    held.iter().find(|held| held.by == node).map_or(0, |held| held.records)
}

/// A backup so young that the reserve is still the same: how many records were made since, and whether anything vouches for the disk.
#[test]
fn a_folder_restored_within_its_reserve_is_known_by_what_the_others_saw() {
    for (lost, unsure) in [(3, false), (20, false), (1, true), (2, true)] {
        let mut settings = counted();
        settings.rounds = 6_400;
        let mut swarm = Swarm::new(settings);
        // Just after a block was asked for: the next is more than sixty records away.
        run_to(&mut swarm, 1, 100);
        let before = own_reserve(&swarm, 1);
        while own_reserve(&swarm, 1) == before {
            swarm.run_until(swarm.now + 100);
        }
        let backup = (swarm.saved[1].clone(), swarm.records[1]);
        let reserve = own_reserve(&swarm, 1);
        let kept = swarm.records[1];
        run_to(&mut swarm, 1, kept + lost);
        swarm.crash(1);
        assert_eq!(own_reserve(&swarm, 1), reserve, "the reserve has not changed");
        let real = swarm.records[1];
        (swarm.saved[1], swarm.records[1]) = backup;
        if unsure {
            swarm.come_back_with(1, protocol::Disk::Unsure);
        } else {
            swarm.come_back(1);
        }
        let before = released(&swarm, 1);
        while released(&swarm, 1) < before + 10 {
            swarm.run_until(swarm.now + 1_000);
        }
        let again = released(&swarm, 1) - real;
        let charged = swarm.records[1] - again;
        assert!((real..=real + 3).contains(&charged), "{charged} charged, {real} made, {kept} kept");
        let in_budget = spent(&swarm, 1) - again;
        // Up to two rounds are not settled.
        assert!((real - 2..=real + 5).contains(&in_budget), "{in_budget} in the budget of {real}");
        let proven =
            swarm.count(|event| matches!(event, RunEvent::PeerFault { fault: FaultKind::Proven, .. }));
        assert_eq!(proven, 0, "it signed nothing twice");
    }
}

/// One of four says that it saw the node two hundred rounds later: that is no reason to charge anything, and where the disk is old it is one voice of three.
#[test]
fn a_liar_about_what_it_saw_costs_nothing() {
    let mut swarm = Swarm::new(counted());
    swarm.fate = Box::new(|_, from, _, message| {
        if from == 3
            && let Body::Rounds(Say::Agreement(said)) = &mut message.body
            && let agreement::Message::ReserveHeld(held) = &*said.0
        {
            let seen = agreement::Seen { begun: 1 << 30, done: 1 << 30 };
            let lie = agreement::Message::ReserveHeld(agreement::ReserveHeld { seen, ..*held });
            *said = Agreed(Arc::new(lie));
        }
        true
    });
    for records in [30, 60, 90] {
        run_to(&mut swarm, 1, records);
        swarm.crash(1);
        swarm.run_until(swarm.now + 30_000);
        swarm.come_back(1);
    }
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let (records, released) = (swarm.records[1], released(&swarm, 1));
    assert!(records - released <= 3, "{records} records, {released} released, 3 crashes");
}

/// Who adds nothing makes no record with which its place would be on disk: it is not taken for an old disk when it comes back.
#[test]
fn a_node_whose_budget_is_spent_comes_back_as_it_was() {
    let mut settings = counted();
    settings.budget[0].limit = 40.0;
    let mut swarm = Swarm::new(settings);
    // That it rests for good is on disk; what comes after is not.
    let rests = |swarm: &Swarm| swarm.saved[1].clone().filter(|saved| saved.reserves.idle == u32::MAX);
    let promised = loop {
        swarm.run_until(swarm.now + 100);
        if let Some(saved) = rests(&swarm) {
            break saved;
        }
    };
    swarm.run_until(swarm.now + 200_000);
    let (records, spent_before) = (swarm.records[1], spent(&swarm, 1));
    assert!((30..=40).contains(&records), "{records}");
    swarm.saved[1] = Some(promised);
    swarm.crash(1);
    swarm.run_until(swarm.now + 30_000);
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!((swarm.records[1], spent(&swarm, 1)), (records, spent_before));
}

/// It was away while the others made rounds, has a seat again, and is killed before its first record is on disk: what the others did without it, it has not forgotten.
#[test]
fn who_is_killed_again_before_its_first_record_is_not_taken_for_an_old_disk() {
    let mut swarm = Swarm::new(counted());
    run_to(&mut swarm, 1, 30);
    swarm.crash(1);
    swarm.run_until(swarm.now + 500_000);
    assert!(swarm.records[0] > 60, "the others go on");
    swarm.come_back(1);
    let saved = |swarm: &Swarm| swarm.saved[1].clone().expect("it has saved something");
    let before = saved(&swarm);
    let has_seat = |now: &Snapshot| now.epoch > before.epoch && now.members.contains(&1);
    while !has_seat(&saved(&swarm)) {
        swarm.run_until(swarm.now + 20);
    }
    // The decision is on disk; that a round began would be with its record.
    let records = swarm.records[1];
    assert_eq!(records, 30);
    swarm.crash(1);
    swarm.saved[1] = Some(Snapshot { round: before.round, ..saved(&swarm) });
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let (records, released) = (swarm.records[1], released(&swarm, 1));
    assert!(released > 100 && records - released <= 2, "{records} records, {released} released");
}

#[test]
fn a_whole_swarm_that_was_restarted_goes_on_from_what_it_saved() {
    let mut swarm = Swarm::new(settings(4, 40));
    swarm.run_until(30_000);
    (0..4).for_each(|node| swarm.crash(node));
    let before = swarm.count(|event| matches!(event, RunEvent::RoundDone { .. }));
    assert!(before > 4);
    (0..4).for_each(|node| swarm.come_back(node));
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
}
