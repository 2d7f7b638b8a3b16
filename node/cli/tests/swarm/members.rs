//! Members that die, are replaced, join and come late: renewed swarm files that every member accepts for itself, and attempts to abuse them.

use std::process::{Command, Output};

use protocol::{LogLine, RunEvent};
use runtime::PeerId;
use runtime::identity::Identity;

use crate::rig::{Home, Node, introduce};

const QUICK: [&str; 2] = ["privacy.noise_multiplier=1", "timeouts.silence=\"1s\""];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

/// `murmur swarm renew` in the folder of a home, by what node `state` knows.
fn renew(home: &Home, (file, out): (&str, &str), state: usize, words: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.current_dir(home.path()).args(["swarm", "renew", file, "--out", out, "--state"]);
    command.arg(home.state(state)).args(words);
    command.output().expect("the program starts")
}

/// The same, which must succeed; what it said.
fn renewed(home: &Home, files: (&str, &str), state: usize, words: &[&str]) -> String {
    let output = renew(home, files, state, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// The same, which must fail; what it said.
fn refused(home: &Home, files: (&str, &str), state: usize, words: &[&str]) -> String {
    let output = renew(home, files, state, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!home.path().join(files.1).exists(), "it left a file behind");
    said
}

fn peer(home: &Home, node: usize) -> PeerId {
    Identity::load_or_create(&home.state(node)).expect("an identity").peer_id()
}

/// These nodes with this file, each told where the others are; node 4 takes the share of node 3.
fn start(home: &Home, file: &str, nodes: &[usize]) -> Vec<Node> {
    let go = |&node: &usize| home.command(node).of_file(file).with_share(node.min(3)).go();
    let mut nodes: Vec<Node> = nodes.iter().map(go).collect();
    introduce(&mut nodes);
    nodes
}

/// Four named members that have begun; the last is killed and the others go on without it, until all are stopped.
fn one_has_died(home: &Home) {
    let mut nodes = start(home, "swarm.toml", &[0, 1, 2, 3]);
    nodes[2].until_round(3);
    nodes.pop().expect("the last").kill();
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 3);
    assert!(nodes.into_iter().all(Node::stop));
}

fn released(lines: &[LogLine]) -> Vec<u32> {
    let round = |line: &LogLine| match line.event {
        RunEvent::Released { round, .. } => Some(round),
        _ => None,
    };
    lines.iter().filter_map(round).collect()
}

/// Where a node stood last before its log says that it accepted a renewal, and the first roster after it.
fn seam(lines: &[LogLine]) -> (u32, (u32, Vec<u32>)) {
    let at = lines.iter().position(|line| matches!(line.event, RunEvent::Renewed(_))).expect("a renewal");
    let before = lines[..at].iter().filter_map(|line| match &line.event {
        RunEvent::RoundDone { round, .. } | RunEvent::RoundBroken { round, .. } => Some(*round),
        _ => None,
    });
    let after = lines[at..].iter().find_map(|line| match &line.event {
        RunEvent::Roster { round, members, .. } => Some((*round, members.clone())),
        _ => None,
    });
    (before.max().unwrap_or(0), after.expect("a roster after it"))
}

fn report(home: &Home, node: usize) -> serde_json::Value {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    let output = command.arg("report").arg(home.state(node)).args(["--format", "json"]).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What a node says that does not start, with its exit code.
fn does_not_start(home: &Home, node: usize, file: &str) -> String {
    let output = home.command(node).of_file(file).output();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    // Lines are folded between words.
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_dead_machine_is_taken_out_and_the_run_goes_on_with_its_ledgers() {
    let home = Home::pinned("dead", 4, &with(&["rounds=120"]));
    one_has_died(&home);
    let spent: Vec<usize> = (0..3).map(|node| home.records(node).len()).collect();
    let said = renewed(&home, ("swarm.toml", "next.toml"), 2, &["--without", "n3"]);
    for words in
        ["without   n3", "members   3: n0, n1, n2", "decide    2 of them; 1 may be missing, 0 hostile"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(start(&home, "next.toml", &[0, 1, 2]).into_iter().all(Node::finish));
    let model = home.model(0);
    for (node, spent) in spent.iter().enumerate() {
        assert_eq!(home.model(node), model, "node {node}");
        let lines = home.log(node);
        let (last, (first, members)) = seam(&lines);
        assert!(first > last && members.len() == 3, "round {first} after {last}, {members:?}");
        let mut rounds = released(&lines);
        let count = rounds.len();
        rounds.sort_unstable();
        rounds.dedup();
        assert_eq!(rounds.len(), count, "node {node} contributed twice to a round");
        let records = home.records(node).len();
        assert!(records >= count && records > *spent, "{records} records, {spent} before");
        let report = report(&home, node);
        assert_eq!(report["rounds"]["contributions"].as_u64(), Some(records as u64), "both parts together");
        assert_eq!(report["participants"], 4);
        let told = report["counted"].to_string();
        assert!(told.contains("Renewal 1") && told.contains("without n3"), "{told}");
    }
    let mut verify = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    verify
        .arg("verify")
        .arg(home.state(1).join("model.decision"))
        .arg(home.state(1).join("model.safetensors"));
    let proved = verify.arg("--swarm").arg(home.path().join("next.toml")).output().expect("it starts");
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stdout));
    assert!(String::from_utf8_lossy(&proved.stdout).contains("renewed"));
    // There is nothing left to renew.
    assert!(refused(&home, ("next.toml", "more.toml"), 0, &["--without", "n2"]).contains("the run is over"));
}

#[test]
fn a_machine_is_replaced_and_its_old_key_is_refused_by_name_though_it_holds_the_secret() {
    let home = Home::pinned("replaced", 4, &with(&["rounds=50000", "privacy.masking=pairwise"]));
    one_has_died(&home);
    let new = format!("n3={}", peer(&home, 4));
    let said = renewed(&home, ("swarm.toml", "next.toml"), 2, &["--replace", &new]);
    assert!(said.contains("replaced  n3") && said.contains("1 may be missing, 1 hostile"), "{said}");
    assert!(said.contains("still knows the secret"), "{said}");
    let mut nodes = start(&home, "next.toml", &[0, 1, 2, 4]);
    nodes[3].until("contributions of the new machine", |status| {
        (status["released"].as_u64()? >= 3).then_some(())
    });
    let (_, (_, members)) = seam(&home.log(4));
    assert_eq!(members.len(), 4, "{members:?}");
    assert_eq!(report(&home, 4)["participants"], 5);
    // With the old file, which has the same secret, the old machine calls; with the new one it does not even start.
    let mut old = home.command(3).go();
    let addresses: Vec<String> = nodes.iter_mut().map(Node::address).collect();
    addresses.iter().for_each(|address| old.meet(address));
    nodes[0].until("a word about the old key", |status| {
        status["notice"].as_str()?.contains("`n3` got another key by renewal 1").then_some(())
    });
    let round = nodes[1].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[1].until_round(round + 2);
    old.kill();
    let said = does_not_start(&home, 3, "next.toml");
    assert!(said.contains("`n3` got another key by renewal 1"), "{said}");
    assert!(nodes.into_iter().all(Node::stop));
}

/// One operator makes a file without an honest member, and starts with it: the others, who have not accepted it, go on as if it were not there.
#[test]
fn a_renewal_that_one_operator_made_alone_throws_nobody_out() {
    let home = Home::pinned("alone", 4, &with(&["rounds=150"]));
    let mut nodes = start(&home, "swarm.toml", &[0, 1, 2, 3]);
    nodes[0].until_round(3);
    assert!(nodes.remove(0).stop());
    renewed(&home, ("swarm.toml", "alone.toml"), 0, &["--without", "n3"]);
    let mut lone = home.command(0).of_file("alone.toml").go();
    for node in &mut nodes {
        let address = node.address();
        lone.meet(&address);
    }
    nodes[1].until("a word about the other renewal", |status| {
        status["notice"].as_str()?.contains("has not accepted this renewal of the swarm file").then_some(())
    });
    assert!(nodes.into_iter().all(Node::finish), "three of four are a quorum");
    let rosters = |node: usize| {
        let roster = |line: LogLine| match line.event {
            RunEvent::Roster { members, .. } => Some(members),
            _ => None,
        };
        home.log(node).into_iter().filter_map(roster).collect::<Vec<_>>()
    };
    assert!(home.model(1) == home.model(3) && home.model(2) == home.model(3));
    assert!(rosters(3).iter().all(|members| members.len() >= 3));
    assert!(lone.last["phase"].as_str().is_none_or(|phase| phase == "gathering"), "{}", lone.last);
    assert!(!home.log(0).iter().any(|line| matches!(line.event, RunEvent::Renewed(_))), "it began nothing");
    drop(lone);
}

/// Files that would take back what a node knows: a decision, a renewal, its own acceptance; and one that was changed by hand.
#[test]
fn older_files_and_older_decisions_are_refused_by_each_node_for_itself() {
    let home = Home::pinned("older", 4, &with(&["rounds=50000"]));
    let mut nodes = start(&home, "swarm.toml", &[0, 1, 2, 3]);
    nodes[0].until_round(2);
    assert!(nodes.remove(0).stop());
    // By what node 0 knows the model of the beginning counts; the others decide on a later one without it.
    renewed(&home, ("swarm.toml", "early.toml"), 0, &["--set", "learning_rate=0.1"]);
    nodes[0].until("a decision without node 0", |_| {
        let without =
            |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, .. } if members.len() == 3);
        home.log(1).iter().any(without).then_some(())
    });
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 1);
    assert!(nodes.into_iter().all(Node::stop));
    let said = does_not_start(&home, 1, "early.toml");
    assert!(said.contains("it goes on from decision") && said.contains("murmur swarm renew"), "{said}");
    // What follows from the newest is accepted by all, and goes on.
    renewed(&home, ("swarm.toml", "one.toml"), 3, &["--set", "learning_rate=0.1"]);
    let mut nodes = start(&home, "one.toml", &[0, 1, 2, 3]);
    nodes.iter_mut().for_each(|node| {
        node.until("contributions", |status| (status["released"].as_u64()? >= 2).then_some(()));
    });
    assert!(nodes.into_iter().all(Node::stop));
    assert!(does_not_start(&home, 2, "swarm.toml").contains("it has accepted renewal 1, and the file has 0"));
    assert!(does_not_start(&home, 2, "early.toml").contains("it has accepted another renewal 1"));
    let records = home.records(2).len();
    renewed(&home, ("one.toml", "two.toml"), 2, &["--set", "learning_rate=0.2", "--new-secret"]);
    let mut nodes = start(&home, "two.toml", &[0, 1, 2, 3]);
    nodes[2].until("contributions", |status| (status["released"].as_u64()? >= 2).then_some(()));
    assert!(nodes.into_iter().all(Node::stop));
    assert!(home.records(2).len() > records, "one ledger for all parts");
    assert!(does_not_start(&home, 2, "one.toml").contains("it has accepted renewal 2, and the file has 1"));
    // By hand.
    let text = std::fs::read_to_string(home.path().join("two.toml")).expect("a file");
    let forged = text.replace("learning_rate = 0.2", "learning_rate = 9.5");
    assert_ne!(forged, text);
    std::fs::write(home.path().join("forged.toml"), forged).expect("a file");
    assert!(does_not_start(&home, 2, "forged.toml").contains("renewal 2 was changed by hand"));
}

