//! How a swarm and its nodes end when they are asked to: with everything written, a word on where the run stands, and exit code 0.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::rig::{Home, Node, introduce};

/// How long a test waits for anything before it fails.
const PATIENCE: Duration = Duration::from_secs(240);

fn murmur() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
}

/// Looks again and again until it is there.
fn until<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waiting for {what}");
        std::thread::yield_now();
    }
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// A swarm of two that would run for ever, stopped by a signal once it is under way.
fn stopped_by(signal: &str) -> (Output, tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = murmur();
    command.args(["swarm", "--nodes", "2", "--set", "rounds=50000", "--set", "name=x", "--out"]);
    command.arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = command.spawn().expect("the program starts");
    let run = folder.path().join("x");
    until("both nodes", || {
        let begun = |node: usize| lines(&run.join(format!("nodes/{node}/log.jsonl"))) > 5;
        (begun(0) && begun(1)).then_some(())
    });
    let asked = Command::new("kill").args([signal, &process.id().to_string()]).status();
    assert!(asked.expect("there is `kill`").success());
    (process.wait_with_output().expect("it ends"), folder, run)
}

#[test]
fn a_swarm_that_is_asked_to_stop_writes_everything_says_where_it_stands_and_by_which_signal() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let (output, _folder, run) = stopped_by(signal);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{signal}: {said}");
        assert!(said.contains("stopped in round") && said.contains("of 50000"), "{signal}: {said}");
        assert!(!said.contains("died"), "{signal}: {said}");
        for file in ["log.jsonl", "result.json", "report.html"] {
            assert!(run.join(file).exists(), "{signal}: no `{file}`");
        }
        let result = std::fs::read_to_string(run.join("result.json")).expect("a result");
        let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
        assert!(result["finished_rounds"].as_u64().is_some_and(|rounds| rounds > 0), "{signal}: {result}");
        let whole = std::fs::read_to_string(run.join("nodes/0/log.jsonl")).expect("a log");
        assert!(whole.ends_with('\n'), "{signal}: the last line is whole");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_swarm_that_loses_a_node_before_the_start_ends_and_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = murmur();
    command.args(["swarm", "--nodes", "12", "--set", "rounds=50000", "--set", "name=x", "--out"]);
    command.arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = command.spawn().expect("the program starts");
    let children = format!("/proc/{0}/task/{0}/children", process.id());
    // The first of twelve, as soon as it is there: the others are not yet.
    let first = until("a child", || {
        std::fs::read_to_string(&children).ok()?.split_whitespace().next().map(str::to_owned)
    });
    assert!(Command::new("kill").args(["-KILL", &first]).status().expect("there is `kill`").success());
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the run did not begin: node 0 died"), "{said}");
}

#[test]
fn a_node_that_was_restarted_counts_everything_on_record() {
    let home = Home::new("again", 2, &["rounds=50000", "privacy.noise_multiplier=1"]);
    for life in 0..2 {
        let mut nodes: Vec<Node> = (0..2).map(|node| home.command(node).go()).collect();
        introduce(&mut nodes);
        for node in &mut nodes {
            let (now, ever) = node.until("three more", |status| {
                let released = status["released"].as_u64().filter(|released| *released >= 3)?;
                Some((released, status["recorded"].as_u64()?))
            });
            assert!(ever >= now + 3 * life, "{ever} on record, {now} since the start");
        }
        assert!(nodes.into_iter().all(Node::stop));
    }
    for node in 0..2 {
        let words = std::fs::read_to_string(home.path().join(format!("{node}.stderr"))).expect("messages");
        let last = words.lines().rfind(|line| line.starts_with("stopped after round")).expect("a farewell");
        let expected = format!("with {} contributions on record", home.records(node).len());
        assert!(last.contains(&expected), "`{last}` has no `{expected}`");
    }
}
