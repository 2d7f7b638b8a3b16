//! A member that says more than it has reason to, where honest ones need the room: sums that come before they are needed.

use super::*;

/// Eight meet in three steps: these are nobody's, and look like sums of a round that has not begun.
const STEPS: std::ops::Range<u32> = 3..16;

/// Sums of this round and those about it, again and again.
fn crowd(swarm: &mut Swarm, liar: PeerIx, until: u64) {
    for at in (500..until).step_by(1_000) {
        // About three milliseconds a round.
        let about = u32::try_from(at / 3_300).expect("a short run");
        let rounds = about.saturating_sub(3)..about + 4;
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

#[test]
fn sums_that_one_makes_up_take_nobody_elses_room() {
    let mut swarm = Swarm::new(settings(8, 30));
    crowd(&mut swarm, 7, 100_000);
    swarm.run();
    swarm.assert_all_done_and_equal(0..7);
    let accused = swarm.log.iter().filter_map(|(node, event)| match event {
        RunEvent::PeerFault { peer, .. } if *node != 7 => Some(*peer),
        _ => None,
    });
    let accused: std::collections::BTreeSet<PeerIx> = accused.collect();
    assert_eq!(accused, [7].into(), "nobody honest is taken for a flood");
    assert_eq!(swarm.count(is_broken), 0, "and no round breaks");
}

/// A sum that was asked for again comes twice; the second is on its way for rounds.
#[test]
fn what_was_asked_for_again_may_come_twice_however_late() {
    let mut swarm = Swarm::new(settings(4, 60));
    // The first sums of node 1 for node 0 take so long that it asks, and then comes the first, and much later the second.
    let kept: std::rc::Rc<std::cell::RefCell<Vec<(u64, Message)>>> = Default::default();
    let (keep, mut slow) = (kept.clone(), 0);
    swarm.fate = Box::new(move |now, from, to, message| {
        let sum =
            (from, to) == (1, 0) && message.round == 4 && matches!(message.body, Body::Rounds(Say::Sum(_)));
        if sum {
            slow += 1;
            keep.borrow_mut().push((now + [15_000, 60_000][slow.min(2) - 1], message.clone()));
        }
        !sum
    });
    while !swarm.nodes.iter().flatten().all(Node::is_done) {
        swarm.run_until(swarm.now + 100);
        for (at, message) in kept.borrow_mut().drain(..) {
            swarm.push(at, 0, Input::Received { from: 1, message });
        }
    }
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!(swarm.count(is_broken), 0);
    assert_eq!(
        swarm.count(|event| matches!(event, RunEvent::PeerFault { .. })),
        0,
        "nobody replays anything"
    );
}