/// More rounds than the noise was planned for: the budget holds over both parts, in what nodes do and in what the report says.
#[test]
fn more_rounds_cost_no_more_than_the_budget_and_other_settings_are_refused_by_name() {
    // Nobody dies here, and on a busy machine nobody is to be left out: all contribute to every round that the budget allows.
    let home = Home::pinned("rounds", 3, &["rounds=30", "privacy.epsilon=2", "timeouts.silence=\"30s\""]);
    let mut nodes = start(&home, "swarm.toml", &[0, 1, 2]);
    nodes[0].until_round(5);
    assert!(nodes.into_iter().all(Node::stop));
    for setting in ["privacy.epsilon=9", "batch_size=7", "seed=3"] {
        let said = refused(&home, ("swarm.toml", "more.toml"), 2, &["--set", setting]);
        let key = setting.split('=').next().unwrap_or_default();
        assert!(said.contains(&format!("`{key}` cannot change on the way")), "{said}");
    }
    let said = renewed(&home, ("swarm.toml", "more.toml"), 2, &["--set", "rounds=60"]);
    assert!(said.contains("planned for 30 rounds: the budget of ε = 2 holds over all 60"), "{said}");
    assert!(start(&home, "more.toml", &[0, 1, 2]).into_iter().all(Node::finish));
    let report = report(&home, 1);
    let worst = report["worst"]["epsilon"].as_f64().expect("a figure");
    assert!(worst <= 2.0 && worst > 1.5, "{worst}: the budget is used, and holds");
    assert!(report["rounds"]["refused"].as_u64().is_some_and(|refused| refused > 10), "{}", report["rounds"]);
    assert!(report["counted"].to_string().contains("for 60 rounds in all"), "{}", report["counted"]);
}

