//! `murmur sim`: exit codes, what is printed, what is left on disk, and what is said about bad input.

#![allow(clippy::unwrap_used, reason = "this is a test")]

mod common;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Small enough to take a moment.
const SMALL: [&str; 6] = ["--set", "nodes=4", "--set", "rounds=3", "--set", "privacy.noise_multiplier=2"];

fn stdout(arguments: &[&str]) -> String {
    common::stdout(&[&["sim"][..], arguments].concat())
}

#[track_caller]
fn refused(arguments: &[&str], parts: &[&str]) {
    common::refused(&[&["sim"][..], arguments].concat(), parts);
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn small(out: &Path, more: &[&str]) -> Value {
    let out = out.to_str().unwrap();
    let arguments = [&SMALL[..], &["--out", out, "--format", "json"], more].concat();
    serde_json::from_str(&stdout(&arguments)).unwrap()
}

#[test]
fn json_has_every_key_that_is_promised() {
    let result = small(&folder("json"), &[]);
    for key in [
        "algorithm",
        "nodes",
        "rounds",
        "seed",
        "run",
        "test_acc",
        "test_loss",
        "consensus_distance",
        "bytes_per_node",
        "broken_rounds",
    ] {
        assert!(!result[key].is_null(), "{key}: {result}");
    }
    assert_eq!((result["algorithm"].as_str(), result["nodes"].as_u64()), (Some("rounds"), Some(4)));
    let privacy = &result["privacy"];
    assert_eq!((privacy["adjacency"].as_str(), privacy["private"].as_bool()), (Some("record"), Some(false)));
    for scope in ["worst", "mean", "local"] {
        let figure = &privacy[scope];
        assert!(figure["epsilon"].as_f64().unwrap() > 0.0, "{privacy}");
        assert!(figure["mu2"].is_number() && !figure["analysis"].as_str().unwrap().is_empty(), "{privacy}");
    }
}

#[test]
fn the_folder_has_what_it_should_and_is_never_written_twice() {
    let out = folder("folder");
    let (first, second) = (small(&out, &[]), small(&out, &[]));
    assert_eq!(first["run"].as_str().unwrap(), out.join("run").to_str().unwrap());
    assert_eq!(second["run"].as_str().unwrap(), out.join("run-2").to_str().unwrap());
    let mut names: Vec<String> = std::fs::read_dir(out.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "config.toml",
        "log.jsonl",
        "metrics.csv",
        "model.safetensors",
        "report.html",
        "report.json",
        "result.json",
    ];
    assert_eq!(names, expected);
    let metrics = std::fs::read_to_string(out.join("run/metrics.csv")).unwrap();
    let mut lines = metrics.lines();
    assert_eq!(
        lines.next(),
        Some(
            "round,time,train_loss,test_loss,test_acc,consensus_distance,bytes,epsilon_worst,epsilon_mean,epsilon_local"
        )
    );
    assert_eq!(lines.count(), 3);
    let config = out.join("run/config.toml");
    let again = stdout(&[config.to_str().unwrap(), "--dump-config"]);
    assert_eq!(again, std::fs::read_to_string(&config).unwrap());
}

#[test]
fn the_same_seed_gives_the_same_log_byte_for_byte_and_another_does_not() {
    let out = folder("replay");
    let log = |more: &[&str]| {
        let result = small(&out, more);
        std::fs::read(Path::new(result["run"].as_str().unwrap()).join("log.jsonl")).unwrap()
    };
    let first = log(&[]);
    assert!(first.len() > 1000);
    assert_eq!(first, log(&[]));
    assert_eq!(first, log(&["--threads", "1"]));
    // The first line tells the configuration, so it differs anyway: what happened after it must too.
    let other = log(&["--seed", "2"]);
    let after_first =
        |log: &[u8]| log.iter().position(|&byte| byte == b'\n').map(|at| log[at..].to_vec()).unwrap();
    assert_ne!(after_first(&first), after_first(&other));
}

#[test]
fn every_comparison_runs_and_names_its_analysis() {
    let out = folder("compare");
    for (kind, analysis) in
        [("central", "central"), ("local", "local"), ("alone", "local"), ("fedavg", "local")]
    {
        let result = small(&out, &["--set", &format!("algorithm.kind={kind}")]);
        assert_eq!(result["algorithm"], kind);
        assert_eq!(result["privacy"]["worst"]["analysis"], analysis, "{result}");
        assert!(result["test_acc"].as_f64().unwrap() > 0.1, "{result}");
    }
}

#[test]
fn without_noise_all_ways_to_average_full_batches_are_gradient_descent() {
    let out = folder("descent");
    let loss = |kind: &str| {
        let pairs = ["--set", "privacy.noise_multiplier=0", "--set", "privacy.clip_norm=1e6", "--set"];
        let kind = format!("algorithm.kind={kind}");
        small(&out, &[&pairs[..], &[&kind, "--set", "rounds=5", "--set", "data=blobs:nodes=4"]].concat())["test_loss"]
            .as_f64()
            .unwrap()
    };
    let central = loss("central");
    for kind in ["local", "fedavg"] {
        assert!((loss(kind) - central).abs() < 1e-5 * central, "{kind}: {} and {central}", loss(kind));
    }
}

#[test]
fn the_effective_configuration_is_printed_and_reads_back() {
    let text = stdout(&["--dump-config", "--set", "topology=karate", "--set", "faults.delay=20ms"]);
    assert!(text.contains("nodes = 34\n") && text.contains("delay = \"20ms\""), "{text}");
    let file = folder("dump").with_extension("toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, &text).unwrap();
    assert_eq!(stdout(&[file.to_str().unwrap(), "--dump-config"]), text);
}

#[test]
fn a_sweep_gives_all_runs_and_a_summary() {
    let arguments = ["--sweep", "algorithm.kind=central,local", "--seeds", "2", "--format", "json"];
    let result: Value = serde_json::from_str(&stdout(&[&SMALL[..], &arguments].concat())).unwrap();
    assert_eq!(
        (result["runs"].as_array().unwrap().len(), result["summary"].as_array().unwrap().len()),
        (4, 2)
    );
    let summary = &result["summary"][1];
    assert_eq!(summary["set"]["algorithm.kind"], "local");
    // Amounts are numbers, for whoever plots them.
    let swept = ["--sweep", "learning_rate=0.5,1", "--format", "json"];
    let amounts: Value = serde_json::from_str(&stdout(&[&SMALL[..], &swept].concat())).unwrap();
    assert_eq!(amounts["summary"][0]["set"]["learning_rate"], 0.5);
    assert_eq!(amounts["runs"][1]["set"]["learning_rate"], 1);
    assert_eq!(summary["test_acc"]["count"], 2);
    assert_eq!((&result["runs"][0]["seed"], &result["runs"][1]["seed"]), (&1.into(), &2.into()));
    let table = stdout(&[&SMALL[..], &["--sweep", "algorithm.kind=central,local", "--seeds", "2"]].concat());
    assert!(table.starts_with("algorithm.kind") && table.contains(" ± "), "{table}");
}

#[test]
fn a_sweep_with_a_folder_keeps_every_run_and_a_table_of_numbers() {
    let out = folder("swept");
    let arguments = [
        "--sweep",
        "privacy.epsilon=1,8,inf",
        "--seeds",
        "2",
        "--out",
        out.to_str().unwrap(),
        "--format",
        "svg",
    ];
    let picture = stdout(&[&SMALL[..], &arguments].concat());
    assert!(picture.starts_with("<svg"), "{picture}");
    // Two points with a spread, and a dashed line for the runs without noise.
    assert_eq!(
        (picture.matches("<circle").count(), picture.matches("line free").count()),
        (2, 1),
        "{picture}"
    );
    let mut table = csv::Reader::from_path(out.join("sweep.csv")).unwrap();
    let heading = table.headers().unwrap().clone();
    assert_eq!((&heading[0], &heading[1]), ("privacy.epsilon", "seed"));
    let column = |name: &str| heading.iter().position(|heading| heading == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 6);
    for row in &rows {
        for name in
            ["privacy.epsilon", "test_acc", "epsilon_worst", "noise_multiplier", "delta", "bytes_per_node"]
        {
            assert!(row[column(name)].parse::<f64>().is_ok(), "{name}: {row:?}");
        }
        let run = std::path::Path::new(&row[column("run")]);
        assert!(run.join("log.jsonl").exists() && run.join("result.json").exists(), "{run:?}");
    }
    // The table has the figures of the runs, in their order.
    let fourth = std::path::Path::new(&rows[3][column("run")]).join("result.json");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(fourth).unwrap()).unwrap();
    assert_eq!(rows[3][column("test_acc")].parse::<f64>().unwrap(), result["test_acc"].as_f64().unwrap());
    assert_eq!((&rows[3][0], &rows[3][1], &result["seed"]), ("8", "2", &2.into()));
    refused(&["--format", "svg"], &["one run", "--sweep"]);
}

#[test]
fn the_table_names_every_analysis_and_says_that_nobody_is_protected() {
    let out = folder("table");
    let text = stdout(&[&SMALL[..], &["--out", out.to_str().unwrap()]].concat());
    for part in [
        "test accuracy",
        "consensus distance",
        "bytes per node",
        "broken rounds",
        "worst pair",
        "mean over pairs",
        "analysis",
        "protects nobody",
    ] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// The figures of a column of metrics.csv.
fn column(run: &str, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(Path::new(run).join("metrics.csv")).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn epsilon_in_the_metrics_never_falls_and_never_passes_the_target() {
    for (name, more) in [
        ("rounds", "faults.crash=[{nodes=[3],at=\"12ms\"}]"),
        ("rounds", "faults.hostile=[{nodes=[3],kind=\"nan\"}]"),
        ("gossip", "faults.drop_prob=0.1"),
        ("walk", "seed=5"),
    ] {
        let kind = format!("algorithm.kind={name}");
        let out = folder("epsilon");
        let set =
            ["nodes=8", "rounds=10", "privacy.epsilon=2", &kind, more].map(|pair| ["--set", pair]).concat();
        let arguments = [&set[..], &["--out", out.to_str().unwrap(), "--format", "json"]].concat();
        let result: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
        assert_eq!(result["finished_rounds"], 10, "{name}");
        for key in ["worst", "mean", "local"] {
            let figures = column(result["run"].as_str().unwrap(), &format!("epsilon_{key}"));
            // A row for each round, those that were given up included.
            let rounds = 10 + result["broken_rounds"].as_u64().unwrap() as usize;
            assert!(figures.len() >= rounds, "{name} {key}: {} rows, {rounds} rounds", figures.len());
            assert!(figures.is_sorted(), "{name} {key}: {figures:?}");
            let (last, end) = (figures.last().unwrap(), result["privacy"][key]["epsilon"].as_f64().unwrap());
            assert!((last - end).abs() < 1e-12 * end, "{name} {key}: {last} and {end}");
        }
        assert!(result["privacy"]["worst"]["epsilon"].as_f64().unwrap() <= 2.0, "{name}");
    }
}

#[test]
fn a_run_that_nobody_survives_ends_with_a_result_and_without_a_model() {
    let out = folder("nobody");
    let crash = "faults.crash=[{nodes=[0,1,2,3],at=0.001}]";
    let end =
        ["--set", crash, "--set", "timeouts.give_up=2s", "--format", "json", "--out", out.to_str().unwrap()];
    let output = common::murmur(&[&["sim"], &SMALL[..], &end].concat());
    assert_eq!(output.status.code(), Some(1), "it ended before its end");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["finished_rounds"], 0);
    let run = Path::new(result["run"].as_str().unwrap());
    assert!(run.join("metrics.csv").exists() && !run.join("model.safetensors").exists());
}

#[test]
fn bad_input_is_refused_with_key_value_place_and_hint() {
    refused(&["--set", "privacy.epsilom=2"], &["privacy.epsilom", "did you mean `privacy.epsilon`?"]);
    refused(
        &["--set", "privacy.clip_norm=0"],
        &["privacy.clip_norm = 0", "positive", "--set privacy.clip_norm=0"],
    );
    refused(&["--set", "nodes"], &["key=value"]);
    refused(&["--sweep", "nodes="], &["names no values", "hint:"]);
    refused(&["--sweep", "nodes=2,3", "--sweep", "nodes=4"], &["nodes", "twice", "one list"]);
    refused(&["--threads", "100000"], &["100000", "at most 1024 threads"]);
    refused(&["--sweep", "nodez=1,2"], &["nodez", "did you mean `nodes`?"]);
    refused(&["missing.toml"], &["cannot read `missing.toml`", "--dump-config"]);
    refused(&["--set", "nodes=5000", "--set", "rounds=1"], &["use at most"]);
    refused(&["--set", "topology=karate", "--set", "nodes=64"], &["karate", "64", "34"]);
    let file = folder("bad").with_extension("toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "nodes = 4\n\n[privacy]\nepsilon = -1\n").unwrap();
    refused(&[file.to_str().unwrap()], &["privacy.epsilon = -1", "bad.toml`, line 4"]);
}

#[test]
fn acceleration_on_a_network_that_loses_messages_gets_a_note() {
    let noted = |drop_prob: &str| {
        let out = folder(&format!("accelerated-{drop_prob}"));
        let lossy = format!("faults.drop_prob={drop_prob}");
        let mut arguments = vec!["--out", out.to_str().unwrap()];
        for pair in ["nodes=6", "algorithm.kind=mean", "topology=ring", "algorithm.accelerate=true", &lossy] {
            arguments.extend(["--set", pair]);
        }
        let output = common::murmur(&[&["sim"][..], &arguments].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap().contains("messages were missing")
    };
    assert!(noted("0.3") && !noted("0"));
}
