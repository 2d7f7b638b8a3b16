//! `murmur report` on real runs: what people and programs get.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn murmur(folder: &Path, args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&text(murmur(folder, args))).expect("JSON")
}

/// Python of the test environment, where it has the package.
fn python_with(package: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python");
    [root, PathBuf::from("python3")].into_iter().find(|python| {
        let tried = Command::new(python).args(["-c", &format!("import {package}")]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn a_real_swarm_ends_with_a_report_and_each_node_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("runs/run");
    text(murmur(
        folder.path(),
        &["swarm", "--nodes", "4", "--set", "rounds=6", "--set", "privacy.epsilon=3"],
    ));
    for file in ["report.html", "report.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let whole = json(folder.path(), &["report", "runs/run", "--format", "json"]);
    assert_eq!((whole["private"].as_bool(), whole["driver"].as_str()), (Some(true), Some("libp2p")));
    assert_eq!(whole["nodes"].as_array().unwrap().len(), 4);
    assert!(whole["worst"]["epsilon"].as_f64().unwrap() <= 3.0);
    // The same figure that the swarm printed at its end, but for the last bits.
    let result: Value = serde_json::from_slice(&std::fs::read(run.join("result.json")).unwrap()).unwrap();
    let (reported, printed) = (&whole["worst"]["epsilon"], &result["privacy"]["worst"]["epsilon"]);
    assert!(
        (reported.as_f64().unwrap() / printed.as_f64().unwrap() - 1.0).abs() < 1e-12,
        "{reported}, {printed}"
    );
    assert!(whole["nodes"][2]["label"].as_str().unwrap().starts_with("12D3Koo"), "who it is");
    rows_are_those_of_the_run(&run, &whole, &result);

    let own = json(folder.path(), &["report", "runs/run/nodes/2", "--format", "json"]);
    let nodes = own["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), nodes[0]["index"].as_u64()), (1, Some(2)));
    assert!(nodes[0]["worst"]["epsilon"].as_f64() >= whole["nodes"][2]["worst"]["epsilon"].as_f64());
    assert!(nodes[0]["budget"]["spent"].as_f64().unwrap() <= 3.0);

    let summary = text(murmur(folder.path(), &["report", "runs/run", "--node", "1"]));
    assert!(
        summary.contains("one record of node 1") && run.join("report-node-1.html").is_file(),
        "{summary}"
    );
    let pooled = text(murmur(folder.path(), &["report", "runs/run", "--coalition", "0,3", "--format", "md"]));
    assert!(pooled.contains("| nodes 0 and 3 |") && pooled.contains("asked for"), "{pooled}");
    // What is asked for is written beside the whole report, and never over it.
    let before = std::fs::read(run.join("report.html")).unwrap();
    let asked = text(murmur(folder.path(), &["report", "runs/run", "--coalition", "0"]));
    assert!(
        asked.contains("worst of all 4 coalitions of 3") && run.join("report-coalition-0.html").is_file(),
        "{asked}"
    );
    assert_eq!(std::fs::read(run.join("report.html")).unwrap(), before);
    let card = text(murmur(folder.path(), &["report", "runs/run", "--format", "card"]));
    assert!(card.starts_with("---\nlibrary_name: murmur\n"), "{card}");
}

/// `metrics.csv` of the whole swarm: a row for each round, the figures of the report in each, and those of the result in the last.
fn rows_are_those_of_the_run(run: &Path, report: &Value, result: &Value) {
    let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(
        head.join(","),
        "round,time,train_loss,test_loss,test_acc,consensus_distance,bytes,epsilon_worst,epsilon_mean,epsilon_local"
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let cell = |row: &[&str], name: &str| {
        row[head.iter().position(|column| *column == name).unwrap()].parse::<f64>().unwrap()
    };
    let points = report["rounds"]["curve"]["points"].as_array().unwrap();
    assert_eq!((rows.len(), points.len()), (6, 6));
    for (at, (row, point)) in rows.iter().zip(points).enumerate() {
        assert_eq!(cell(row, "round"), at as f64);
        assert!(cell(row, "train_loss") > 0.0);
        for (column, name) in [("epsilon_worst", "worst"), ("epsilon_local", "local")] {
            // To the last bits, which depend on the order of sums.
            let [ours, theirs] = [cell(row, column), point[name].as_f64().unwrap()];
            assert!((ours / theirs - 1.0).abs() < 1e-12, "round {at}: {ours} and {theirs}");
        }
    }
    assert_eq!(Some(cell(&rows[5], "test_acc")), result["test_acc"].as_f64());
    assert!(cell(&rows[5], "bytes") > 0.0);
}

#[test]
fn the_json_keeps_to_the_schema() {
    let Some(python) = python_with("jsonschema") else {
        eprintln!("skipped: Python's jsonschema is not installed (./test installs it)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.json");
    std::fs::write(&schema, text(murmur(folder.path(), &["report", "--schema"]))).unwrap();
    for pairs in [
        &["algorithm.kind=rounds", "faults.drop_prob=0.9", "timeouts.silence=300ms"][..],
        &["algorithm.kind=gossip", "topology=ring"],
        &["algorithm.kind=walk", "topology=ring"],
        &["algorithm.kind=mean", "privacy.adjacency=node", "topology=ring", "rounds=1"],
        &["privacy.noise_multiplier=0"],
    ] {
        let mut args = vec!["sim", "--format", "json", "--set", "nodes=6", "--set", "rounds=4"];
        pairs.iter().for_each(|pair| args.extend(["--set", pair]));
        // Where nearly every message is lost nobody may come to the end: exit code 1, and a result all the same.
        let result: Value = serde_json::from_slice(&murmur(folder.path(), &args).stdout).expect("JSON");
        let run = result["run"].as_str().expect("its folder").to_owned();
        let report = folder.path().join("report.json");
        let args = ["report", &run, "--compare", &run, "--out", report.to_str().unwrap()];
        text(murmur(folder.path(), &args));
        let check = "import json, sys, jsonschema as j; s, d = [json.load(open(p)) for p in sys.argv[1:]]; j.Draft202012Validator.check_schema(s); j.validate(d, s)";
        let checked = Command::new(&python).args(["-c", check]).args([&schema, &report]).output().unwrap();
        assert!(checked.status.success(), "{pairs:?}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn what_cannot_be_reported_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let failure = |args: &[&str]| {
        let output = murmur(folder.path(), args);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = failure(&["report", "nowhere"]);
    assert!(missing.contains("`nowhere` is no run") && missing.contains("hint:"), "{missing}");
    text(murmur(folder.path(), &["sim", "--set", "nodes=3", "--set", "rounds=2"]));
    let absent = failure(&["report", "runs/run", "--node", "3"]);
    assert!(absent.contains("there is no node 3: the run has nodes 0 to 2"), "{absent}");
    let everybody = failure(&["report", "runs/run", "--coalition", "0,1,2"]);
    assert!(everybody.starts_with("error: "), "{everybody}");
    let log = folder.path().join("runs/run/log.jsonl");
    std::fs::write(&log, "{\"t\":0,\"event\":\"nonsense\"}\n").unwrap();
    let nonsense = failure(&["report", "runs/run"]);
    assert!(
        nonsense.contains("no first line") && nonsense.contains("1 of its lines could not be read"),
        "{nonsense}"
    );
}

#[test]
fn a_log_cut_inside_a_letter_and_one_with_nonsense_in_it_have_a_report_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    text(murmur(folder.path(), &["sim", "--set", "nodes=3", "--set", "rounds=2"]));
    let log = folder.path().join("runs/run/log.jsonl");
    let whole = std::fs::read(&log).unwrap();
    let refused = "{\"t\":9,\"node\":1,\"event\":\"refused\",\"round\":2,\"reason\":\"99.1 % of ε".as_bytes();
    // The last byte of ε is missing.
    std::fs::write(&log, [&whole, &refused[..refused.len() - 1]].concat()).unwrap();
    let cut = text(murmur(folder.path(), &["report", "runs/run"]));
    assert!(cut.contains("whole but for 1 line: line ") && cut.contains("(`refused` of node 1)"), "{cut}");
    std::fs::write(&log, [b"{\"t\":0,\"event\":\"nonsense\"}\n", whole.as_slice()].concat()).unwrap();
    let nonsense = text(murmur(folder.path(), &["report", "runs/run"]));
    assert!(nonsense.contains("line 1 is no event of a run"), "{nonsense}");
}
