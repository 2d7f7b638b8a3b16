//! A node's own limit, which it keeps whatever the swarm asks for.

use protocol::RunEvent;

use crate::rig::{Home, introduce};

const RUN: [&str; 2] = ["rounds=16", "privacy.epsilon=6"];

#[test]
fn a_node_keeps_its_own_limit_and_goes_on_mixing() {
    let home = Home::new("own limit", 3, &RUN);
    let mut nodes = vec![home.command(0).with(&["--set", "budget.epsilon=3"]).go()];
    nodes.extend((1..3).map(|node| home.command(node).go()));
    introduce(&mut nodes);
    let position = nodes[0].until("its position", |status| status["position"].as_u64()) as usize;
    // A fast run is over before the screen has shown every notice: the log keeps them all.
    let shown =
        nodes[0].until("the end", |status| (status["phase"] == "done").then(|| status["spent"].clone()));
    assert!(shown[1][0].as_str().is_some_and(|name| name.contains("ε = 3")), "{shown}");
    assert!(nodes.into_iter().all(super::rig::Node::finish));
    let own = |line: &protocol::LogLine| match &line.event {
        RunEvent::Refused { reason, .. } => reason.contains("this node's own limit"),
        _ => false,
    };
    let refusals = home.log(0).iter().filter(|line| own(line)).count();
    let released = [0, 1, 2].map(|node| home.released(node));
    assert!(released[0] > 0 && refusals > 0 && released[0] + refusals >= 16, "{released:?}, {refusals}");
    assert!(released[1] > released[0], "the others went on: {released:?}");
    let (_, mut account) = home.account();
    let others = (0..3).map(|watcher| account.epsilon(position, watcher));
    let worst = others.fold(0.0, f64::max);
    assert!(worst > 0.0 && worst <= 3.0, "ε = {worst}");
    let models = [0, 1, 2].map(|node| home.model(node));
    assert!(models[0] == models[1] && models[1] == models[2], "all hold the same model");
}

#[test]
fn a_node_does_not_join_where_one_contribution_would_pass_its_limit() {
    let home = Home::new("too dear", 3, &RUN);
    let refused = home.command(0).with(&["--set", "budget.epsilon=0.01"]).output();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("this node's own limit is 0.01"), "{text}");
    assert!(text.contains("hint:"), "{text}");
    assert!(!home.state(0).exists(), "nothing was begun");
}
