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
