//! Tokens whose holders die for good, between real processes.

use protocol::RunEvent;

use crate::rig::{Home, Node};

/// Renewals that some node wrote down, by generation.
fn renewals(home: &Home) -> Vec<(u32, usize)> {
    let of = |(node, lines): (usize, Vec<protocol::LogLine>)| {
        let generation = |line: protocol::LogLine| match line.event {
            RunEvent::TokenRestarted { generation, .. } => Some((generation, node)),
            _ => None,
        };
        lines.into_iter().filter_map(generation).collect::<Vec<_>>()
    };
    let mut all: Vec<(u32, usize)> = home.logs().into_iter().enumerate().flat_map(of).collect();
    all.sort_unstable();
    all
}

/// Of seven members, of whom two may be hostile, two die one after the other, whatever they held: five are a quorum, and decide where the token goes on.
#[test]
fn a_token_goes_on_when_members_die_for_good() {
    let settings = ["algorithm.kind=walk", "topology=complete", "rounds=400000", "timeouts.silence=\"1s\""];
    let home = Home::new("renewed", 7, &settings);
    let mut nodes: Vec<Node> = home.start_all();
    for _ in 0..2 {
        let hop = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
        nodes[0].until_round(hop + 20);
        nodes.pop().expect("some are left").kill();
        // Twenty more visits of a node that the dead one cannot have been offered in all: the token has met it, and has gone on.
        for _ in 0..20 {
            let hop = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
            nodes[0].until_round(hop + 10);
        }
    }
    assert!(nodes.into_iter().all(Node::stop));
    let all = renewals(&home);
    assert!(!all.is_empty(), "somebody went on from a copy");
    // A generation is opened once, by one member, and by decision: one after the other.
    let generations: Vec<u32> = all.iter().map(|(generation, _)| *generation).collect();
    assert_eq!(generations, (1..=generations.len() as u32).collect::<Vec<_>>(), "{all:?}");
    for node in 0..7 {
        assert!(home.records(node).len() >= home.released(node), "node {node}");
    }
}
