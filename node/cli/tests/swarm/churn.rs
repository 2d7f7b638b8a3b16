//! Nodes that die and come back, at random moments that are the same in every run of the test.

use std::collections::{BTreeMap, BTreeSet};

use protocol::RunEvent;

use crate::rig::{Dice, Home, Node};

/// No contribution is missing from the account: by every node's ledger, and by what the others took into their models.
fn the_account_is_complete(home: &Home) {
    // Who contributed to a round, by the node's own log, and how many contributions others say went into it.
    let mut released: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let mut mixed: BTreeMap<u32, u32> = BTreeMap::new();
    for (node, lines) in home.logs().into_iter().enumerate() {
        for line in lines {
            match line.event {
                RunEvent::Released { round, .. } => {
                    assert!(released.entry(round).or_default().insert(node), "node {node} twice in {round}");
                }
                RunEvent::RoundDone { round, count, .. } => {
                    let most = mixed.entry(round).or_default();
                    *most = count.max(*most);
                }
                _ => {}
            }
        }
        let (records, released) = (home.records(node).len(), home.released(node));
        assert!(records >= released, "node {node}: {records} records, {released} releases");
    }
    assert!(!mixed.is_empty());
    for (round, count) in mixed {
        let known = released.get(&round).map_or(0, BTreeSet::len);
        assert!(known >= count as usize, "round {round}: {count} contributions, {known} on the account");
    }
    let total: usize = (0..home.nodes).map(|node| home.released(node)).sum();
    let (_, mut account) = home.account();
    assert_eq!(account.summary().releases, total as u64);
}

fn addresses(nodes: &mut [Option<Node>]) -> Vec<String> {
    nodes.iter_mut().flatten().map(Node::address).collect()
}

#[test]
fn of_sixteen_three_die_and_two_restart_and_the_rest_finish_as_well() {
    let settings = ["rounds=60", "privacy.epsilon=8", "timeouts.silence=\"3s\""];
    let home = Home::new("churn", 16, &settings);
    let mut nodes: Vec<Option<Node>> = home.start_all().into_iter().map(Some).collect();
    let mut dice = Dice::new(2024);
    let victims = dice.pick(5, 16);
    let witness = (0..16).find(|node| !victims.contains(node)).expect("eleven are left");
    let mut rounds: Vec<u64> = victims.iter().map(|_| 3 + dice.roll(42)).collect();
    rounds.sort_unstable();
    for (number, (&victim, round)) in victims.iter().zip(rounds).enumerate() {
        nodes[witness].as_mut().expect("it stays").until_round(round);
        nodes[victim].take().expect("it runs").kill();
        // Every other one comes back, until two have.
        if number % 2 == 1 {
            let others = addresses(&mut nodes);
            nodes[victim] = Some(home.restart(victim, &others));
        }
    }
    let rest: Vec<usize> = (0..16).filter(|&node| nodes[node].is_some()).collect();
    assert_eq!(rest.len(), 13);
    assert!(nodes.into_iter().flatten().all(Node::finish));
    let model = home.model(rest[0]);
    assert!(rest.iter().all(|&node| home.model(node) == model), "all that are left hold the same model");
    the_account_is_complete(&home);
    // Which contributions are in depends on when a node died, so the noise is another in every run. Where nobody dies, 24 seeds in the simulator give 0.871 with a
    // standard deviation of 0.017: five of them below that, a false alarm is rarer than one in a million.
    let accuracy = home.accuracy(rest[0]);
    assert!(accuracy > 0.785, "{accuracy} after churn");
}

/// What a swarm of the test of kills does.
const SWARMS: [(&str, usize, &[&str]); 6] = [
    ("rounds", 3, &[]),
    ("rounds", 4, &["optimiser.kind=adam"]),
    ("rounds", 7, &[]),
    ("gossip", 5, &["topology=ring"]),
    ("walk", 5, &["topology=ring"]),
    ("walk", 6, &["topology=complete", "algorithm.tokens=2"]),
];

