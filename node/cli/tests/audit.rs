//! `murmur audit`: exit codes, files, JSON, refusals.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use serde_json::Value;

/// A scenario whose runs take a tenth of a millisecond.
const SMALL: [&str; 4] = ["--set", "nodes=4", "--set", "data=blobs:nodes=4,records=8,dim=5,classes=4,test=0"];

fn murmur(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_murmur"));
    command.arg("audit").args(arguments);
    command
}

fn stderr_of(arguments: &[&str]) -> String {
    let output = murmur(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_honest_mechanism_passes_and_every_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/er");
    let flags = ["--trials", "400", "--format", "json", "--out", out.to_str().unwrap()];
    let output = murmur(&[&SMALL[..], &flags].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["passed"], true);
    assert_eq!(json["sabotage"], Value::Null);
    let first = &json["findings"][0];
    assert_eq!(first["attack"], "distinguish");
    assert_eq!(first["upper"]["analysis"], "rounds");
    assert_eq!(first["upper"]["delta"], 1e-5);
    assert!(first["lower"]["epsilon"].as_f64().unwrap() <= first["upper"]["epsilon"].as_f64().unwrap());
    let written = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(written("audit.json").as_bytes(), output.stdout);
    assert!(written("audit.svg").starts_with("<svg") && written("audit.md").contains("**Passed**"));
}

#[test]
fn each_broken_mechanism_ends_with_exit_code_one_and_is_labelled() {
    for broken in ["noise-halved", "noise-reused", "clip-skipped"] {
        let flags = ["--attack", "distinguish", "--trials", "1500", "--break", broken];
        let output = murmur(&[&SMALL[..], &flags].concat()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(&format!("BROKEN ON PURPOSE: {broken}")) && text.contains("FAILED"), "{text}");
    }
}

#[test]
fn the_log_of_a_run_is_held_against_the_attacks() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().to_str().unwrap();
    let sim = ["sim", "--out", runs, "--set", "rounds=3", "--set", "batch_size=all", "--set", "name=real"];
    let mut run = Command::new(env!("CARGO_BIN_EXE_murmur"));
    run.args(sim).args(SMALL).args(["--set", "privacy.noise_multiplier=3"]).assert().success();
    let path = folder.path().join("real");
    let flags = [path.to_str().unwrap(), "--attack", "reconstruct", "--format", "json"];
    let output = murmur(&flags).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["run"], "real");
    // A log that ends early is right about less than what is attacked.
    let log = std::fs::read_to_string(path.join("log.jsonl")).unwrap();
    let half: String = log.lines().take(6).map(|line| format!("{line}\n")).collect();
    std::fs::write(path.join("log.jsonl"), half).unwrap();
    let error = stderr_of(&flags);
    assert!(error.contains("contributions") && error.contains("hint:"), "{error}");
}

#[test]
fn refusals_name_the_value_and_say_what_to_try() {
    for (flags, said) in [
        (&["--attack", "guess"][..], "distinguish, canaries"),
        (&["--break", "everything"], "noise-halved"),
        (&["--pair", "3"], "3,0"),
        (&["--pair", "0,99"], "`0,99`"),
        (&["--trials", "2"], "hint:"),
        (&["--confidence", "2"], "--confidence 0.95"),
        (&["--set", "algorithm.kind=central"], "central"),
        (&["no-such-file.toml"], "no-such-file.toml"),
    ] {
        let error = stderr_of(flags);
        assert!(error.contains(said), "{flags:?}: {error}");
    }
}
