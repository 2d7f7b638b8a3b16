use privacy::network::contractive::{Update, boundary, riccati};
use privacy::network::{Run, Watchers, rounds};

use super::super::Account;
use super::*;

const Z: f64 = 3.0;
const PATH: [(u32, u32); 3] = [(0, 1), (1, 2), (2, 3)];

fn mixed(node: usize, round: u32, missing: Vec<(u32, u32)>, late: Vec<(u32, u32, u32)>) -> LogLine {
    line(node, RunEvent::Mixed { round, missing, late })
}

fn account(rounds: u32, steps: usize, train: bool, rho: Option<f64>, lines: &[LogLine]) -> Account {
    let shape = shape(4, rounds, gossip_on(&PATH, 4, steps, train), gaussian(Z)).with_rho(rho);
    let mut account = Account::new(shape).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account
}

fn undisturbed(rounds: u32) -> Vec<LogLine> {
    let one = |round| {
        (0..4)
            .map(move |node| released(node, round))
            .chain((0..4).map(move |node| mixed(node, round, vec![], vec![])))
    };
    (0..rounds).flat_map(one).collect()
}

fn matrix() -> topology::MixingMatrix {
    Weights::Metropolis.matrix(&Graph::from_edges(4, &PATH).unwrap().0).unwrap()
}

#[test]
fn one_shot_averaging_costs_what_the_exact_linear_algebra_says() {
    let mut account = account(1, 2, false, None, &undisturbed(1));
    let run = Run::on_graph(matrix(), 2, 1).unwrap();
    for watcher in 0..4 {
        let unit = rounds::loss(&run, &Watchers::new(&[watcher], 4).unwrap()).unwrap();
        for source in (0..4).filter(|&source| source != watcher) {
            let found = account.mu2(source, watcher) * Z * Z;
            assert!(
                (found - unit[source]).abs() < 1e-6,
                "{source} to {watcher}: {found} for {}",
                unit[source]
            );
        }
    }
    assert_eq!(account.summary().mean.analysis, "rounds");
}

#[test]
fn what_was_sent_is_seen_whatever_its_receiver_says() {
    let with = |missing: Vec<(u32, u32)>, late: Vec<(u32, u32, u32)>| {
        let mut lines: Vec<LogLine> = (0..4).map(|node| released(node, 0)).collect();
        lines.push(mixed(0, 0, missing, late));
        lines.extend((1..4).map(|node| mixed(node, 0, vec![], vec![])));
        account(1, 1, false, None, &lines).mu2(1, 0) * Z * Z
    };
    assert!((with(vec![], vec![]) - 1.0).abs() < 1e-9);
    assert!((with(vec![(0, 1)], vec![]) - 1.0).abs() < 1e-9);
    assert!((with(vec![(0, 1)], vec![(0, 0, 1)]) - 1.0).abs() < 1e-9);
    // A node whose mixing was never reported counts as having received it.
    let lines: Vec<LogLine> = (0..4).map(|node| released(node, 0)).collect();
    assert!((account(1, 1, false, None, &lines).mu2(1, 0) * Z * Z - 1.0).abs() < 1e-9);
}

#[test]
fn a_sender_that_never_began_a_round_sent_nothing_of_it() {
    // Node 1 is gone after round 0; what it would have passed on of node 2 in round 1 reached nobody.
    let mut lines = undisturbed(1);
    lines.extend([0, 2, 3].map(|node| released(node, 1)));
    lines.push(mixed(0, 1, vec![(0, 1)], vec![]));
    lines.push(mixed(2, 1, vec![(0, 1)], vec![]));
    lines.push(mixed(3, 1, vec![], vec![]));
    let without = account(2, 1, true, Some(1.0), &lines).mu2(2, 0);
    assert_eq!(without, 0.0);
    // If it had been refused by its budget, it would have mixed and sent on.
    lines.insert(8, line(1, RunEvent::Refused { round: 1, reason: "spent".into() }));
    let with = account(2, 1, true, Some(1.0), &lines).mu2(2, 0);
    assert!(with > 0.0, "{with}");
}

