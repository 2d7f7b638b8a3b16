//! Broken mechanisms are caught: an audit that cannot fail would prove nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use audit::{Attack, Request, Sabotage, built_in};
use protocol::Setup;

const SMALL: &str = "data=blobs:nodes=8,records=8,dim=5,classes=4,test=0";

const ROUNDS: [&str; 2] = ["nodes=4", SMALL];

const MEAN: [&str; 6] = [
    "algorithm.kind=mean",
    "model.kind=mean",
    "rounds=1",
    "topology=ring",
    "data=blobs:nodes=8,records=8,dim=20,test=0",
    "privacy.noise_multiplier=5",
];

const GOSSIP: [&str; 5] =
    ["algorithm.kind=gossip", "nodes=6", "topology=ring", "algorithm.mixing_steps=1", SMALL];

#[track_caller]
fn assert_caught(sabotage: Sabotage, set: &[&str], attack: Attack) {
    let setup = Setup::new(built_in(set).unwrap()).unwrap();
    let request =
        Request { attacks: vec![attack], trials: 1500, sabotage: Some(sabotage), ..Request::new(setup) };
    let report = audit::run(&request, &|_| ()).unwrap();
    assert!(!report.passed, "{sabotage:?} was not caught: {report:#?}");
    assert_eq!(report.sabotage, Some(sabotage.name()));
}

#[test]
fn halved_noise_is_caught() {
    for set in [&ROUNDS[..], &MEAN, &GOSSIP] {
        assert_caught(Sabotage::NoiseHalved, set, Attack::Distinguish);
    }
}

#[test]
fn reused_noise_is_caught() {
    for set in [&ROUNDS[..], &GOSSIP] {
        assert_caught(Sabotage::NoiseReused, set, Attack::Distinguish);
    }
}

#[test]
fn a_skipped_clip_is_caught() {
    for set in [&ROUNDS[..], &MEAN, &GOSSIP] {
        assert_caught(Sabotage::ClipSkipped, set, Attack::Distinguish);
    }
    let node = [&ROUNDS[..], &["privacy.adjacency=node", "privacy.noise_multiplier=6"]].concat();
    assert_caught(Sabotage::ClipSkipped, &node, Attack::Distinguish);
}

#[test]
fn one_run_with_canaries_catches_a_skipped_clip() {
    // All 640 guesses are right, which refutes every ε below about 5; the account says 2.4.
    assert_caught(Sabotage::ClipSkipped, &[], Attack::Canaries);
}
