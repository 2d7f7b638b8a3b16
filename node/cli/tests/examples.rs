//! The examples run, in a small setting.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn houses_learn_under_every_kind_of_trust() {
    let data = root().join("../shared/data/houses.csv.gz");
    if !data.exists() {
        eprintln!("skipped: there is no {}; the example's README says where to get it", data.display());
        return;
    }
    let config = std::fs::read_to_string(root().join("examples/houses/houses.toml")).unwrap();
    let source = config.lines().find(|line| line.starts_with("data")).unwrap();
    let keys = source.split('"').nth(1).unwrap().split_once(':').unwrap().1;
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("houses");
    for kind in ["central", "rounds", "local"] {
        let mut murmur = Command::new(env!("CARGO_BIN_EXE_murmur"));
        let assert = murmur
            .current_dir(root())
            .args(["sim", "examples/houses/houses.toml", "--format", "json", "--out"])
            .arg(&out)
            .args([
                "--set",
                &format!("algorithm.kind={kind}"),
                "--set",
                "nodes=50",
                "--set",
                "privacy.epsilon=8",
            ])
            .args(["--set", &format!("data={}:{keys}", data.display())])
            .assert()
            .success();
        let result: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        // 59 % are below the mean: a guess gets that.
        assert!(result["test_acc"].as_f64().unwrap() > 0.7, "{kind}: {result}");
        assert!(result["privacy"]["worst"]["epsilon"].as_f64().unwrap() <= 8.0, "{kind}: {result}");
    }
}

#[test]
fn four_hospitals_train_from_their_own_files_and_each_gets_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let done = std::process::Command::new(root().join("examples/hospitals/run.sh"))
        .arg(folder.path())
        .env("MURMUR", env!("CARGO_BIN_EXE_murmur"))
        .env("MURMUR_LEDGER", folder.path().join("ledger"))
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(text.lines().count(), 4, "{text}");
    let worst = |hospital: &str| {
        let path = folder.path().join(hospital).join("report.json");
        let report: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!((report["private"].as_bool(), report["nodes"].as_array().unwrap().len()), (Some(true), 1));
        report["worst"]["epsilon"].as_f64().unwrap()
    };
    // The planned budget is that of the smallest; a record among more is drawn less often.
    assert!(
        worst("switzerland") <= 4.0 && worst("cleveland") < worst("va") && worst("va") < worst("switzerland")
    );
    // All hold the same model.
    let model =
        |hospital: &str| std::fs::read(folder.path().join(hospital).join("model.safetensors")).unwrap();
    assert_eq!(model("cleveland"), model("va"));
}

#[test]
fn the_lan_example_makes_a_swarm_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("swarm.toml");
    let mut murmur = Command::new(env!("CARGO_BIN_EXE_murmur"));
    murmur
        .args(["swarm", "init"])
        .arg(root().join("examples/lan/lan.toml"))
        .arg("--out")
        .arg(&out)
        .assert()
        .success();
    assert!(out.is_file());
}
