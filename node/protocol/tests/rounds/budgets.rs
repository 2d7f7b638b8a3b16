//! Claims about budgets in rounds: limits of one's own, and who hides whom.

use super::*;

/// A swarm of four in which node 0 allows itself two contributions; everybody has a limit towards the worst pair.
fn with_a_stingy_node(limit: f64) -> Swarm {
    let mut common = settings(4, 12);
    common.budget = vec![BudgetRule {
        scope: Scope::Worst,
        limit,
        price: Price::Gaussian { noise_multiplier: 1.0 },
        name: "all".into(),
    }];
    let mut swarm = Swarm::new(common.clone());
    common.budget.push(BudgetRule {
        scope: Scope::Local,
        limit: 2.0,
        price: Price::Releases,
        name: "own".into(),
    });
    swarm.nodes[0] = Some(Node::new(0, Arc::new(common), None));
    swarm
}

/// One contribution costs 1/σ² = 1 in full; what masks would hide of it does not count for what nobody remembers.
#[test]
fn records_of_which_nothing_is_known_are_charged_in_full() {
    let settings = with_a_stingy_node(1e6).settings;
    let saved =
        protocol::Snapshot { records: 3, spent: vec![vec![0.5; 4]], ..protocol::Snapshot::first(&settings) };
    let charged = saved.with_unknown(&settings, 5);
    assert_eq!((charged.records, charged.spent.len(), charged.spent[0].len()), (8, 1, 4));
    // Prices round up.
    assert!(charged.spent[0].iter().all(|spent| (5.5..5.5 + 1e-9).contains(spent)), "{:?}", charged.spent);
}

#[test]
fn a_node_with_a_limit_of_its_own_stops_alone() {
    let mut swarm = with_a_stingy_node(1e6);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    let released = |node| {
        let of_node =
            |event: &&(PeerIx, RunEvent)| event.0 == node && matches!(event.1, RunEvent::Released { .. });
        swarm.log.iter().filter(of_node).count()
    };
    assert_eq!([0, 1, 2, 3].map(released), [2, 12, 12, 12]);
    let refused = swarm.log.iter().find_map(|(node, event)| match event {
        RunEvent::Refused { reason, .. } => Some((*node, reason.clone())),
        _ => None,
    });
    let (node, reason) = refused.unwrap();
    assert!(node == 0 && reason.contains("of own spent"), "{reason}");
}

/// Who adds nothing hides nobody: the others charge themselves at least what the account of the log says, and less than everything.
#[test]
fn who_stops_contributing_is_not_counted_as_hiding_others() {
    let mut swarm = with_a_stingy_node(1e6);
    let mut shape = protocol::account::Shape::new(&swarm.settings, protocol::work::Adjacency::Node, 1e-5);
    shape.release = DpEvent::Gaussian { noise_multiplier: 1.0 };
    swarm.run();
    let mut account = protocol::account::Account::new(shape).unwrap();
    for (node, event) in &swarm.log {
        let event = match event.clone() {
            RunEvent::Released { round, token, generation, loss, .. } => {
                RunEvent::Released { round, token, generation, release: None, among: None, loss }
            }
            other => other,
        };
        account.push(&protocol::LogLine { time: Time(0), node: Some(*node), event });
    }
    for node in 1..4_usize {
        let charged = swarm.nodes[node].as_ref().unwrap().spent()[0] * 1e6;
        let real = (0..4).map(|watcher| account.mu2(node, watcher)).fold(0.0, f64::max);
        assert!(charged * (1.0 + 1e-6) >= real, "node {node}: charged {charged}, lost {real}");
        assert!(charged < 12.0, "node {node}: charged {charged} of 12 contributions");
    }
}

#[test]
fn a_limit_that_is_new_after_a_restart_counts_what_was_before() {
    let mut swarm = Swarm::new(settings(3, 10));
    swarm.run_until(30_000);
    let before = swarm.records[1];
    assert!(before > 1);
    swarm.crash(1);
    let mut stricter = settings(3, 10);
    stricter.budget = vec![BudgetRule {
        scope: Scope::Local,
        limit: before as f64,
        price: Price::Releases,
        name: "new".into(),
    }];
    swarm.settings = Arc::new(stricter);
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..3);
    assert_eq!(swarm.records[1], before, "nothing more was contributed");
}

#[test]
fn a_spent_budget_stops_contributions_but_not_the_mixing() {
    let mut settings = settings(4, 10);
    // Room for six contributions charged in full.
    settings.budget = vec![BudgetRule {
        scope: Scope::Local,
        limit: 6.0,
        price: Price::Gaussian { noise_multiplier: 1.0 + 1e-9 },
        name: "test".into(),
    }];
    let mut swarm = Swarm::new(settings);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    for node in 0..4 {
        let of = |wanted: &dyn Fn(&RunEvent) -> bool| {
            swarm.log.iter().filter(|(at, event)| *at == node && wanted(event)).count()
        };
        assert_eq!(of(&|event| matches!(event, RunEvent::Released { .. })), 6);
        assert_eq!(of(&|event| matches!(event, RunEvent::Refused { .. })), 4);
        assert_eq!(of(&|event| matches!(event, RunEvent::RoundDone { .. })), 10);
    }
}
