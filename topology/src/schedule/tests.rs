use super::*;
use crate::Hint;

fn ring(nodes: u32) -> Arc<Graph> {
    let edges: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    Arc::new(Graph::from_edges(nodes as usize, &edges).unwrap().0)
}

fn setting() -> name::Setting {
    name::Setting { graph: Some(ring(12)), weights: Weights::Metropolis, steps: 4, run_id: "test".into() }
}

#[test]
fn names_are_read_as_they_are_written() {
    let names = ["fixed", "one-peer-exponential", "doubling", "shuffled-doubling", "random-matching"];
    for name in names.into_iter().chain(["resampled:regular:100,degree=4"]) {
        assert_eq!(name.parse::<ScheduleSpec>().unwrap().to_string(), name);
    }
    let error = "shufled-doubling".parse::<ScheduleSpec>().unwrap_err();
    assert!(error.hint().unwrap().contains("did you mean `shuffled-doubling`?"));
    assert!("resampled:".parse::<ScheduleSpec>().is_err());
}

#[test]
fn one_peer_exponential_refuses_other_sizes_with_a_hint_to_doubling() {
    let error = Schedule::OnePeerExponential.round(0, 12).unwrap_err();
    assert!(error.to_string().contains("12"));
    assert!(error.hint().unwrap().contains("doubling"));
    let round = Schedule::OnePeerExponential.round(0, 16).unwrap();
    assert_eq!(round.steps(), 4);
    assert_eq!(round.step(2).roles.unwrap()[5], Role::Exchange(5 ^ 4));
    assert_eq!(round.step(2).matrix.weight(5, 1), 0.5);
}

#[test]
fn an_empty_roster_is_refused_by_every_schedule() {
    for name in ["fixed", "one-peer-exponential", "doubling", "shuffled-doubling", "random-matching"] {
        let spec: ScheduleSpec = name.parse().unwrap();
        assert!(spec.schedule(&setting()).unwrap().round(0, 0).is_err(), "{name}");
    }
}

#[test]
fn only_a_fixed_schedule_needs_a_graph() {
    let setting = name::Setting { graph: None, ..setting() };
    for name in ["doubling", "shuffled-doubling", "random-matching", "resampled:regular:12,degree=4"] {
        let schedule = name.parse::<ScheduleSpec>().unwrap().schedule(&setting).unwrap();
        assert_eq!(schedule.round(0, 12).unwrap().nodes(), 12, "{name}");
    }
    assert!(matches!(ScheduleSpec::Fixed.schedule(&setting), Err(TopologyError::NeedsGraph)));
}

#[test]
fn the_roster_may_change_between_rounds() {
    let schedule = ScheduleSpec::ShuffledDoubling.schedule(&setting()).unwrap();
    for (round, nodes) in [(0, 12), (1, 11), (2, 9), (3, 17)] {
        let round = schedule.round(round, nodes).unwrap();
        assert_eq!(round.nodes(), nodes);
        assert!(round.iter().all(|step| step.matrix.nodes() == nodes && step.graph.nodes() == nodes));
    }
    let fixed = ScheduleSpec::Fixed.schedule(&setting()).unwrap();
    assert!(matches!(fixed.round(0, 11), Err(TopologyError::RosterSize { expected: 12, nodes: 11 })));
}

