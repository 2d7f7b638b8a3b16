use super::super::{
    Account, Aim, NoisePlan, PlanError, Protects, Question, Visibility, epsilon_of_mu2, plan,
};
use super::*;
use crate::WalkSettings;
use crate::settings::Scope;

fn planned(shape: &Shape, protects: Protects, aim: Aim) -> NoisePlan {
    plan(&Question { shape, protects, visibility: Visibility::Network }, aim).unwrap()
}

fn target(epsilon: f64, scope: Scope) -> Aim {
    Aim::Epsilon { epsilon, scope }
}

#[test]
fn two_nodes_that_exchange_their_values_have_the_local_loss() {
    // Every exchange of two nodes shows the whole contribution: μ² = T/(z/2)² at node level.
    let shape = shape(2, 9, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
    for scope in [Scope::Local, Scope::Worst, Scope::Mean] {
        let plan = planned(&shape, Protects::Node, target(3.0, scope));
        let mu2 = 9.0 / (plan.planned.noise_multiplier / 2.0).powi(2);
        assert!((epsilon_of_mu2(mu2, DELTA) - 3.0).abs() < 1e-6, "{scope:?}");
        assert!((plan.planned.worst - 3.0).abs() < 1e-6 && plan.planned.worst <= 3.0 + 1e-9);
        assert_eq!(plan.release, gaussian(plan.planned.noise_multiplier / 2.0));
    }
}

#[test]
fn sixty_four_nodes_need_less_noise_than_local_and_meet_the_target() {
    for protects in [Protects::Node, Protects::Record { rate: 0.05 }, Protects::Record { rate: 1.0 }] {
        let shape = shape(64, 40, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
        let [local, worst, mean] = [Scope::Local, Scope::Worst, Scope::Mean]
            .map(|scope| planned(&shape, protects, target(2.0, scope)).planned);
        assert!(local.local <= 2.0 + 1e-9 && local.local > 1.99, "{protects:?} {local:?}");
        assert!(worst.worst <= 2.0 + 1e-9 && mean.mean <= 2.0 + 1e-9, "{protects:?}");
        assert!(mean.noise_multiplier < worst.noise_multiplier, "{protects:?} {mean:?} {worst:?}");
        assert!(worst.noise_multiplier < local.noise_multiplier, "{protects:?} {worst:?} {local:?}");
        assert_eq!(worst.analysis, "rounds");
    }
}

#[test]
fn without_noise_there_is_no_figure_and_no_limit() {
    let shape = shape(4, 3, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
    for aim in [Aim::Noise(0.0), target(f64::INFINITY, Scope::Worst)] {
        let plan = planned(&shape, Protects::Node, aim);
        assert_eq!((plan.planned.analysis.as_str(), plan.planned.worst), ("none", f64::INFINITY));
        assert!(plan.budget.is_empty() && plan.release == DpEvent::NonPrivate);
    }
    let question = Question { shape: &shape, protects: Protects::Node, visibility: Visibility::Network };
    assert!(matches!(plan(&question, target(0.0, Scope::Worst)), Err(PlanError::Target { .. })));
    assert!(matches!(plan(&question, Aim::Noise(-1.0)), Err(PlanError::Noise { .. })));
    // δ(0) ≈ μ/√(2π): at δ = 1e-9 and ε ≈ 0 the noise would have to be above 1e8.
    let strict = Shape { delta: 1e-9, ..shape.clone() };
    let question = Question { shape: &strict, ..question };
    assert!(matches!(plan(&question, target(1e-12, Scope::Local)), Err(PlanError::OutOfReach { .. })));
}

#[test]
fn gossip_that_trains_is_planned_by_its_mean_where_the_update_is_certified() {
    let ring: Vec<(u32, u32)> = (0..12).map(|node| (node, (node + 1) % 12)).collect();
    let plain = shape(12, 10, gossip_on(&ring, 12, 1, true), DpEvent::NonPrivate);
    let certified = plain.clone().with_rho(Some(1.0));
    let local = planned(&plain, Protects::Node, target(2.0, Scope::Mean)).planned;
    assert!((local.mean - local.local).abs() < 1e-12 && local.analysis.starts_with("local"), "{local:?}");
    let plan = planned(&certified, Protects::Node, target(2.0, Scope::Mean));
    assert_eq!(plan.planned.analysis, "contractive");
    assert!(plan.planned.noise_multiplier < local.noise_multiplier);
    assert!(plan.planned.mean <= 2.0 + 1e-9 && plan.planned.local > 2.0);
    assert_eq!((plan.budget[0].scope, plan.budget[0].limit), (Scope::Local, 10.0));
    // A direct neighbour on a ring sees every state of its neighbour.
    let worst = planned(&certified, Protects::Node, target(2.0, Scope::Worst)).planned;
    assert_eq!(worst.noise_multiplier, local.noise_multiplier);
}

#[test]
fn one_shot_averaging_on_a_complete_graph_reveals_every_input() {
    let edges: Vec<(u32, u32)> = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).collect();
    let shape = shape(5, 1, gossip_on(&edges, 5, 1, false), DpEvent::NonPrivate);
    let plan = planned(&shape, Protects::Node, target(1.0, Scope::Worst));
    assert_eq!(plan.planned.analysis, "rounds");
    assert!((plan.planned.worst - 1.0).abs() < 1e-6 && (plan.planned.local - 1.0).abs() < 1e-6);
}

#[test]
fn a_walk_is_planned_as_local_for_the_worst_and_by_an_estimate_for_the_mean() {
    let ring: Vec<(u32, u32)> = (0..10).map(|node| (node, (node + 1) % 10)).collect();
    let graph = Graph::from_edges(10, &ring).unwrap().0;
    let kernel = Arc::new(Weights::Metropolis.matrix(&graph).unwrap());
    let walk = Algorithm::Walk(WalkSettings::new(kernel, vec![0]));
    let shape = shape(10, 200, walk, DpEvent::NonPrivate).with_rho(Some(1.0));
    let worst = planned(&shape, Protects::Node, target(2.0, Scope::Worst));
    assert!((worst.planned.worst - 2.0).abs() < 1e-6);
    let mean = planned(&shape, Protects::Node, target(2.0, Scope::Mean));
    assert_eq!(mean.planned.analysis, "walk (estimate)");
    assert!(mean.planned.noise_multiplier < worst.planned.noise_multiplier);
    // Twenty visits are expected; the limit leaves room above that and is no licence.
    assert!(mean.budget[0].limit > 20.0 && mean.budget[0].limit < 100.0, "{}", mean.budget[0].limit);
}

#[test]
fn a_public_run_is_local_and_one_node_loses_nothing_to_others() {
    let of = |nodes| shape(nodes, 4, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
    let many = of(6);
    let question = Question { shape: &many, protects: Protects::Node, visibility: Visibility::Public };
    let plan = plan(&question, Aim::Noise(4.0)).unwrap().planned;
    assert_eq!((plan.worst, plan.mean, plan.analysis.as_str()), (plan.local, plan.local, "local"));
    // μ² = 4/(4/2)².
    assert!((plan.local - epsilon_of_mu2(1.0, DELTA)).abs() < 1e-9);
    let alone = planned(&of(1), Protects::Node, Aim::Noise(4.0)).planned;
    assert_eq!((alone.worst, alone.mean), (0.0, 0.0));
    assert!(Account::new(Shape { nodes: 0, ..of(1) }).is_err());
}
