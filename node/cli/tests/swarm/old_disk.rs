//! Old copies of a node's folder, clones of it, and ledgers that a disk has damaged.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::rig::{Dice, Home, Node};

const SETTINGS: [&str; 3] = ["rounds=200000", "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""];

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("room for it");
    }
}

fn murmur(home: &Home, words: &[&str], state: &Path) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(words).arg(state).env("MURMUR_LEDGER", home.path().join("ledger"));
    command.output().expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn until_released(node: &mut Node, count: u64) {
    node.until("contributions", |status| (status["released"].as_u64()? >= count).then_some(()));
}

fn report(home: &Home, state: &Path) -> Value {
    let output = murmur(home, &["report", "--format", "json"], state);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no report: {}", said(&output)))
}

#[test]
fn a_restored_folder_is_noticed_and_what_it_forgot_is_charged_in_full() {
    let home = Home::new("old", 3, &SETTINGS);
    let mut nodes = home.start_all();
    let others: Vec<String> = nodes[1..].iter_mut().map(Node::address).collect();
    until_released(&mut nodes[0], 20);
    assert!(nodes.remove(0).stop());
    let backup = home.path().join("backup");
    copy(&home.state(0), &backup);
    let mut again = home.restart(0, &others);
    until_released(&mut again, 30);
    assert!(again.stop());
    let (real, kept) = (home.records(0).len(), records(&backup));
    assert!(real >= kept + 30, "{real} of {kept}");
    // The old copy is known for what it is before anything is started.
    copy(&backup, &home.state(0));
    let check = murmur(&home, &["ledger", "check"], &home.state(0));
    assert_eq!(check.status.code(), Some(1), "{}", said(&check));
    assert!(said(&check).contains(&format!("{} contributions are missing", real - kept)), "{}", said(&check));
    let told = report(&home, &home.state(0));
    assert_eq!(forgotten(&told), (real - kept) as u64, "the report of an old copy counts all");
    // It goes on, and says so; ledger and report have everything.
    let mut back = home.restart(0, &others);
    until_released(&mut back, 5);
    assert!(back.stop());
    let words = std::fs::read_to_string(home.path().join("0.stderr")).expect("its messages");
    assert!(words.contains("is older than what this node has sent"), "{words}");
    let all = home.records(0).len();
    assert!(all >= real + 5, "{all} records, {real} before");
    let after = report(&home, &home.state(0));
    // It may have made records up to its reserve, which is less than a block of 64 and those on the way beyond.
    let charged = forgotten(&after);
    assert!((0..=67).contains(&(charged - (real - kept) as u64)), "{charged} of {real} - {kept}");
    // The same contributions without the forgotten ones cost less.
    let [old, now] = [&told, &after].map(|report| report["local"]["epsilon"].as_f64().expect("a figure"));
    assert!(now > old && old > epsilon_of(&home, &backup), "{old} {now}");
    let check = murmur(&home, &["ledger", "check"], &home.state(0));
    assert!(check.status.success() && said(&check).contains("nothing is missing"), "{}", said(&check));
    assert!(nodes.into_iter().all(Node::stop));
}

fn records(state: &Path) -> usize {
    runtime::ledger::peek(state).expect("a whole ledger").expect("a ledger").records.len()
}

/// Contributions that the report charges because an old copy had forgotten them.
fn forgotten(report: &Value) -> u64 {
    let faults = report["faults"].as_array().expect("a list").iter();
    let of_old = faults.filter(|fault| fault["kind"].to_string().contains("old copy of the state"));
    of_old.map(|fault| fault["count"].as_u64().expect("a count")).sum()
}

/// What the report of a folder says that nobody counts records for.
fn epsilon_of(home: &Home, state: &Path) -> f64 {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["report", "--format", "json"]).arg(state).env("MURMUR_LEDGER", home.path().join("nowhere"));
    let output = command.output().expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(forgotten(&report), 0);
    report["local"]["epsilon"].as_f64().expect("a figure")
}

/// Folder and count from one backup: nothing on this machine knows that there was more, but the others do.
#[test]
fn a_folder_restored_together_with_its_count_is_noticed() {
    let home = Home::new("both", 3, &SETTINGS);
    let mut nodes = home.start_all();
    let others: Vec<String> = nodes[1..].iter_mut().map(Node::address).collect();
    until_released(&mut nodes[0], 20);
    assert!(nodes.remove(0).stop());
    let (backup, outside, counts) = (home.path().join("backup"), home.path().join("ledger"), "counts");
    copy(&home.state(0), &backup);
    copy(&outside.join(counts), &home.path().join("backup-of-counts"));
    let mut again = home.restart(0, &others);
    until_released(&mut again, 100);
    assert!(again.stop());
    let (real, kept) = (home.records(0).len(), records(&backup));
    copy(&backup, &home.state(0));
    copy(&home.path().join("backup-of-counts"), &outside.join(counts));
    let check = murmur(&home, &["ledger", "check"], &home.state(0));
    assert!(check.status.success(), "nothing here knows better: {}", said(&check));
    let mut back = home.restart(0, &others);
    until_released(&mut back, 5);
    assert!(back.stop());
    let words = std::fs::read_to_string(home.path().join("0.stderr")).expect("its messages");
    assert!(words.contains("is older than what this node has sent"), "{words}");
    let (all, charged) = (home.records(0).len(), forgotten(&report(&home, &home.state(0))));
    assert!(all >= real + 5, "{all} records, {real} before");
    assert!(
        (real - kept) as u64 <= charged && charged <= (real - kept) as u64 + 67,
        "{charged} of {real} - {kept}"
    );
    assert!(nodes.into_iter().all(Node::stop));
}

