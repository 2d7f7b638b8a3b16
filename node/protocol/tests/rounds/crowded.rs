//! A member that says more than it has reason to, where honest ones need the room: sums that come before they are needed.

use super::*;

/// Eight meet in three steps: these are nobody's, and look like sums of a round that has not begun.
const STEPS: std::ops::Range<u32> = 3..16;

/// Sums of this round and those about it, again and again.
fn crowd(swarm: &mut Swarm, liar: PeerIx, until: u64) {
    for at in (500..until).step_by(500) {
        // About three milliseconds a round.
        let about = u32::try_from(at / 3_000).expect("a short run");
        let rounds = about.saturating_sub(8)..about + 16;
        for (round, step) in rounds.flat_map(|round| STEPS.map(move |step| (round, step))) {
            let sum = Sum { epoch: 0, count: 1, start: protocol::Digest::of(&[]), signature: None };
            let mut message = said(round, Say::Sum(Box::new(sum)).into());
            message.step = step;
            replace_values(&mut message, vec![1.0, 1.0]);
            for to in (0..swarm.settings.nodes as PeerIx).filter(|&to| to != liar) {
                swarm.push(at, to, Input::Received { from: liar, message: message.clone() });
            }
        }
    }
}

/// When all rounds of eight were over, and whom honest members accused.
fn played(crowded: bool) -> (u64, Vec<PeerIx>) {
    let mut swarm = Swarm::new(settings(8, 30));
    if crowded {
        crowd(&mut swarm, 7, 300_000);
    }
    while !swarm.nodes[..7].iter().flatten().all(Node::is_done) {
        assert!(swarm.now < 60_000_000, "they come to an end");
        swarm.run_until(swarm.now + 1_000);
    }
    swarm.assert_all_done_and_equal(0..7);
    let accused = swarm.log.iter().filter_map(|(node, event)| match event {
        RunEvent::PeerFault { peer, .. } if *node != 7 => Some(*peer),
        _ => None,
    });
    let accused = accused.collect();
    (swarm.now, accused)
}

#[test]
fn sums_that_one_makes_up_take_nobody_elses_room() {
    let ((alone, nobody), (crowded, accused)) = (played(false), played(true));
    assert_eq!(nobody, []);
    assert!(accused.contains(&7) && accused.iter().all(|&peer| peer == 7), "accused: {accused:?}");
    assert!(crowded < alone + alone / 2, "{alone} µs without, {crowded} µs with what one makes up");
}
