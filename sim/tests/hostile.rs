//! Peers that do not follow the protocol: honest ones finish, learn, and name the offender.

mod swarm;

use protocol::FaultKind;
use swarm::{ALGORITHMS, run, setup};

const OFFENDER: u32 = 6;

/// What the log must say about each kind of misbehaviour; a replay may be taken for a late message, which is no fault.
const KINDS: [(&str, &[FaultKind]); 6] = [
    ("nan", &[FaultKind::NotFinite]),
    ("huge", &[FaultKind::TooLarge]),
    ("wrong-length", &[FaultKind::WrongLength]),
    ("other-run", &[FaultKind::WrongRun]),
    ("flood", &[FaultKind::Flood]),
    ("replay", &[]),
];

#[test]
fn honest_nodes_learn_and_the_log_names_the_offender() {
    for algorithm in &ALGORITHMS[..3] {
        for (kind, expected) in KINDS {
            let hostile = format!("faults.hostile=[{{ nodes = [{OFFENDER}], kind = \"{kind}\" }}]");
            let more = ["rounds=30", "privacy.noise_multiplier=0.1", &hostile];
            let setup = setup(&[algorithm, &more[..]].concat());
            let run = run(&setup, 2);
            println!("{algorithm:?} {kind}: {:?} {:?}", run.faults(), run.finished.ended);
            run.assert_learnt(14);
            let faults = run.faults();
            assert!(faults.iter().all(|&(peer, _)| peer == OFFENDER), "{algorithm:?} {kind}: {faults:?}");
            for &fault in expected {
                assert!(faults.contains(&(OFFENDER, fault)), "{algorithm:?} {kind}: {faults:?}");
            }
            let honest = run.finished.models.iter().enumerate().filter(|&(node, _)| node as u32 != OFFENDER);
            for (node, model) in honest {
                assert!(model.iter().all(|value| value.abs() < 1e3), "{algorithm:?} {kind}: node {node}");
            }
        }
    }
}
