//! Peers that do not follow the protocol: honest ones finish, learn, and name the offender.

mod swarm;

use protocol::FaultKind;
use swarm::{ALGORITHMS, run, setup};

const OFFENDER: u32 = 6;

/// What the log must say about each kind of misbehaviour.
const KINDS: [(&str, &[FaultKind]); 6] = [
    ("nan", &[FaultKind::NotFinite]),
    ("huge", &[FaultKind::TooLarge]),
    ("wrong-length", &[FaultKind::WrongLength]),
    ("other-run", &[FaultKind::WrongRun]),
    ("flood", &[FaultKind::Flood]),
    ("replay", &[FaultKind::Replay]),
];

fn check(algorithm: &[&str], kind: &str, expected: &[FaultKind]) {
    let hostile = format!("faults.hostile=[{{ nodes = [{OFFENDER}], kind = \"{kind}\" }}]");
    // A walk shows a replay only where the token meets the offender and its old receiver again.
    let rounds = if kind == "replay" { "rounds=120" } else { "rounds=30" };
    let more = [rounds, "privacy.noise_multiplier=0.1", &hostile];
    let run = run(&setup(&[algorithm, &more[..]].concat()), 2);
    run.assert_learnt(14);
    let faults = run.faults();
    assert!(faults.iter().all(|&(peer, _)| peer == OFFENDER), "{kind}: {faults:?}");
    for &fault in expected {
        assert!(faults.contains(&(OFFENDER, fault)), "{kind}: {faults:?}");
    }
    for (node, model) in run.finished.models.iter().enumerate() {
        assert!(model.iter().all(|value| value.abs() < 1e3), "{kind}: node {node}");
    }
}

macro_rules! honest_nodes_learn_and_name_the_offender {
    ($($name:ident: $algorithm:literal, $kind:literal;)*) => {$(
        #[test]
        fn $name() {
            let (kind, expected) = KINDS[$kind];
            check(ALGORITHMS[$algorithm], kind, expected);
        }
    )*};
}

#[test]
fn who_replays_is_named_in_a_short_run_too() {
    for algorithm in &ALGORITHMS[..2] {
        let hostile = format!("faults.hostile=[{{ nodes = [{OFFENDER}], kind = \"replay\" }}]");
        let more = ["rounds=6", "privacy.noise_multiplier=0.1", &hostile];
        let faults = run(&setup(&[*algorithm, &more[..]].concat()), 2).faults();
        assert!(faults.contains(&(OFFENDER, FaultKind::Replay)), "{algorithm:?}: {faults:?}");
    }
}

honest_nodes_learn_and_name_the_offender! {
    rounds_with_nan: 0, 0;
    rounds_with_huge_numbers: 0, 1;
    rounds_with_wrong_lengths: 0, 2;
    rounds_with_messages_of_another_run: 0, 3;
    rounds_with_a_flood: 0, 4;
    rounds_with_replays: 0, 5;
    gossip_with_nan: 1, 0;
    gossip_with_huge_numbers: 1, 1;
    gossip_with_wrong_lengths: 1, 2;
    gossip_with_messages_of_another_run: 1, 3;
    gossip_with_a_flood: 1, 4;
    gossip_with_replays: 1, 5;
    walk_with_nan: 2, 0;
    walk_with_huge_numbers: 2, 1;
    walk_with_wrong_lengths: 2, 2;
    walk_with_messages_of_another_run: 2, 3;
    walk_with_a_flood: 2, 4;
    walk_with_replays: 2, 5;
}
