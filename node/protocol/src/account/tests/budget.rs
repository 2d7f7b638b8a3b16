use privacy::network::doubling::Blocks;
use proptest::prelude::*;
use topology::schedule::{Plan, shuffled_order};

use super::super::ReleaseKind;
use super::super::{Aim, PlanError, Protects, Question, Visibility, epsilon_of, own_limit, plan};
use super::*;
use crate::contribution::Budget;
use crate::settings::Scope;

/// What a node's budget let happen: contributions made, and the leverages charged towards each peer.
struct Walkthrough {
    made: u32,
    leverages: Vec<Vec<f64>>,
}

/// Runs node 0's budget over rounds of which `broken(t)` break, as the state machine does: one round is pending besides the new one.
fn walk_through(settings: &Settings, rounds: u32, broken: impl Fn(u32) -> bool) -> Walkthrough {
    let mut budget = Budget::new(settings);
    let mut done = Walkthrough { made: 0, leverages: vec![Vec::new(); settings.nodes] };
    let mut pending: Option<u32> = None;
    let mut settle = |budget: &mut Budget, round: u32| {
        let plan = Plan::with_order(shuffled_order(&settings.key, u64::from(round), settings.nodes)).unwrap();
        let mut column = vec![1.0; settings.nodes];
        if !broken(round) {
            Blocks::new(&plan, |_| true).leverages_of(0, &mut column);
        }
        column[0] = 0.0;
        budget.charge(settings, &column);
        done.leverages.iter_mut().zip(&column).for_each(|(list, leverage)| list.push(*leverage));
    };
    for round in 0..rounds {
        let before = pending.take();
        if budget.admits(settings, u32::from(before.is_some())).is_ok() {
            pending = Some(round);
        }
        if let Some(before) = before {
            settle(&mut budget, before);
        }
    }
    if let Some(last) = pending {
        settle(&mut budget, last);
    }
    done.made = done.leverages[1].len() as u32;
    done
}

fn planned(nodes: usize, rounds: u32, protects: Protects, scope: Scope) -> Settings {
    let shape = shape(nodes, rounds, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
    let question = Question { shape: &shape, protects, visibility: Visibility::Network };
    let plan = plan(&question, Aim::Epsilon { epsilon: 2.0, scope }).unwrap();
    let mut settings =
        settings(nodes, rounds, Algorithm::Rounds(crate::RoundsSettings::new(0)), plan.release);
    settings.budget = plan.budget;
    settings
}

fn epsilon_towards(settings: &Settings, leverages: &[f64]) -> f64 {
    let histogram: Vec<(f64, u64)> = leverages.iter().map(|&leverage| (leverage, 1)).collect();
    epsilon_of(ReleaseKind::of(&settings.release), &histogram, DELTA).unwrap()
}

const CASES: [(Protects, Scope); 5] = [
    (Protects::Node, Scope::Worst),
    (Protects::Node, Scope::Mean),
    (Protects::Node, Scope::Local),
    (Protects::Record { rate: 0.1 }, Scope::Worst),
    (Protects::Record { rate: 0.1 }, Scope::Mean),
];

#[test]
fn an_undisturbed_run_is_admitted_in_full_and_broken_rounds_are_refused_in_the_end() {
    for (protects, scope) in CASES {
        for (nodes, rounds) in [(2, 5), (7, 1), (7, 2), (8, 30)] {
            let settings = planned(nodes, rounds, protects, scope);
            let undisturbed = walk_through(&settings, rounds, |_| false);
            assert_eq!(undisturbed.made, rounds, "{protects:?} {scope:?}, {nodes} nodes");
            let disturbed = walk_through(&settings, 10 * rounds + 40, |_| true);
            assert!(disturbed.made < 10 * rounds + 40, "{protects:?} {scope:?}, {nodes} nodes");
        }
    }
}

#[test]
fn a_limit_of_ones_own_that_the_first_contribution_would_pass_is_refused() {
    for (protects, scope) in CASES {
        let settings = planned(4, 3, protects, scope);
        let shape = Shape::new(&settings, Adjacency::Node, DELTA);
        let refused = own_limit(&shape, 0.05, scope).unwrap_err();
        assert!(matches!(refused, PlanError::OwnLimit { one, .. } if one > 0.05), "{refused}");
        let silent = Shape { release: DpEvent::NonPrivate, ..shape };
        assert!(matches!(own_limit(&silent, 100.0, scope), Err(PlanError::OwnLimit { .. })));
    }
}

#[test]
fn a_limit_of_ones_own_lets_as_much_through_as_it_can() {
    for (protects, scope) in CASES {
        let mut settings = planned(8, 30, protects, scope);
        let shape = Shape::new(&settings, Adjacency::Node, DELTA);
        settings.budget = vec![own_limit(&shape, 1.0, scope).unwrap()];
        let made = walk_through(&settings, 30, |_| false).made;
        assert!((1..30).contains(&made), "{protects:?} {scope:?}: {made}");
        // The swarm's own target again: an undisturbed run is hardly disturbed by it.
        settings.budget = vec![own_limit(&shape, 2.0, scope).unwrap()];
        let made = walk_through(&settings, 30, |_| false).made;
        assert!(made >= 28, "{protects:?} {scope:?}: {made}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_limit_of_ones_own_is_never_passed(case in 0usize..5, nodes in 2usize..10, rounds in 8u32..12, breaks in any::<u64>()) {
        let (protects, scope) = CASES[case];
        let mut settings = planned(nodes, rounds, protects, scope);
        let shape = Shape::new(&settings, Adjacency::Node, DELTA);
        settings.budget = vec![own_limit(&shape, 1.5, scope).unwrap()];
        let done = walk_through(&settings, 60, |round| breaks >> (round % 64) & 1 == 1);
        let epsilons: Vec<f64> = done.leverages[1..].iter().map(|list| epsilon_towards(&settings, list)).collect();
        let reached = match scope {
            Scope::Worst | Scope::Local => epsilons.iter().copied().fold(0.0, f64::max),
            Scope::Mean => epsilons.iter().sum::<f64>() / epsilons.len() as f64,
        };
        prop_assert!(reached <= 1.5 + 1e-9, "{:?} {:?}: {}", protects, scope, reached);
    }

    #[test]
    fn the_target_is_never_passed_whatever_breaks(case in 0usize..5, nodes in 2usize..10, rounds in 1u32..12, breaks in any::<u64>()) {
        let (protects, scope) = CASES[case];
        let settings = planned(nodes, rounds, protects, scope);
        let done = walk_through(&settings, 60, |round| breaks >> (round % 64) & 1 == 1);
        let epsilons: Vec<f64> = done.leverages[1..].iter().map(|list| epsilon_towards(&settings, list)).collect();
        let reached = match scope {
            Scope::Worst | Scope::Local => epsilons.iter().copied().fold(0.0, f64::max),
            Scope::Mean => epsilons.iter().sum::<f64>() / epsilons.len() as f64,
        };
        prop_assert!(reached <= 2.0 + 1e-9, "{:?} {:?}: {}", protects, scope, reached);
    }
}