/// Three of four begin without the fourth, which comes when rounds are under way: it is let in, and accounted from its first round.
#[test]
fn a_named_member_that_comes_late_is_let_in_and_accounted_from_its_first_round() {
    for masking in ["none", "pairwise"] {
        let masking = format!("privacy.masking={masking}");
        let home = Home::pinned("late", 4, &with(&["rounds=50000", "members.late=true", &masking]));
        let mut nodes = start(&home, "swarm.toml", &[0, 1, 2]);
        nodes[0].until_round(3);
        let mut late = home.command(3).go();
        for node in &mut nodes {
            let address = node.address();
            late.meet(&address);
        }
        late.until("contributions", |status| (status["released"].as_u64()? >= 3).then_some(()));
        assert!(late.stop() && nodes.into_iter().all(Node::stop));
        let first = released(&home.log(3)).into_iter().min().expect("contributions");
        assert!(first >= 3, "its first round is {first}");
        let with_it = home.log(0).into_iter().find_map(|line| match line.event {
            RunEvent::Roster { round, members, .. } if members.len() == 4 => Some(round),
            _ => None,
        });
        assert!(with_it.is_some_and(|round| round <= first), "{with_it:?}");
        let report = report(&home, 3);
        let mine = home.records(3).len() as u64;
        assert_eq!(report["rounds"]["contributions"].as_u64(), Some(mine));
    }
}

