//! QUIC has no private network: the hello alone keeps strangers out.

use crate::lan::five_of_which_one_loses;
use crate::rig::{Home, Node, introduce};

const LISTEN: &str = "/ip4/127.0.0.1/udp/0/quic-v1";

fn start(home: &Home) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..home.nodes).map(|node| home.command_at(node, LISTEN).go()).collect();
    introduce(&mut nodes);
    nodes
}

#[test]
fn a_swarm_over_quic_trains_and_finishes() {
    let home = Home::new("quic", 3, &["rounds=10"]);
    let mut nodes = start(&home);
    assert!(nodes.iter_mut().all(|node| node.address().contains("/quic-v1")));
    assert!(nodes.into_iter().all(Node::finish));
    let models = [0, 1, 2].map(|node| home.model(node));
    assert!(models[0] == models[1] && models[1] == models[2], "all hold the same model");
}

#[test]
fn without_the_secret_nobody_gets_in_over_quic() {
    let (home, other) = (Home::new("quic", 2, &["rounds=10"]), Home::new("quic", 2, &["rounds=10"]));
    let mut first = home.command_at(0, LISTEN).go();
    let mut stranger = other.command_at(0, LISTEN).go();
    stranger.meet(&first.address());
    first.until("the stranger is turned away", |status| {
        let notice = status["notice"].as_str()?;
        assert_eq!(status["present"].as_u64(), Some(1), "nobody is let in");
        notice.contains("does not know the secret").then_some(())
    });
    // The door is still open to those who do.
    let mut second = home.command_at(1, LISTEN).go();
    second.meet(&first.address());
    assert!(first.finish() && second.finish());
}

const ANYWHERE: [&str; 2] = ["--listen", "/ip4/0.0.0.0/udp/0/quic-v1"];

#[test]
fn a_host_that_loses_a_fifth_of_all_packets_is_in_every_round_over_quic() {
    five_of_which_one_loses(20, 2000, &ANYWHERE);
}

#[test]
fn a_host_that_loses_two_fifths_of_all_packets_is_in_every_round_over_quic() {
    five_of_which_one_loses(40, 1000, &ANYWHERE);
}