#[test]
fn a_line_that_is_lost_may_have_told_of_a_message_so_all_pairs_are_local() {
    let mut lines = undisturbed(3);
    assert_eq!(account(3, 1, true, Some(1.0), &lines).summary().mean.analysis, "contractive");
    lines.push(line(1, RunEvent::LostLines { count: 1 }));
    let mut lost = account(3, 1, true, Some(1.0), &lines);
    assert!((lost.mu2(3, 0) * Z * Z - 3.0).abs() < 1e-6);
    assert!(lost.summary().mean.analysis.starts_with("local"));
}

#[test]
fn stragglers_after_the_end_make_no_further_round() {
    let mut lines = undisturbed(3);
    let clean = account(3, 1, true, Some(1.0), &lines).mu2(3, 0);
    lines.push(mixed(0, 3, vec![], vec![(2, 0, 1)]));
    assert_eq!(account(3, 1, true, Some(1.0), &lines).mu2(3, 0), clean);
}

#[test]
fn a_node_that_comes_back_to_a_round_that_it_had_begun_makes_all_local() {
    let resumed = line(2, RunEvent::Resumed { private_noise: true });
    let refused = line(2, RunEvent::Refused { round: 1, reason: "spent".into() });
    let mut lines = undisturbed(3);
    lines.retain(|line| !(line.node == Some(2) && matches!(line.event, RunEvent::Released { round: 1, .. })));
    // Between two rounds nothing can have been sent twice.
    let mut between = lines.clone();
    between.splice(8..8, [resumed.clone(), refused.clone()]);
    assert_eq!(account(3, 1, true, Some(1.0), &between).summary().mean.analysis, "contractive");
    lines.splice(8..8, [refused, resumed]);
    assert!(account(3, 1, true, Some(1.0), &lines).summary().mean.analysis.contains("came back"));
}

#[test]
fn training_is_priced_by_absorption_where_certified_and_as_local_elsewhere() {
    let mut certified = account(3, 1, true, Some(1.0), &undisturbed(3));
    let run = Run::on_graph(matrix(), 1, 3).unwrap();
    let (watchers, update) = (Watchers::new(&[0], 4).unwrap(), Update::lipschitz(1.0).unwrap());
    let (unit, looser) = (riccati::loss(&run, &watchers, update), boundary::loss(&run, &watchers, update));
    assert!(unit[2] < looser[2] && unit[3] < looser[3], "small swarms get the tighter bound");
    for (source, unit) in unit.iter().enumerate().skip(1) {
        let expected = unit.min(3.0);
        let found = certified.mu2(source, 0) * Z * Z;
        assert!((found - expected).abs() < 1e-6, "{source}: {found} for {expected}");
    }
    assert_eq!(certified.summary().mean.analysis, "contractive");
    let mut plain = account(3, 1, true, None, &undisturbed(3));
    assert!((plain.mu2(3, 0) * Z * Z - 3.0).abs() < 1e-6);
    assert!(plain.summary().mean.analysis.starts_with("local"));
}

#[test]
fn a_node_that_comes_back_after_an_unfinished_round_makes_all_local() {
    let mut lines = undisturbed(3);
    lines.retain(|line| !(line.node == Some(2) && matches!(line.event, RunEvent::Mixed { round: 1, .. })));
    let mut account = account(3, 1, true, Some(1.0), &lines);
    assert!((account.mu2(3, 0) * Z * Z - 3.0).abs() < 1e-6);
    assert!(account.summary().mean.analysis.contains("came back"));
}

#[test]
fn a_line_about_what_the_run_does_not_have_makes_every_pair_local() {
    let clean = account(1, 1, false, None, &undisturbed(1)).summary();
    let forged = [
        mixed(0, 0, vec![], vec![(0, 0, 9)]),
        mixed(0, 0, vec![(0, 9)], vec![]),
        mixed(0, 0, vec![], vec![(u32::MAX, 0, 1)]),
        mixed(0, 0, vec![], vec![(0, 7, 1)]),
        mixed(0, u32::MAX, vec![], vec![]),
        released(0, u32::MAX),
    ];
    for line in forged {
        let mut lines = undisturbed(1);
        lines.push(line.clone());
        let summary = account(1, 1, false, None, &lines).summary();
        assert_eq!(summary.mean.analysis.split(' ').next(), Some("local"), "{line:?}: {summary:?}");
        assert!(summary.mean.epsilon > clean.mean.epsilon, "{line:?}");
    }
}
