//! Claims about the figures of a report among themselves.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use protocol::config::{Config, Layer};
use protocol::{LogLine, Setup};
use report::{Budget, Options, Report, Source, json, markdown};
use serde_json::Value;

const KINDS: [&[&str]; 4] = [
    &["nodes=6", "rounds=4", "privacy.epsilon=3"],
    &["nodes=6", "rounds=2", "algorithm.kind=gossip", "topology=ring", "privacy.noise_multiplier=4"],
    &["nodes=6", "rounds=2", "algorithm.kind=walk", "topology=ring", "privacy.noise_multiplier=4"],
    &[
        "nodes=6",
        "algorithm.kind=mean",
        "topology=ring",
        "privacy.noise_multiplier=4",
        "privacy.adjacency=node",
    ],
];

fn source(pairs: &[&str]) -> Source {
    let layer = Layer::from_flags("--set", pairs).unwrap();
    let setup = Setup::new(Config::from_layers([layer]).unwrap()).unwrap();
    let mut lines: Vec<LogLine> = Vec::new();
    sim::run::run(&setup, &sim::Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})
        .unwrap();
    Source::of_lines(lines).unwrap()
}

fn report(pairs: &[&str], options: &Options) -> Report {
    Report::new(&source(pairs), options).unwrap()
}

/// Sums of rounds in another order may differ in the last bits.
const SLACK: f64 = 1.0 + 1e-9;

#[test]
fn mean_worst_and_local_are_in_this_order_for_every_node_and_for_the_swarm() {
    for pairs in KINDS {
        let report = report(pairs, &Options::default());
        for node in &report.nodes {
            let (mean, worst, local) = (node.mean.epsilon, node.worst.figure.epsilon, node.local.epsilon);
            assert!(0.0 <= mean && mean <= worst * SLACK && worst <= local * SLACK, "{pairs:?}: {node:?}");
            assert!(node.peers.iter().all(|peer| peer.figure.epsilon <= worst), "{pairs:?}");
        }
        let most = report.nodes.iter().map(|node| node.local.epsilon).fold(0.0, f64::max);
        assert_eq!(report.local.epsilon, most, "{pairs:?}");
        assert!(report.mean.epsilon <= report.worst.figure.epsilon * SLACK);
        assert!(report.worst.figure.epsilon <= report.local.epsilon * SLACK);
    }
}

#[test]
fn a_coalition_learns_no_less_than_its_members_and_no_more_than_somebody_who_sees_everything() {
    for pairs in KINDS {
        let report = report(pairs, &Options { coalition: vec![3, 0, 3], ..Options::default() });
        let coalition = report.coalitions.last().unwrap_or_else(|| panic!("one was asked for: {pairs:?}"));
        assert_eq!((coalition.members.as_slice(), coalition.search.as_str()), (&[0, 3][..], "asked for"));
        let about = &report.nodes[coalition.node];
        for peer in about.peers.iter().filter(|peer| coalition.members.contains(&peer.index)) {
            assert!(coalition.figure.epsilon * SLACK >= peer.figure.epsilon, "{pairs:?}: {}", peer.index);
        }
        assert!(coalition.figure.epsilon <= about.local.epsilon * SLACK, "{pairs:?}");
    }
}

#[test]
fn three_who_pool_what_they_saw_learn_no_less_than_the_worst_two() {
    let report = report(KINDS[0], &Options::default());
    let [two, three] = report.coalitions.as_slice() else { panic!("of two and of three") };
    assert_eq!((two.members.len(), three.members.len()), (2, 3));
    assert!(three.figure.epsilon * SLACK >= two.figure.epsilon);
    assert!(two.figure.epsilon * SLACK >= report.worst.figure.epsilon, "two learn no less than one");
}

#[test]
fn what_is_left_of_a_budget_is_never_negative_and_never_printed_too_large() {
    let budget = |spent| Budget { epsilon: Some(3.0), spent, of: "worst" };
    assert_eq!((budget(3.5).left(), budget(1.0).left()), (Some(0.0), Some(2.0)));
    assert_eq!(Budget { epsilon: None, ..budget(1.0) }.left(), None);
    let report = report(KINDS[0], &Options { node: Some(2), ..Options::default() });
    let (budget, text) = (&report.nodes[0].budget, markdown(&report));
    assert!(budget.spent > 0.0 && budget.spent <= 3.0);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_left = |pair: &&[&str]| pair[1].trim_end_matches(['.', ',', '|']) == "left";
    let left: f64 = words.windows(2).filter(is_left).find_map(|pair| pair[0].parse().ok()).unwrap();
    assert!(left <= budget.left().unwrap() && left > budget.left().unwrap() - 1e-3, "{left}");
}

#[test]
fn what_is_infinite_is_null_in_json_and_a_sign_for_people() {
    let report = report(&["nodes=3", "rounds=1", "privacy.noise_multiplier=0"], &Options::default());
    let value: Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
    assert!(value["worst"]["epsilon"].is_null() && value["worst"].get("epsilon").is_some());
    assert!(value["worst"]["mu2"].is_null() && markdown(&report).contains('∞'));
}

#[test]
fn runs_that_promise_different_things_are_put_side_by_side_with_a_caution() {
    let (own, other) =
        (source(KINDS[0]), source(&["nodes=6", "rounds=4", "privacy.epsilon=3", "privacy.delta=1e-6"]));
    let mut report = Report::new(&own, &Options::default()).unwrap();
    report.compare_with(&own, &other).unwrap();
    let beside = report.compare.as_ref().unwrap();
    assert_eq!((beside.differing_keys.as_slice(), beside.delta), (&["privacy.delta".to_owned()][..], 1e-6));
    assert!(beside.caution.is_some(), "another δ");
}