#[test]
fn messages_travel_along_the_graph_of_the_step_and_nowhere_else() {
    for name in ["fixed", "doubling", "shuffled-doubling", "random-matching"] {
        let schedule = name.parse::<ScheduleSpec>().unwrap().schedule(&setting()).unwrap();
        for step in schedule.round(3, 12).unwrap().iter() {
            let heard: usize = (0..12).map(|node| step.matrix.heard_by(node).count()).sum();
            assert!(heard >= step.graph.edges() && heard <= 2 * step.graph.edges(), "{name}");
            for node in 0..12 {
                assert!(step.matrix.heard_by(node).all(|other| step.graph.has_edge(node, other)), "{name}");
                if let Some(roles) = &step.roles {
                    assert!(step.matrix.heard_by(node).eq(roles[node].hears()), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_random_matching_is_maximal_fresh_in_each_step_and_repeatable() {
    let schedule = ScheduleSpec::RandomMatching.schedule(&setting()).unwrap();
    let round = schedule.round(1, 12).unwrap();
    for step in round.iter() {
        let idle = |node: usize| step.roles.as_ref().unwrap()[node] == Role::Idle;
        assert!((0..12).all(|node| !(idle(node) && idle((node + 1) % 12))));
        assert!(step.matrix.is_symmetric() && step.matrix.is_doubly_stochastic());
    }
    assert_ne!(round.step(0).roles, round.step(1).roles);
    assert_ne!(round.step(0).roles, schedule.round(2, 12).unwrap().step(0).roles);
    assert_eq!(round.step(0).roles, schedule.round(1, 12).unwrap().step(0).roles);
}

#[test]
fn on_the_complete_graph_at_most_one_node_is_idle() {
    let schedule = Schedule::RandomMatching { graph: None, key: RunKey::new("k"), steps: 5 };
    for step in schedule.round(0, 13).unwrap().iter() {
        assert_eq!(step.graph.edges(), 6);
    }
}

#[test]
fn a_resampled_graph_is_fresh_each_round_and_the_same_within_it() {
    let spec: ScheduleSpec = "resampled:regular:12,degree=3".parse().unwrap();
    let schedule = spec.schedule(&setting()).unwrap();
    let graphs = |round| schedule.round(round, 12).unwrap().iter().map(|step| step.graph).collect::<Vec<_>>();
    assert_eq!(graphs(0).len(), 4);
    assert!(graphs(0).windows(2).all(|pair| pair[0] == pair[1]));
    assert_ne!(graphs(0)[0], graphs(1)[0]);
    assert_eq!(graphs(1)[0], graphs(1)[0]);
    assert!(matches!(schedule.round(0, 13), Err(TopologyError::RosterSize { expected: 12, nodes: 13 })));
}

#[test]
fn a_family_that_cannot_be_resampled_is_refused_with_its_own_hint() {
    let error = "resampled:ring:12".parse::<ScheduleSpec>().unwrap_err();
    assert!(error.to_string().contains("ring:12") && error.hint().unwrap().contains("fixed"));
    let error = "resampled:regulr:12,degree=3".parse::<ScheduleSpec>().unwrap_err();
    assert!(error.to_string().contains("regulr") && error.hint().unwrap().contains("regular"));
}

/// Specification of accounting: after the one-peer-exponential schedule a watcher has lost 2^-k to a node first met
/// in step k. The rows that node 0 receives have disjoint supports, so the loss is the leverage r_u²/‖r‖² of
/// the row that first holds u; orthogonal rows need no QR.
#[test]
fn a_node_first_met_in_step_k_of_one_peer_exponential_loses_2_to_the_minus_k() {
    let nodes = 32;
    let round = Schedule::OnePeerExponential.round(0, nodes).unwrap();
    let mut rows: Vec<Vec<f64>> =
        (0..nodes).map(|i| (0..nodes).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for (k, step) in round.iter().enumerate() {
        let heard = step.matrix.heard_by(0).next().unwrap();
        let squared: f64 = rows[heard].iter().map(|r| r * r).sum();
        for (u, r) in rows[heard].iter().enumerate().filter(|(_, r)| **r > 0.0) {
            assert_eq!(u.ilog2() as usize, k, "first met in step {k}");
            assert!((r * r / squared - 0.5f64.powi(k as i32)).abs() < 1e-15);
        }
        let mixed = |i: usize, j: usize| {
            let (columns, values) = step.matrix.row(i);
            columns.iter().zip(values).map(|(&c, &w)| w * rows[c as usize][j]).sum::<f64>()
        };
        rows = (0..nodes).map(|i| (0..nodes).map(|j| mixed(i, j)).collect()).collect();
    }
}