/// A renewed file may let somebody in who comes later: the run does not wait for it.
#[test]
fn who_a_renewal_lets_in_may_come_later_where_members_may_be_late() {
    let home = Home::pinned("joins", 3, &with(&["rounds=50000", "members.late=true"]));
    let mut nodes = start(&home, "swarm.toml", &[0, 1, 2]);
    nodes[0].until_round(2);
    assert!(nodes.into_iter().all(Node::stop));
    let member = format!("n3={}", peer(&home, 3));
    let said = renewed(&home, ("swarm.toml", "next.toml"), 2, &["--member", &member]);
    assert!(said.contains("joins     n3") && said.contains("members   4: n0, n1, n2, n3"), "{said}");
    let mut nodes = start(&home, "next.toml", &[0, 1, 2]);
    nodes[1].until("rounds without it", |status| (status["released"].as_u64()? >= 2).then_some(()));
    let mut late = home.command(3).of_file("next.toml").with_share(2).go();
    for node in &mut nodes {
        let address = node.address();
        late.meet(&address);
    }
    late.until("contributions", |status| (status["released"].as_u64()? >= 2).then_some(()));
    assert!(late.stop() && nodes.into_iter().all(Node::stop));
}

/// With fewer than a quorum the others wait, name who is missing, and go on when enough are back; where nobody is taken to be hostile a majority goes on.
#[test]
fn fewer_than_a_quorum_wait_by_name_and_a_majority_goes_on_where_nobody_is_hostile() {
    let home = Home::pinned("waits", 4, &with(&["rounds=50000"]));
    let mut nodes = start(&home, "swarm.toml", &[0, 1, 2, 3]);
    nodes[0].until_round(2);
    nodes.drain(2..).for_each(Node::kill);
    let waits = |home: &Home| {
        let missing = |line: LogLine| match line.event {
            RunEvent::Waiting { missing } if missing.len() == 2 => Some(missing),
            _ => None,
        };
        home.log(0).into_iter().find_map(missing)
    };
    let missing = nodes[0].until("a word on who is missing", |_| waits(&home));
    assert_eq!(missing.len(), 2, "{missing:?}");
    let others: Vec<String> = nodes.iter_mut().map(Node::address).collect();
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    let back = home.restart(2, &others);
    nodes[0].until_round(round + 3);
    assert!(nodes.into_iter().chain([back]).all(Node::stop));

    // Of five that bear a hostile one four would have to be there.
    let home = Home::pinned("majority", 5, &with(&["rounds=50000", "members.hostile=0"]));
    let mut nodes = home.start_all();
    nodes[0].until_round(2);
    nodes.drain(3..).for_each(Node::kill);
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 3);
    assert!(nodes.into_iter().all(Node::stop));
}
