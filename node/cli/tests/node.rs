//! Real node processes: killed without warning, started again, refused, stopped.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

const NODES: usize = 3;

/// A node whose status lines are read one by one: tests wait for what happens, never for time. Lines that nobody reads must not stop it.
struct Node {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Node {
    fn start(folder: &Path, index: usize) -> Self {
        let mut node = Self::start_quietly(folder, index);
        node.address = node.until(|status| status["addresses"][0].as_str().map(str::to_owned));
        node
    }

    /// Without waiting for its address.
    fn start_quietly(folder: &Path, index: usize) -> Self {
        let mut process = Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
            .arg("node")
            .arg("--swarm")
            .arg(folder.join("swarm.toml"))
            .arg("--state")
            .arg(state(folder, index))
            .args(["--shard", &format!("{index}/{NODES}"), "--listen", "/ip4/127.0.0.1/tcp/0"])
            .args(["--no-mdns", "--child", "--log", "json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdin = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        Self { process, stdin, lines, address: String::new() }
    }

    /// Reads status lines until one says it.
    fn until<T>(&mut self, says: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            let line = self.lines.next().expect("the node goes on").expect("its output can be read");
            if let Some(found) = says(&serde_json::from_str(&line).expect("a JSON line")) {
                return found;
            }
        }
    }

    fn until_round(&mut self, round: u64) {
        self.until(|status| (status["round"].as_u64()? >= round).then_some(()));
    }

    fn meet(&mut self, address: &str) {
        use std::io::Write;
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "peer {address}").expect("the node listens");
    }

    /// Lets it run to its end.
    fn finish(mut self) -> bool {
        for line in self.lines.by_ref() {
            line.expect("its output can be read");
        }
        self.process.wait().expect("it ends").success()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already gone where a test let it finish.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn state(folder: &Path, index: usize) -> PathBuf {
    folder.join(index.to_string())
}

fn init(folder: &Path, settings: &[&str]) {
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--name", "test", "--nodes", &NODES.to_string(), "--out"]);
    command.arg(folder.join("swarm.toml"));
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    command.assert().success();
}

/// All nodes, each told where the others are.
fn swarm(folder: &Path) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..NODES).map(|index| Node::start(folder, index)).collect();
    for a in 0..NODES {
        for b in (0..NODES).filter(|b| *b != a) {
            let address = nodes[b].address.clone();
            nodes[a].meet(&address);
        }
    }
    nodes
}

/// Lines of a node's log of this kind.
fn count(folder: &Path, index: usize, event: &str) -> usize {
    let text = std::fs::read_to_string(state(folder, index).join("log.jsonl")).expect("there is a log");
    let kind = format!("\"event\":\"{event}\"");
    text.lines().filter(|line| line.contains(&kind)).count()
}

fn records(folder: &Path, index: usize) -> usize {
    let name = state(folder, index);
    let identity = runtime::identity::Identity::load_or_create(&name).expect("an identity");
    let file = runtime::swarm_file::SwarmFile::load(&folder.join("swarm.toml")).expect("a swarm file");
    let config = protocol::config::Config::from_toml(&file.config, "test").expect("a configuration");
    let owner = runtime::ledger::Owner {
        identity: identity.peer_id().to_base58(),
        run: format!("{} ({})", file.name, config.digest()),
    };
    let (ledger, _) = runtime::ledger::Ledger::open(&name, &owner).expect("a ledger");
    ledger.records().expect("records").len()
}

#[test]
fn a_node_that_is_killed_again_and_again_comes_back_and_forgets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // More rounds than the test will see, so that the run is under way at every kill.
    init(folder.path(), &["rounds=50000", "privacy.noise_multiplier=1", "timeouts.silence=\"1s\""]);
    let mut nodes = swarm(folder.path());
    for contributions in [1, 7, 2, 11, 3] {
        let victim = nodes.len() - 1;
        nodes[victim].until(|status| (status["released"].as_u64()? >= contributions).then_some(()));
        // Killed without a warning, at whatever it was doing.
        nodes[victim].process.kill().unwrap();
        drop(nodes.pop());
        let mut again = Node::start(folder.path(), victim);
        for node in &nodes {
            again.meet(&node.address);
        }
        nodes.push(again);
    }
    nodes[NODES - 1].until(|status| (status["released"].as_u64()? >= 1).then_some(()));
    for mut node in nodes {
        node.stdin = None;
        assert!(node.finish());
    }
    for index in 0..NODES {
        let (records, released) = (records(folder.path(), index), count(folder.path(), index, "released"));
        assert!(records >= released && released > 0, "node {index}: {records} records, {released} releases");
    }
}

#[test]
fn a_node_whose_run_is_over_says_so_when_it_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &["rounds=3"]);
    assert!(swarm(folder.path()).into_iter().all(Node::finish));
    let mut again = Node::start_quietly(folder.path(), 1);
    again.until(|status| (status["phase"] == "done").then_some(()));
    assert!(again.finish());
}

#[test]
fn a_node_that_is_asked_to_stop_says_where_it_stands_and_ends_well() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &["rounds=100000"]);
    let mut nodes = swarm(folder.path());
    nodes[0].until_round(2);
    for mut node in nodes {
        // The end of the pipe is how a parent asks.
        node.stdin = None;
        assert!(node.finish());
    }
}

#[test]
fn two_nodes_cannot_share_one_state() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &["rounds=5"]);
    let _first = Node::start(folder.path(), 0);
    let second = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
        .arg("node")
        .arg("--swarm")
        .arg(folder.path().join("swarm.toml"))
        .arg("--state")
        .arg(state(folder.path(), 0))
        .args(["--shard", "0/3", "--no-mdns"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{text}");
    assert!(text.contains("another process uses the state"), "{text}");
    assert!(text.contains("hint:"), "{text}");
}

#[test]
fn a_node_has_one_identity() {
    let folder = tempfile::tempdir().unwrap();
    let id = |more: &[&str]| {
        let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        let output = command.args(["node", "id", "--state"]).arg(folder.path()).args(more).output().unwrap();
        assert!(output.status.success());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    let (first, said) = id(&[]);
    let me = first.lines().next().unwrap().to_owned();
    assert!(me.starts_with("12D3KooW"), "{first}");
    // A machine always has loopback at least.
    let addresses: Vec<&str> = first.lines().skip(1).collect();
    assert!(!addresses.is_empty(), "{first}");
    let ending = format!("/tcp/PORT/p2p/{me}");
    assert!(addresses.iter().all(|address| address.ends_with(&ending)), "{first}");
    assert!(said.contains("PORT is known when the node has started"), "{said}");
    assert_eq!(id(&[]).0, first);
    let (fixed, said) = id(&["--listen", "/ip4/127.0.0.1/tcp/7000", "--listen", "/ip4/0.0.0.0/tcp/7001"]);
    assert!(fixed.contains(&format!("/ip4/127.0.0.1/tcp/7000/p2p/{me}\n")), "{fixed}");
    assert!(
        fixed.contains("/tcp/7001/p2p/") && !fixed.contains("0.0.0.0") && said.is_empty(),
        "{fixed}{said}"
    );
}
