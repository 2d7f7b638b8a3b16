//! Broken mechanisms are caught: an audit that cannot fail would prove nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use audit::{Attack, Request, Sabotage, built_in};
use protocol::Setup;
use topology::Hint;

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

/// Without a certificate of ρ: only `local` bounds the loss, which is the hardest bound to pass.
const WALK: [&str; 3] = ["algorithm.kind=walk", "nodes=5", SMALL];

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
    // How much of a node any watcher sees depends on the route. On this one bounds at δ = 0.1 are 1.3 to 1.5, by the audit's seed, where 0.77 is charged; on that of seed 1, which
    // shows less, 1,500 runs leave it to chance (0.93 of 0.95) and 6,000 do not (1.25).
    let walk = [&WALK[..], &["seed=3"]].concat();
    for set in [&ROUNDS[..], &MEAN, &GOSSIP, &walk] {
        assert_caught(Sabotage::NoiseHalved, set, Attack::Distinguish);
    }
}

#[test]
fn halved_noise_that_one_watcher_cannot_show_is_caught_by_a_coalition() {
    // Nobody sees a node of this walk often enough by itself to pass `local`; all others together see each of its contributions alone.
    let node = [&WALK[..], &["privacy.adjacency=node", "privacy.noise_multiplier=6"]].concat();
    let audited = |sabotage: Option<Sabotage>| {
        let setup = Setup::new(built_in(&node).unwrap()).unwrap();
        let attacks = vec![Attack::Distinguish];
        let coalition = vec![0, 1, 3, 4];
        audit::run(
            &Request { attacks, coalition, trials: 1500, confidence: 0.999, sabotage, ..Request::new(setup) },
            &|_| (),
        )
    };
    assert!(audited(None).unwrap().passed, "false alarm: once in a thousand seeds");
    assert!(!audited(Some(Sabotage::NoiseHalved)).unwrap().passed);
}

#[test]
fn reused_noise_is_caught() {
    for set in [&ROUNDS[..], &GOSSIP, &WALK] {
        assert_caught(Sabotage::NoiseReused, set, Attack::Distinguish);
        let node = [set, &["privacy.adjacency=node", "privacy.noise_multiplier=6"]].concat();
        assert_caught(Sabotage::NoiseReused, &node, Attack::Distinguish);
    }
}

#[test]
fn reused_noise_is_caught_in_a_walk_whose_bound_is_below_local_and_with_several_tokens() {
    let certified = [
        "algorithm.kind=walk",
        "nodes=5",
        "topology=complete",
        "data=blobs:nodes=5,records=8,dim=5,classes=2,test=0,scale=l2",
        "model.kind=logistic",
    ];
    assert_caught(Sabotage::NoiseReused, &certified, Attack::Distinguish);
    let tokens = [&WALK[..], &["algorithm.tokens=2", "rounds=8"]].concat();
    assert_caught(Sabotage::NoiseReused, &tokens, Attack::Distinguish);
}

#[test]
fn noise_that_is_used_once_cannot_be_reused_and_the_audit_says_so() {
    for set in [&MEAN[..], &["nodes=4", "rounds=1", SMALL]] {
        let setup = Setup::new(built_in(set).unwrap()).unwrap();
        let request = Request { sabotage: Some(Sabotage::NoiseReused), ..Request::new(setup) };
        let error = audit::run(&request, &|_| ()).unwrap_err();
        assert!(error.to_string().contains("contributes once"), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_skipped_clip_is_caught() {
    for set in [&ROUNDS[..], &MEAN, &GOSSIP, &WALK] {
        assert_caught(Sabotage::ClipSkipped, set, Attack::Distinguish);
    }
    let node = [&ROUNDS[..], &["privacy.adjacency=node", "privacy.noise_multiplier=6"]].concat();
    assert_caught(Sabotage::ClipSkipped, &node, Attack::Distinguish);
}

#[test]
fn one_run_with_canaries_catches_a_skipped_clip() {
    // Canaries are as long as members let pass: longer ones would break the round. Of about 400 guesses all but one or two are right, which refutes every ε below 4; the account
    // says 2.45.
    assert_caught(Sabotage::ClipSkipped, &[], Attack::Canaries);
}
