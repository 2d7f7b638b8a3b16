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
