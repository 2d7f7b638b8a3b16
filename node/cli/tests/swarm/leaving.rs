//! A member that leaves for good tells the others, and takes its vote along.

use std::process::Command;

use protocol::{LogLine, RunEvent};

use crate::rig::{Home, Node};

/// Of five, four must be there. When one has left, three of four are enough.
#[test]
fn who_leaves_is_told_so_and_the_others_bear_one_more_that_dies() {
    let home =
        Home::pinned("leaves", 5, &["rounds=50000", "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""]);
    let mut nodes = home.start_all();
    nodes[0].until_round(3);
    let mut leave = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    let said =
        leave.args(["node", "leave", "--state"]).arg(home.state(4)).output().expect("the program starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let (code, words) = nodes.pop().expect("the last").code();
    assert_eq!(code, Some(1), "it ended before the run, as it was told to: {words}");
    let four = |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, .. } if members.len() == 4);
    nodes[0].until("a roster without it", |_| home.log(0).iter().any(four).then_some(()));
    nodes.pop().expect("another").kill();
    // Rounds that were over before it died are told of after it.
    let three =
        |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, .. } if members.len() == 3);
    nodes[0].until("a roster of three", |_| home.log(0).iter().any(three).then_some(()));
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 5);
    assert!(nodes.into_iter().all(Node::stop));
    let mut last = home.log(0).into_iter().filter_map(|line| match line.event {
        RunEvent::Roster { members, .. } => Some(members),
        _ => None,
    });
    assert_eq!(last.next_back().map(|members| members.len()), Some(3));
    assert!(home.records(4).len() >= home.released(4));
}
