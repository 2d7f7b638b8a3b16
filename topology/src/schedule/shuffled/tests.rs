use std::collections::BTreeSet;

use super::*;
use crate::schedule::doubling::average;

const SIZES: &[usize] = &[
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 20, 23, 24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 100,
];

fn plan_of(run: &str, round: u64, nodes: usize) -> Plan {
    Plan::with_order(shuffled_order(&RunKey::new(run), round, nodes)).unwrap()
}

#[test]
fn no_pair_meets_first_twice_within_n_minus_1_rounds() {
    for &nodes in SIZES {
        for start in [0, 1, 5, 1_000_003] {
            let mut seen = BTreeSet::new();
            for round in start..start + nodes as u64 - 1 {
                for pair in first_meetings(&plan_of("run", round, nodes)) {
                    assert!(seen.insert(pair), "n = {nodes}, round {round}: {pair:?} again");
                }
            }
        }
    }
}

#[test]
fn every_node_meets_somebody_first_but_one_where_n_is_odd() {
    for &nodes in SIZES {
        for round in 0..10 {
            let meetings = first_meetings(&plan_of("run", round, nodes));
            assert_eq!(meetings.len(), nodes / 2, "n = {nodes}");
            let players: BTreeSet<usize> = meetings.iter().flat_map(|&(u, v)| [u, v]).collect();
            assert_eq!(players.len(), nodes / 2 * 2, "n = {nodes}");
        }
    }
}

#[test]
fn every_pair_meets_first_once_in_a_whole_tournament() {
    for &nodes in SIZES {
        let rounds = if nodes % 2 == 0 { nodes - 1 } else { nodes };
        let meetings: BTreeSet<_> =
            (0..rounds as u64).flat_map(|round| first_meetings(&plan_of("run", round, nodes))).collect();
        assert_eq!(meetings.len(), nodes * (nodes - 1) / 2, "n = {nodes}");
    }
}

#[test]
fn the_raw_value_of_a_node_is_heard_by_one_node_at_most() {
    for &nodes in SIZES {
        let plan = plan_of("raw", 3, nodes);
        let mut heard_raw = vec![0; nodes];
        for step in 0..plan.steps() {
            for role in plan.roles(step) {
                if let Some(heard) = role.hears().filter(|&heard| plan.inputs_held(step, heard) == 1) {
                    heard_raw[heard] += 1;
                }
            }
        }
        assert!(heard_raw.iter().all(|&times| times <= 1), "n = {nodes}: {heard_raw:?}");
    }
}

#[test]
fn rounds_and_runs_differ_and_repeat() {
    let key = RunKey::new("a");
    assert_eq!(shuffled_order(&key, 4, 50), shuffled_order(&key, 4, 50));
    assert_ne!(shuffled_order(&key, 4, 50), shuffled_order(&key, 5, 50));
    assert_ne!(shuffled_order(&key, 4, 50), shuffled_order(&RunKey::new("b"), 4, 50));
}

#[test]
fn a_shuffled_round_ends_with_the_mean_at_all_nodes() {
    for nodes in 2..=100 {
        let mut values: Vec<Vec<f32>> = (0..nodes).map(|node| vec![(node * node % 97) as f32]).collect();
        let sum: f32 = values.iter().map(|value| value[0]).sum();
        average(&plan_of("mean", nodes as u64, nodes), &mut values);
        let mean = (sum / nodes as f32).to_bits();
        assert!(values.iter().all(|value| value[0].to_bits() == mean), "n = {nodes}");
    }
}

/// Partners of the second step are random: over 2,000 rounds of 16 nodes, node 0 meets each of the 15 others with
/// probability 1/15. Pearson's χ² with 14 degrees of freedom stays below 55 but with probability 1e-6.
#[test]
fn later_partners_are_uniform() {
    let mut counts = [0.0; 16];
    for round in 0..2000 {
        counts[plan_of("uniform", round, 16).role(1, 0).partner().unwrap()] += 1.0;
    }
    let expected = 2000.0 / 15.0;
    let chi2: f64 = counts[1..].iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
    assert!(chi2 < 55.0, "χ² = {chi2}");
}
