//! `murmur ledger` and `budget.total_epsilon`: what outlives a run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn murmur(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command
        .args(words)
        .current_dir(folder)
        .env("MURMUR_LEDGER", folder.join("ledger"))
        .env("RAYON_NUM_THREADS", "1");
    command
}

fn write_data(path: &Path, records: usize) {
    let mut text = String::from("a,b,y\n");
    (0..records).for_each(|at| {
        text.push_str(&format!("{},{},{}\n", (at % 7) as f64 / 7.0, (at % 5) as f64 / 5.0, at % 2))
    });
    std::fs::write(path, text).unwrap();
}

fn swarm_file(folder: &Path, name: &str) {
    let out = format!("{name}.toml");
    let words = ["swarm", "init", "--name", name, "--nodes", "2", "--out", &out];
    let settings = [
        "--set",
        "rounds=4",
        "--set",
        "batch_size=8",
        "--set",
        "partition.min_size=40",
        "--set",
        "privacy.epsilon=2",
        "--set",
        "test_fraction=0",
        "--set",
        "model.kind=logistic",
    ];
    let output = murmur(folder, &[&words[..], &settings].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A node of a run, with its own file and folder.
fn node(folder: &Path, run: &str, who: &str, more: &[&str]) -> Command {
    let (swarm, state, data) = (format!("{run}.toml"), format!("{run}-{who}"), format!("{who}.csv:label=y"));
    let words = [
        "node",
        "--swarm",
        &swarm,
        "--state",
        &state,
        "--data",
        &data,
        "--no-mdns",
        "--listen",
        "/ip4/127.0.0.1/tcp/0",
        "--log",
        "json",
    ];
    murmur(folder, &[&words[..], more].concat())
}

/// Runs both nodes of a run to their end.
fn run(folder: &Path, run: &str, more: &[&str]) -> [Output; 2] {
    let mut first: Child =
        node(folder, run, "north", more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.by_ref().find_map(|line| {
        let status: Value = serde_json::from_str(&line).ok()?;
        status["addresses"][0].as_str().map(str::to_owned)
    });
    let address = address.expect("it listens");
    let reader = std::thread::spawn(move || lines.count());
    let second = node(folder, run, "south", &["--peer", &address]).output().unwrap();
    let first = first.wait_with_output().unwrap();
    reader.join().unwrap();
    [first, second]
}

fn report_of(folder: &Path, run: &str) -> Value {
    let output = murmur(folder, &["report", run, "--format", "json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ledger(folder: &Path) -> Value {
    let output = murmur(folder, &["ledger", "--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn what_was_spent_stays_spent_and_scopes_do_not_mix(folder: &Path, spent: f64) {
    // The same run again under a limit that does not allow it: what it spent stays spent.
    let tiny = ["--set", "budget.total_epsilon=0.000001", "--data-name", "patients"];
    let again = node(folder, "one", "north", &tiny).output().unwrap();
    let told = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(1), "{told}");
    let sets = ledger(folder);
    let patients = sets.as_array().unwrap().iter().find(|set| set["data"] == "patients").unwrap();
    assert_eq!(patients["epsilon"].as_f64(), Some(spent), "{told}");
    assert_eq!(patients["runs"][0]["settled"], true);

    // What everybody together may learn is more than what these runs promise: the two do not add up.
    swarm_file(folder, "three");
    let local =
        ["--set", "budget.total_epsilon=99", "--set", "budget.scope=local", "--data-name", "patients"];
    let refused = node(folder, "three", "north", &local).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("do not add up") && told.contains("`worst`"), "{told}");
}

#[test]
fn a_second_run_on_the_same_data_is_refused_by_the_total_budget() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_data(&folder.join("north.csv"), 60);
    write_data(&folder.join("south.csv"), 50);
    let empty = murmur(folder, &["ledger"]).output().unwrap();
    assert!(String::from_utf8(empty.stdout).unwrap().starts_with("nothing was spent yet"));
    swarm_file(folder, "one");
    let limit = ["--set", "budget.total_epsilon=2.05", "--data-name", "patients"];
    let [first, second] = run(folder, "one", &limit);
    assert!(first.status.success() && second.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let told = String::from_utf8(first.stderr).unwrap();
    assert!(told.contains("privacy: ε = ") && told.contains("next: murmur report one-north"), "{told}");

    let sets = ledger(folder);
    let names: Vec<&str> = sets.as_array().unwrap().iter().map(|set| set["data"].as_str().unwrap()).collect();
    assert!(names.contains(&"patients") && names.iter().any(|name| name.ends_with("south.csv")), "{names:?}");
    let patients = sets.as_array().unwrap().iter().find(|set| set["data"] == "patients").unwrap();
    let spent = patients["epsilon"].as_f64().unwrap();
    let report = report_of(folder, "one-north");
    assert_eq!(patients["runs"][0]["settled"], true);
    // The data that were used, and not the set that the swarm file would fall back on.
    let config = report["config"].as_str().unwrap();
    assert!(config.contains("north.csv:label=y") && !config.contains("digits"), "{config}");
    assert_eq!(report["nodes"][0]["records"], 60);
    assert_eq!(Some(spent), report["worst"]["epsilon"].as_f64(), "the ledger says what the report says");
    assert!(spent > 0.3 && spent <= 2.0);
    // The screen's last words have the same figure.
    let scale = 10f64.powi(3 - spent.log10().floor() as i32);
    let printed = (spent * scale - 1e-9).ceil() / scale;
    let said = told.split("privacy: ε = ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(said.parse::<f64>().unwrap(), printed, "{told}");
    assert!(told.contains("after round 4"), "{told}");
    assert_eq!(report["nodes"][0]["earlier"]["runs"], 0);

    what_was_spent_stays_spent_and_scopes_do_not_mix(folder, spent);

    // Another swarm, another folder, another identity, and a record more: the same data set.
    write_data(&folder.join("north.csv"), 61);
    swarm_file(folder, "two");
    let total = format!("budget.total_epsilon={spent}");
    let refused =
        node(folder, "two", "north", &["--set", &total, "--data-name", "patients"]).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(
        told.contains("budget.total_epsilon")
            && told.contains("does not allow this run")
            && told.contains("murmur ledger"),
        "{told}"
    );
    assert!(told.contains("note: the records of `patients` are not those of run `one`"), "{told}");

    // With more room it takes part, and says what was spent before.
    let [first, _] = run(folder, "two", &["--set", "budget.total_epsilon=9", "--data-name", "patients"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let report = report_of(folder, "two-north");
    assert_eq!(report["nodes"][0]["earlier"]["runs"], 1);
    assert!(report["quote"].as_str().unwrap().contains("the ledger of this data set: 1 run, together ε = "));
    let shown = String::from_utf8(murmur(folder, &["ledger"]).output().unwrap().stdout).unwrap();
    assert!(
        shown.contains("patients\n") && shown.contains("the records changed once between runs"),
        "{shown}"
    );
    let both = murmur(folder, &["report", "one-north", "two-north"]).output().unwrap();
    let both = String::from_utf8(both.stdout).unwrap();
    assert!(both.contains("# 2 runs on the same data") && both.contains("| together |"), "{both}");
}

#[test]
fn a_node_that_waited_in_vain_spent_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_data(&folder.join("north.csv"), 60);
    let words = ["swarm", "init", "--nodes", "2", "--out", "one.toml", "--set", "timeouts.give_up=200ms"];
    let settings =
        ["--set", "batch_size=8", "--set", "partition.min_size=40", "--set", "model.kind=logistic"];
    assert!(murmur(folder, &[&words[..], &settings].concat()).output().unwrap().status.success());
    let ended = node(folder, "one", "north", &["--set", "budget.total_epsilon=9"]).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "`timeouts.give_up` is a reason that was set: {told}");
    assert!(told.contains("in vain") && told.contains("Nothing was sent"), "{told}");
    let sets = ledger(folder);
    assert_eq!(sets[0]["runs"][0]["settled"], true, "{sets}");
    assert_eq!(sets[0]["epsilon"], 0.0, "{sets}");
}
