//! Members whose contributions take long.

use protocol::{PeerIx, RunEvent};

use super::{Swarm, is_broken, settings};

const SLOW: PeerIx = 3;
/// In the settings of these tests, in microseconds.
const LIMIT: u64 = 50_000;
/// How long one contribution takes, and of which round.
const TAKES: u64 = 300_000;
const ROUND: u32 = 4;

/// Rounds to which a node contributed.
fn contributed(swarm: &Swarm, node: PeerIx) -> Vec<u32> {
    let released = |(by, event): &(PeerIx, RunEvent)| match event {
        RunEvent::Released { round, .. } if *by == node => Some(*round),
        _ => None,
    };
    swarm.log.iter().filter_map(released).collect()
}

#[test]
fn who_is_slow_is_left_out_of_rounds_and_is_back_in_the_next() {
    let mut settings = settings(5, 200);
    settings.timeouts.slow = LIMIT;
    let mut swarm = Swarm::new(settings);
    swarm.takes = |node, round| if (node, round) == (SLOW, ROUND) { TAKES } else { 100 };
    swarm.run();
    swarm.assert_all_done_and_equal(0..5);
    assert_eq!(swarm.count(is_broken), 0, "nobody has to decide anything");
    // By the log: whoever was left out said so once, and why.
    let refused: Vec<&(PeerIx, RunEvent)> =
        swarm.log.iter().filter(|(_, event)| matches!(event, RunEvent::Refused { .. })).collect();
    let [(SLOW, RunEvent::Refused { round: ROUND, reason })] = refused[..] else {
        unreachable!("{refused:?}")
    };
    assert!(reason.contains("0.05 s (`timeouts.slow`)"), "{reason}");
    let rounds = contributed(&swarm, SLOW);
    let missed: Vec<u32> = (0..200).filter(|round| !rounds.contains(round)).collect();
    // One gap, from its slow round to the one in which it was done; what came too late is on no record.
    let back = missed[0] + missed.len() as u32;
    assert_eq!(missed, (ROUND..back).collect::<Vec<_>>());
    assert_eq!(swarm.records[SLOW as usize] as usize, rounds.len());
    // Two members can have exchanged nothing in less than two messages one after the other: 2 ms. The first of these rounds takes the limit.
    let most = 1 + (TAKES - LIMIT) / 2_000;
    assert!((2..=most as usize).contains(&missed.len()), "{} of {most}", missed.len());
    for node in (0..5).filter(|&node| node != SLOW) {
        assert_eq!(contributed(&swarm, node).len(), 200, "node {node} is in all of them");
    }
}

#[test]
fn who_is_never_done_costs_the_others_the_limit_once() {
    let mut settings = settings(4, 40);
    settings.timeouts.slow = LIMIT;
    let mut swarm = Swarm::new(settings);
    swarm.takes = |node, _| if node == SLOW { u64::MAX / 2 } else { 100 };
    swarm.run_until(LIMIT + 40 * 10_000);
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!((swarm.count(is_broken), swarm.records[SLOW as usize]), (0, 0));
}

#[test]
fn where_nothing_is_set_a_contribution_has_five_times_the_silence() {
    let mut swarm = Swarm::new(settings(4, 6));
    swarm.takes = |node, round| if (node, round) == (SLOW, 1) { 490_000 } else { 100 };
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!((swarm.count(is_broken), contributed(&swarm, SLOW).len()), (0, 6));
}
