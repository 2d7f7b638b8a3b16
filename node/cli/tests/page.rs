//! The page of real runs: what it says while they go on, and to whom.
#![allow(clippy::unwrap_used, reason = "a helper of a test that cannot go on fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Far beyond what anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process with a page. Killed when dropped; the children of a swarm end with it.
struct Served {
    process: Child,
    address: String,
    /// What it said on stderr so far, but for the first line.
    said: Arc<Mutex<String>>,
}

impl Served {
    fn start(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut said = BufReader::new(process.stderr.take().expect("it is piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says something");
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("no page: {line}"));
        let address = address.split('/').next().expect("the first part").to_owned();
        // The rest is read at once, so that a full pipe stops nobody.
        let rest = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&rest);
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { process, address, said: rest }
    }

    /// Waits until it has said a word on stderr; everything that it said.
    fn until_it_says(&self, word: &str) -> String {
        let begun = Instant::now();
        loop {
            let said = self.said.lock().unwrap().clone();
            if said.contains(word) {
                return said;
            }
            assert!(begun.elapsed() < PATIENCE, "no `{word}` in {said}");
            std::thread::yield_now();
        }
    }

    /// Status code and body.
    fn get(&self, path: &str, header: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the page is served");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{header}\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    /// Asks until the status says it.
    fn until(&self, mut says: impl FnMut(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let status = serde_json::from_str(&self.get("/api/status", "").1).expect("JSON");
            if says(&status) {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "{status}");
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn murmur() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
}

fn swarm(folder: &Path, settings: &[&str], flags: &[&str]) -> Served {
    let mut command = murmur();
    command.args(["swarm", "--nodes", "3", "--http", "127.0.0.1:0", "--out"]).arg(folder).args(flags);
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    Served::start(command)
}

#[test]
fn the_page_of_a_swarm_tells_of_nodes_rounds_accuracy_and_loss_of_privacy() {
    let folder = tempfile::tempdir().unwrap();
    let served = swarm(folder.path(), &["rounds=100000", "privacy.noise_multiplier=4"], &[]);
    let (code, health) = served.get("/healthz", "");
    assert!(code == 200 && ["gathering\n", "running\n"].contains(&health.as_str()), "{health}");
    let epsilon = |status: &Value| status["epsilon"]["worst"].as_f64().unwrap_or(0.0);
    let first = served.until(|status| status["here"] == 3 && epsilon(status) > 0.0);
    assert_eq!((&first["private"], &first["epsilon"]["analysis"]), (&true.into(), &"masked".into()));
    let later = served.until(|status| epsilon(status) > epsilon(&first) && status["accuracy"].is_number());
    assert!(later["round"].as_u64() > first["round"].as_u64());
    // What else is to be said of models that tell classes apart: AUC of ten digits is above chance, and a base rate is a tenth or a little more.
    let figure = |name: &str| later[name].as_f64().unwrap_or_else(|| panic!("{name}: {later}"));
    assert!((0.05..0.2).contains(&figure("base_rate")) && figure("auc") > 0.5, "{later}");
    assert!(figure("log_loss") > 0.0 && (0.0..=1.0).contains(&figure("calibration")), "{later}");
    let (code, metrics) = served.get("/metrics", "");
    assert!(
        code == 200 && metrics.contains("# HELP murmur_epsilon ") && metrics.contains("murmur_nodes 3\n")
    );
    let run: Value = serde_json::from_str(&served.get("/api/run", "").1).unwrap();
    assert!(run["nodes"][2]["epsilon"].as_f64().unwrap() > 0.0 && run["nodes"][2]["state"] == "here");
}

#[test]
fn a_finished_swarm_stays_to_be_looked_at_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let served = swarm(folder.path(), &["rounds=3"], &["--http-linger", "600"]);
    let status = served.until(|status| status["phase"] == "finished");
    assert_eq!((&status["round"], &status["reason"]), (&3.into(), &"finished".into()));
    assert!(status["epsilon"]["worst"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_page_of_a_node_tells_what_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("swarm.toml");
    let init = murmur()
        .args(["swarm", "init", "--name", "test", "--nodes", "2", "--set", "rounds=100000", "--out"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(init.status.success());
    let node = |index: usize, flags: &[&str]| {
        let mut command = murmur();
        command.args(["node", "--no-mdns", "--child", "--listen", "/ip4/127.0.0.1/tcp/0", "--swarm"]);
        command.arg(&file).arg("--state").arg(folder.path().join(index.to_string()));
        command.args(["--shard", &format!("{index}/2")]).args(flags);
        command
    };
    let mut served = Served::start(node(0, &["--http", "0"]));
    let status = served.until(|status| status["nodes"] == 2);
    assert_eq!((&status["phase"], &status["private"]), (&"starting".into(), &Value::Null));
    // The other one is told where to find it, and killed later.
    let mut other = node(1, &["--log", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let address = loop {
        let status: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if let Some(address) = status["addresses"][0].as_str() {
            break address.to_owned();
        }
    };
    std::thread::spawn(move || lines.for_each(drop));
    writeln!(served.process.stdin.as_mut().unwrap(), "peer {address}").unwrap();
    let status = served.until(|status| {
        status["here"] == 2 && status["round"].as_u64() > Some(3) && status["epsilon"]["local"].is_number()
            // Said by the process, beside the log.
            && status["spent"][0][1].as_f64() > Some(0.0)
    });
    assert_eq!(status["epsilon"]["analysis"], "rounds");
    let me = status["me"].as_u64().unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    served.until(|status| status["away"] == serde_json::json!([1 - me]));
}

#[test]
fn other_machines_are_served_only_with_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let bare = |flags: &[&str]| {
        let mut command = murmur();
        command
            .args(["swarm", "--nodes", "2", "--set", "rounds=100000", "--out"])
            .arg(folder.path())
            .args(flags);
        command.env_remove("MURMUR_HTTP_TOKEN");
        command
    };
    let refused = bare(&["--http", "0.0.0.0:0"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("0.0.0.0:0") && text.contains("hint:") && text.contains("--http-token"), "{text}");
    let alone = bare(&["--http-token", "x"]).output().unwrap();
    assert_eq!(alone.status.code(), Some(2));
    let mut command = bare(&["--http", "127.0.0.1:0"]);
    command.env("MURMUR_HTTP_TOKEN", "s3cret");
    let served = Served::start(command);
    assert_eq!(served.get("/api/status", "").0, 401);
    assert_eq!(served.get("/api/status", "Authorization: Bearer s3cret\r\n").0, 200);
    assert_eq!(served.get("/?token=s3cret", "").0, 200);
}

#[test]
fn a_port_that_is_taken_stops_the_start_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = murmur()
        .args(["swarm", "--nodes", "2", "--http", &address, "--out"])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains(&address) && text.contains("port 0"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was begun");
}

/// Four digits that count, rounded up, as everything prints a loss.
fn printed(loss: f64) -> f64 {
    let scale = 10f64.powi(3 - loss.log10().floor() as i32);
    (loss * scale - 1e-9).ceil() / scale
}

#[test]
fn screen_page_metrics_and_report_say_the_same_epsilon_for_the_same_round() {
    let folder = tempfile::tempdir().unwrap();
    // Batches are sampled: figures depend on Rényi orders, which must not depend on where the run stands.
    let settings = ["rounds=60", "batch_size=16", "privacy.epsilon=3"];
    let served = swarm(folder.path(), &settings, &["--http-linger", "600"]);
    let mut seen: Vec<(u64, f64, f64)> = Vec::new();
    let last = served.until(|status| {
        let epsilon = &status["epsilon"];
        if let (Some(round), Some(worst), Some(local)) =
            (epsilon["round"].as_u64(), epsilon["worst"].as_f64(), epsilon["local"].as_f64())
        {
            seen.push((round, worst, local));
        }
        status["phase"] == "finished"
    });
    let report = folder.path().join("run/report.json");
    let begun = Instant::now();
    let report: Value = loop {
        match std::fs::read(&report).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            Some(report) => break report,
            None => assert!(begun.elapsed() < PATIENCE, "no report"),
        }
    };
    let figure = |value: &Value| printed(value.as_f64().unwrap());
    assert_eq!(last["epsilon"]["round"], 60);
    assert_eq!(last["epsilon"]["worst"].as_f64(), Some(figure(&report["worst"]["epsilon"])));
    assert_eq!(last["epsilon"]["local"].as_f64(), Some(figure(&report["local"]["epsilon"])));
    assert_eq!(last["epsilon"]["analysis"], report["mean"]["analysis"]);
    let points = report["rounds"]["curve"]["points"].as_array().unwrap();
    for (round, worst, local) in seen {
        let point = points.iter().find(|point| point["round"].as_u64() == Some(round - 1)).unwrap();
        assert_eq!((worst, local), (figure(&point["worst"]), figure(&point["local"])), "round {round}");
    }
    let (_, metrics) = served.get("/metrics", "");
    assert!(metrics.contains("murmur_epsilon_round 60\n"), "{metrics}");
    let line =
        metrics.lines().find(|line| line.starts_with("murmur_epsilon{watcher=\"worst_pair\"")).unwrap();
    assert_eq!(line.rsplit(' ').next().unwrap().parse::<f64>().unwrap(), figure(&report["worst"]["epsilon"]));
}

/// Every `ε = 1.234 … after round 7` of a node's words, as round and figure.
fn told(words: &str) -> Vec<(u64, f64)> {
    let figure = |line: &str| {
        let number = |text: &str| text.split([' ', ',', ';']).next()?.parse().ok();
        let epsilon: f64 = number(line.split("ε = ").nth(1)?)?;
        let round: f64 = number(line.split("after round ").nth(1)?)?;
        Some((round as u64, epsilon))
    };
    words.lines().filter_map(figure).collect()
}

/// Holds what a node said against its report.
fn assert_told_what_is_reported(words: &str, folder: &Path, state: &str, last: u64) -> Value {
    let output = murmur().args(["report", state, "--format", "json"]).current_dir(folder).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = told(words);
    assert_eq!(told.last(), Some(&(last, printed(report["worst"]["epsilon"].as_f64().unwrap()))), "{words}");
    let points = report["rounds"]["curve"]["points"].as_array().unwrap();
    for (round, epsilon) in told {
        let point = points.iter().find(|point| point["round"].as_u64() == Some(round - 1)).unwrap();
        assert_eq!(epsilon, printed(point["worst"].as_f64().unwrap()), "round {round} of {state}: {words}");
    }
    report
}

#[test]
fn screen_lines_page_and_metrics_of_a_node_say_what_its_report_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let made = murmur()
        .args(["swarm", "init", "--nodes", "3", "--set", "rounds=60", "--set", "batch_size=16"])
        .args(["--set", "privacy.epsilon=3", "--out", "swarm.toml"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success());
    let node = |mut command: Command, index: usize, flags: &[&str]| {
        command.args(["node", "--swarm", "swarm.toml", "--no-mdns", "--listen", "/ip4/127.0.0.1/tcp/0"]);
        let (share, state) = (format!("{index}/3"), index.to_string());
        command.args(["--shard", &share, "--state", &state]).args(flags).current_dir(folder);
        command
    };
    let mut first = node(murmur(), 0, &["--log", "json"]);
    let mut first = first.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.by_ref().find_map(|line| {
        let status: Value = serde_json::from_str(&line).ok()?;
        status["addresses"][0].as_str().map(str::to_owned)
    });
    let peer = ["--peer", &address.expect("it listens")];
    std::thread::spawn(move || lines.for_each(drop));
    // One with a screen of 80 columns, one with lines and a page.
    let mut python = Command::new("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/terminal.py"));
    python.arg(env!("CARGO_BIN_EXE_murmur"));
    let screen = node(python, 1, &peer).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let lines = node(murmur(), 2, &[&peer[..], &["--http", "127.0.0.1:0", "--http-linger", "600"]].concat());
    let served = Served::start(lines);

    let last = served.until(|status| status["phase"] == "finished");
    let words = served.until_it_says("next: murmur report");
    let report = assert_told_what_is_reported(&words, folder, "2", 60);
    let worst = printed(report["worst"]["epsilon"].as_f64().unwrap());
    assert_eq!((&last["epsilon"]["round"], last["epsilon"]["worst"].as_f64()), (&60.into(), Some(worst)));
    let (_, metrics) = served.get("/metrics", "");
    assert!(metrics.contains("murmur_epsilon_round 60\n"), "{metrics}");
    let line = metrics.lines().find(|line| line.starts_with("murmur_epsilon{watcher=\"worst_pair\""));
    assert_eq!(line.unwrap().rsplit(' ').next().unwrap().parse::<f64>().unwrap(), worst);

    let screen = screen.wait_with_output().unwrap();
    assert!(first.wait().unwrap().success() && screen.status.success());
    let seen = String::from_utf8_lossy(&screen.stdout).into_owned();
    assert!(seen.contains("members    3 of 3 here"), "{seen}");
    for shown in seen.lines() {
        assert!(shown.chars().count() <= 80, "a screen of 80 columns shows: {shown}");
    }
    // What stands below the last picture is folded between words.
    let (pictures, below) = seen.split_once("\nprivacy: ").unwrap();
    let unfolded = format!("{pictures}\nprivacy: {}", below.replace('\n', " "));
    assert_told_what_is_reported(&unfolded, folder, "1", 60);
}