/// Kills random nodes at random moments, each time starting them again with the same state. `more` is how many contributions there may be between two.
fn kill_in(home: &Home, times: usize, seed: u64) {
    let mut nodes: Vec<Option<Node>> = home.start_all().into_iter().map(Some).collect();
    let mut dice = Dice::new(seed);
    for _ in 0..times {
        let victim = dice.roll(home.nodes as u64) as usize;
        // After some contributions more, or in the middle of coming back.
        let more = dice.roll(4);
        let node = nodes[victim].as_mut().expect("all run");
        let before = node.catch_up()["released"].as_u64().unwrap_or(0);
        if more > 0 {
            node.until("more contributions", |status| {
                (status["released"].as_u64()? >= before + more).then_some(())
            });
        }
        nodes[victim].take().expect("all run").kill();
        let others = addresses(&mut nodes);
        nodes[victim] = Some(home.restart(victim, &others));
    }
    for node in nodes.iter_mut().flatten() {
        node.until("a contribution after all", |status| (status["released"].as_u64()? >= 1).then_some(()));
    }
    assert!(nodes.into_iter().flatten().all(Node::stop));
}

fn kill(times: usize) {
    // More rounds than the test will see, so that the run is under way at every kill.
    let rounds = format!("rounds={}", 20_000 + 1000 * times);
    let settings = [rounds.as_str(), "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""];
    let home = Home::new("kills", 4, &settings);
    kill_in(&home, times, 17);
    the_account_is_complete(&home);
}

/// What left a node has a record, and its report prices as many contributions as its ledger has, or more.
fn every_release_has_a_record(home: &Home) -> (usize, usize) {
    let mut all = (0, 0);
    for node in 0..home.nodes {
        let (records, released) = (home.records(node).len(), home.released(node));
        assert!(records >= released, "node {node}: {records} records, {released} releases");
        all = (all.0 + records, all.1 + released);
    }
    all
}

/// Fifty kills in each of six swarms: rounds, gossip and walks.
#[test]
#[ignore = "takes twenty minutes"]
fn three_hundred_kills_in_six_swarms_lose_nothing_and_all_go_on() {
    for (at, (kind, nodes, more)) in SWARMS.iter().enumerate() {
        let kind = format!("algorithm.kind={kind}");
        let base = [kind.as_str(), "rounds=200000", "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""];
        let home = Home::new(&format!("kills-{at}"), *nodes, &[&base[..], more].concat());
        kill_in(&home, 50, at as u64);
        let (records, released) = every_release_has_a_record(&home);
        println!("{kind}, {nodes} nodes: 50 kills, {records} records, {released} released");
        if kind.ends_with("rounds") {
            the_account_is_complete(&home);
        }
    }
}

/// A walk comes back when all of its nodes die at once.
#[test]
fn a_walk_goes_on_after_all_of_its_nodes_were_killed_at_once() {
    let settings = [
        "algorithm.kind=walk",
        "topology=ring",
        "rounds=200000",
        "privacy.noise_multiplier=1",
        "timeouts.silence=\"1s\"",
    ];
    let home = Home::new("walk", 4, &settings);
    let mut nodes = home.start_all();
    for _ in 0..3 {
        nodes[0].until("contributions", |status| (status["released"].as_u64()? >= 3).then_some(()));
        nodes.into_iter().for_each(Node::kill);
        nodes = home.start_all();
    }
    nodes[0].until("contributions", |status| (status["released"].as_u64()? >= 3).then_some(()));
    assert!(nodes.into_iter().all(Node::stop));
    every_release_has_a_record(&home);
}

#[test]
fn fifteen_kills_at_random_moments_lose_nothing_from_the_account() {
    kill(15);
}

#[test]
#[ignore = "takes ten minutes"]
fn two_hundred_kills_at_random_moments_lose_nothing_from_the_account() {
    kill(200);
}