/// The same with a backup so young that its reserve is still the last one: what the others hold says nothing, and what they saw does.
#[test]
fn a_folder_restored_together_with_its_count_within_one_reserve_is_noticed() {
    let home = Home::new("young", 3, &SETTINGS);
    let mut nodes = home.start_all();
    let others: Vec<String> = nodes[1..].iter_mut().map(Node::address).collect();
    until_released(&mut nodes[0], 5);
    assert!(nodes.remove(0).stop());
    let (backup, outside) = (home.path().join("backup"), home.path().join("ledger").join("counts"));
    // When a process ends is chance: until copy and end lie in one reserve, which is 64 records long.
    let found = (0..40).find_map(|_| {
        copy(&home.state(0), &backup);
        copy(&outside, &home.path().join("backup-of-counts"));
        let (kept, reserve) = (home.records(0).len(), home.reserve(0));
        let mut again = home.restart(0, &others);
        until_released(&mut again, 4);
        assert!(again.stop());
        let real = home.records(0).len();
        (home.reserve(0) == reserve && real >= kept + 4).then_some((kept, real))
    });
    let (kept, real) = found.expect("one of forty is so short");
    copy(&backup, &home.state(0));
    copy(&home.path().join("backup-of-counts"), &outside);
    let mut back = home.restart(0, &others);
    until_released(&mut back, 5);
    assert!(back.stop());
    let words = std::fs::read_to_string(home.path().join("0.stderr")).expect("its messages");
    assert!(words.contains("is older than what this node has sent"), "{words}");
    let charged = forgotten(&report(&home, &home.state(0)));
    assert!(
        // Three more at most where all answer in time; else up to the reserve.
        (real - kept) as u64 <= charged && charged <= (real - kept) as u64 + 67,
        "{charged} of {real} - {kept}"
    );
    assert!(nodes.into_iter().all(Node::stop));
}

#[test]
fn a_clone_ends_with_a_message_and_is_not_heard_much_of() {
    let home = Home::new("clone", 4, &SETTINGS);
    let mut nodes = home.start_all();
    until_released(&mut nodes[0], 5);
    let others: Vec<String> = nodes[1..].iter_mut().map(Node::address).collect();
    let first = nodes.remove(0);
    assert!(first.stop());
    copy(&home.state(0), &home.path().join("copy"));
    let mut again = home.restart(0, &others);
    until_released(&mut again, 5);
    // On this machine the count knows it; elsewhere the others say it.
    for (ledger, expected) in [("ledger", "another process on this machine"), ("elsewhere", "is connected")] {
        let mut clone = home.command_in(0, &home.path().join("copy"), &home.path().join(ledger)).go();
        if ledger == "elsewhere" {
            others.iter().for_each(|address| clone.meet(address));
        }
        let (code, said) = clone.code();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("two nodes have one identity") && said.contains(expected), "{said}");
    }
    let round = again.catch_up()["round"].as_u64().unwrap_or(0);
    again.until_round(round + 3);
    assert!(again.stop() && nodes.into_iter().all(Node::stop));
    for node in 1..4 {
        let words = std::fs::read_to_string(home.path().join(format!("{node}.stderr"))).expect("messages");
        let times = words.matches("another process with the identity").count();
        assert!(times <= 3, "node {node} turned the clone away {times} times");
    }
}

/// Damages copies of a node's ledger; how many were refused.
fn damage(copies: usize) -> usize {
    let home = Home::new("damaged", 3, &SETTINGS);
    let mut nodes = home.start_all();
    until_released(&mut nodes[0], 40);
    assert!(nodes.into_iter().all(Node::stop));
    let whole = std::fs::read(home.state(0).join("ledger.redb")).expect("a ledger");
    let (real, mut dice, mut refused) = (records(&home.state(0)), Dice::new(5), 0);
    for time in 0..copies {
        let mut bytes = whole.clone();
        let at = dice.roll(bytes.len() as u64) as usize;
        match dice.roll(3) {
            0 => bytes.truncate(at),
            1 => bytes[at / 4096 * 4096..].iter_mut().take(4096).for_each(|byte| *byte = 0),
            _ => (0..8).for_each(|_| {
                let at = dice.roll(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << dice.roll(8);
            }),
        }
        std::fs::write(home.state(0).join("ledger.redb"), bytes).expect("room for it");
        let check = murmur(&home, &["ledger", "check", "--format", "json"], &home.state(0));
        let words = said(&check);
        assert!(!words.contains("panicked"), "time {time}: {words}");
        if check.status.success() {
            let found: Value = serde_json::from_slice(&check.stdout).expect("JSON");
            assert_eq!(found["records"], real, "time {time}");
            continue;
        }
        refused += 1;
        assert!(words.contains("is damaged") && words.contains("hint:"), "time {time}: {words}");
        let start = home.command(0).output();
        let words = said(&start);
        assert_eq!(start.status.code(), Some(2), "time {time}: {words}");
        assert!(words.contains("is damaged") && !words.contains("panicked"), "time {time}: {words}");
    }
    refused
}

#[test]
fn forty_damaged_ledgers_are_refused_with_a_reason_or_whole() {
    let refused = damage(40);
    println!("{refused} of 40 refused");
    // How many hit something depends on how many pages of the file are free; what is read has every record, which `damage` checks.
    assert!(refused >= 10, "{refused} of 40");
}
