//! Honest mechanisms pass. Each audit is made with confidence 0.999 and fixed seeds: a right account fails one of these tests with other seeds once in a thousand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use audit::{Attack, Audit, Request, Verdict, built_in};
use protocol::Setup;

fn audit(set: &[&str], pair: Option<(usize, usize)>, attacks: &[Attack]) -> Audit {
    let setup = Setup::new(built_in(set).unwrap()).unwrap();
    let request =
        Request { attacks: attacks.to_vec(), trials: 1200, confidence: 0.999, pair, ..Request::new(setup) };
    audit::run(&request, &|_| ()).unwrap()
}

/// Passes, by this analysis, and shows something.
#[track_caller]
fn assert_passes(set: &[&str], pair: Option<(usize, usize)>, analysis: &str) {
    let report = audit(set, pair, &[Attack::Distinguish, Attack::Reconstruct]);
    assert!(report.passed, "{set:?}: {report:#?}");
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    let upper = report.findings[0].upper.as_ref().unwrap();
    assert_eq!(upper.analysis, analysis);
    let shown = report.findings.iter().any(|finding| finding.lower.as_ref().unwrap().epsilon > 0.0);
    assert!(shown, "an audit that shows nothing: {report:#?}");
}

/// Blobs of few records: the watched node's are canaries.
const SMALL: &str = "data=blobs:nodes=8,records=8,dim=5,classes=4,test=0";

#[test]
fn rounds_with_four_nodes_pass() {
    assert_passes(&["nodes=4", SMALL], None, "rounds");
}

#[test]
fn rounds_with_five_nodes_pass() {
    assert_passes(&["nodes=5", SMALL], None, "rounds");
}

#[test]
fn rounds_at_node_level_pass() {
    let set = ["nodes=5", SMALL, "privacy.adjacency=node", "privacy.noise_multiplier=4"];
    assert_passes(&set, None, "rounds");
}

#[test]
fn rounds_on_samples_pass() {
    let set = ["nodes=4", SMALL, "batch_size=4", "privacy.noise_multiplier=0.6"];
    let report = audit(&set, None, &[Attack::Distinguish]);
    assert!(report.passed, "{report:#?}");
    assert!(report.findings[0].lower.as_ref().unwrap().epsilon > 0.0, "{report:#?}");
}

#[test]
fn a_neighbour_and_a_stranger_in_gossip_pass() {
    // Rows of norm 1 and a small step certify ρ = 1: the neighbour has the local loss, the node opposite less.
    let set = [
        "algorithm.kind=gossip",
        "nodes=6",
        "topology=ring",
        "algorithm.mixing_steps=1",
        "data=blobs:nodes=6,records=8,dim=5,classes=2,test=0,scale=l2",
        "model.kind=logistic",
        "privacy.noise_multiplier=2",
    ];
    assert_passes(&set, Some((1, 0)), "local");
    assert_passes(&set, Some((3, 0)), "contractive");
}

#[test]
fn a_mean_passes_with_and_without_message_noise() {
    let set = [
        "algorithm.kind=mean",
        "model.kind=mean",
        "rounds=1",
        "nodes=16",
        "topology=hypercube",
        "algorithm.mixing_steps=2",
        "data=blobs:nodes=16,records=8,dim=20,test=0",
    ];
    // A neighbour is heard by itself; of the six nodes at distance two, four sums of three are known: ⅔ of each.
    assert_passes(&set, Some((1, 0)), "local");
    assert_passes(&set, Some((3, 0)), "rounds");
    let noisy =
        audit(&[&set[..], &["algorithm.message_noise=0.5"]].concat(), Some((1, 0)), &[Attack::Distinguish]);
    assert!(noisy.passed, "{noisy:#?}");
}

#[test]
fn a_walk_passes() {
    let set = [
        "algorithm.kind=walk",
        "nodes=5",
        "topology=complete",
        "data=blobs:nodes=5,records=8,dim=5,classes=2,test=0,scale=l2",
        "model.kind=logistic",
        "privacy.noise_multiplier=2",
    ];
    assert_passes(&set, None, "walk");
}

#[test]
fn a_coalition_passes_and_shows_more_than_one_of_its_members() {
    let setup = Setup::new(built_in(&["nodes=4", SMALL]).unwrap()).unwrap();
    let request = |coalition: &[usize]| Request {
        attacks: vec![Attack::Distinguish, Attack::Canaries],
        trials: 1200,
        confidence: 0.999,
        pair: Some((3, 0)),
        coalition: coalition.to_vec(),
        ..Request::new(setup.clone())
    };
    let (alone, together) =
        (audit::run(&request(&[]), &|_| ()).unwrap(), audit::run(&request(&[1]), &|_| ()).unwrap());
    assert!(alone.passed && together.passed, "{together:#?}");
    assert_eq!(together.findings[0].target, "node 3 → nodes 0 and 1");
    assert_eq!(together.skipped[0].attack, "canaries");
    let bounds = |report: &Audit| {
        let first = &report.findings[2];
        (first.lower.as_ref().unwrap().epsilon, first.upper.as_ref().unwrap().epsilon.unwrap())
    };
    let ((low, high), (pooled_low, pooled_high)) = (bounds(&alone), bounds(&together));
    assert!(pooled_low > low && pooled_high > high, "{low} of {high}, {pooled_low} of {pooled_high}");
    for coalition in [&[3, 1][..], &[9], &[1, 2, 3]] {
        let error = audit::run(&request(coalition), &|_| ()).unwrap_err().to_string();
        assert!(error.contains("coalition"), "{error}");
    }
}

#[test]
fn an_audit_without_bounds_does_not_say_that_it_passed() {
    let skipped = audit(&["nodes=4", SMALL, "privacy.adjacency=node"], None, &[Attack::Canaries]);
    assert_eq!((skipped.verdict, skipped.passed), (Verdict::Nothing, false));
    let figures = audit(&["nodes=4", SMALL], None, &[Attack::Inversion]);
    assert_eq!((figures.verdict, figures.passed), (Verdict::Undecided, false));
}

#[test]
fn all_attacks_on_the_built_in_scenario_pass_and_do_not_depend_on_threads() {
    let request = |threads: usize| {
        let setup = Setup::new(built_in(&[]).unwrap()).unwrap();
        Request { trials: 300, threads, ..Request::new(setup) }
    };
    let report = audit::run(&request(1), &|_| ()).unwrap();
    assert!(report.passed && report.skipped.is_empty(), "{report:#?}");
    assert_eq!(report.findings.len(), 4 + 5, "four δ, and one of each other attack");
    assert_eq!(report, audit::run(&request(3), &|_| ()).unwrap());
}

#[test]
fn what_does_not_apply_is_said_and_nonsense_is_refused() {
    let all: Vec<Attack> = Attack::ALL.iter().map(|(_, attack)| *attack).collect();
    let set = ["algorithm.kind=mean", "model.kind=mean", "rounds=1", "topology=ring", SMALL];
    let report = audit(&set, None, &all);
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.attack).collect();
    assert_eq!(skipped, ["canaries", "membership", "inversion"]);
    let request = || Request::new(Setup::new(built_in(&[]).unwrap()).unwrap());
    let refused = |request: &Request| audit::run(request, &|_| ()).unwrap_err().to_string();
    assert!(refused(&Request { pair: Some((3, 3)), ..request() }).contains("`3,3`"));
    assert!(refused(&Request { pair: Some((0, 8)), ..request() }).contains("`0,8`"));
    assert!(refused(&Request { trials: 3, ..request() }).contains('3'));
    assert!(refused(&Request { confidence: 1.0, ..request() }).contains('1'));
    let central = Setup::new(built_in(&["algorithm.kind=central"]).unwrap()).unwrap();
    assert!(refused(&Request::new(central)).contains("central"));
}

#[test]
fn alarms_are_as_rare_as_stated() {
    // The account of doubling is exact for these views, so the lower bounds have no slack but that of Clopper and Pearson. At confidence 0.8 at most 8 of 40 audits may
    // alarm on average; a binomial with p = 0.2 exceeds 16 with probability 1e-3.
    let setup = Setup::new(built_in(&["nodes=4", "rounds=2", SMALL]).unwrap()).unwrap();
    let alarms = (0..40).filter(|&seed| {
        let request = Request {
            attacks: vec![Attack::Distinguish],
            trials: 300,
            confidence: 0.8,
            seed: 1000 + seed,
            ..Request::new(setup.clone())
        };
        !audit::run(&request, &|_| ()).unwrap().passed
    });
    let alarms = alarms.count();
    assert!(alarms <= 16, "{alarms} of 40");
}
