//! Trainers as real processes: the example, and programs that lie, hang, die or call home.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

const ROUNDS: usize = 6;
/// How the example answers for rows.
const HONEST: &str = "[value for record in wanted for value in gradient(records[record], params)]";

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/trainer")
}

/// Whether Python is there to run trainers; says so where not.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("python3 is missing: trainers are not tested here");
    }
    found
}

/// The example with something else in place of its honest rows; `questions` counts them.
fn liar(folder: &Path, name: &str, rows: &str, before: &str) -> String {
    let text = std::fs::read_to_string(example().join("trainer.py")).expect("the example");
    assert!(text.contains(HONEST) && text.contains("    if job[\"ask\"]"));
    let text = text.replace(HONEST, rows).replace(
        "while True:\n    job, wanted, params = read()\n",
        &format!(
            "questions = 0\nwhile True:\n    job, wanted, params = read()\n    questions += 1\n{before}"
        ),
    );
    let path = folder.join(format!("{name}.py"));
    std::fs::write(&path, text).expect("a script");
    format!("python3 {} {}", path.display(), example().join("points0.csv").display())
}

fn honest(node: usize) -> String {
    format!(
        "python3 {} {}",
        example().join("trainer.py").display(),
        example().join(format!("points{node}.csv")).display()
    )
}

#[test]
fn the_example_keeps_the_protocol_and_programs_that_do_not_are_told_what_is_wrong() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let checked = common::stdout(&["trainer", "check", &honest(0)]);
    assert!(
        checked.contains("200 records, 3 parameters in 2 tensors")
            && checked.contains("keeps the trainer protocol"),
        "{checked}"
    );
    let lies = [
        (
            "batch-norm",
            "[value / len(wanted) for record in wanted for value in gradient(records[record], params)]",
            "probe `split`",
        ),
        (
            "state",
            "[value * questions for record in wanted for value in gradient(records[record], params)]",
            "probe `twice`",
        ),
        (
            "position",
            "[value + at for at, record in enumerate(wanted) for value in gradient(records[record], params)]",
            "probe `permuted`",
        ),
        ("short", "[0.0]", "has 1 numbers and not 24"),
    ];
    for (name, rows, told) in lies {
        let output = common::murmur(&["trainer", "check", &liar(folder.path(), name, rows, "")]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        assert!(text.contains(told) && text.contains("checks failed"), "{name}: {text}");
    }
    common::refused_with_a_hint(&["trainer", "check", "echo hello world"], &["no frame of the protocol"]);
    common::refused_with_a_hint(&["trainer", "check", "/no/such/program"], &["cannot be started"]);
}

#[test]
fn a_trainer_without_a_network_computes_and_cannot_call_home() {
    let isolated = Command::new("unshare")
        .args(["-rn", "--", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !python() || !isolated {
        eprintln!("no namespaces for this user: a trainer without a network is not tested here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let call = format!(
        "    import socket\n    try:\n        socket.create_connection(('127.0.0.1', {port}), 1).close()\n    except OSError:\n        pass\n"
    );
    let caller = liar(folder.path(), "caller", HONEST, &call);
    common::stdout(&["trainer", "check", &caller]);
    assert!(listener.accept().is_ok(), "with a network it calls");
    while listener.accept().is_ok() {}
    common::stdout(&["trainer", "check", &format!("unshare -rn -- {caller}")]);
    assert!(listener.accept().is_err(), "without one it cannot");
}

/// A node that is told where the others are.
struct Node {
    process: Child,
    /// Open as long as it is to run: waiting for a child would close it.
    _stdin: ChildStdin,
    address: String,
}

impl Node {
    fn start(folder: &Path, index: usize, trainer: &str, others: &[String]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_murmur"))
            .args([
                "node",
                "--listen",
                "/ip4/127.0.0.1/tcp/0",
                "--no-mdns",
                "--child",
                "--log",
                "json",
                "--trainer",
                trainer,
            ])
            .arg("--swarm")
            .arg(folder.join("swarm.toml"))
            .arg("--state")
            .arg(folder.join(index.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.join(format!("{index}.stderr"))).expect("a file"))
            .spawn()
            .expect("the program starts");
        let mut stdin = process.stdin.take().expect("it is piped");
        others.iter().for_each(|address| writeln!(stdin, "peer {address}").expect("the node listens"));
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let address = lines.by_ref().find_map(|line| {
            let status: Value =
                serde_json::from_str(&line.expect("its output can be read")).expect("a JSON line");
            status["addresses"][0].as_str().map(str::to_owned)
        });
        // Lines that nobody reads must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, _stdin: stdin, address: address.expect("the node says where it listens") }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already gone where it finished.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn init(folder: &Path, more: &[&str]) {
    let rounds = format!("rounds={ROUNDS}");
    let out = folder.join("swarm.toml");
    let mut words =
        vec!["swarm", "init", "--name", "test", "--nodes", "3", "--out", out.to_str().expect("text")];
    for setting in [
        "model.kind=external",
        &rounds,
        "batch_size=16",
        "partition.min_size=100",
        "privacy.noise_multiplier=2",
        "learning_rate=1",
        "timeouts.silence=6s",
    ]
    .iter()
    .chain(more)
    {
        words.extend(["--set", setting]);
    }
    common::stdout(&words);
}

/// Runs three nodes to their end; what each printed on stderr.
fn swarm(folder: &Path, trainers: [String; 3]) -> [String; 3] {
    let mut nodes: Vec<Node> = Vec::new();
    for (index, trainer) in trainers.iter().enumerate() {
        let others: Vec<String> = nodes.iter().map(|node| node.address.clone()).collect();
        nodes.push(Node::start(folder, index, trainer, &others));
    }
    for (index, node) in nodes.iter_mut().enumerate() {
        let ended = node.process.wait().expect("it ends");
        let told = std::fs::read_to_string(folder.join(format!("{index}.stderr"))).unwrap_or_default();
        assert!(ended.success(), "node {index}: {told}");
    }
    [0, 1, 2].map(|index| std::fs::read_to_string(folder.join(format!("{index}.stderr"))).unwrap_or_default())
}

/// Events of a node's log of this kind.
fn count(folder: &Path, index: usize, event: &str) -> usize {
    let text = std::fs::read_to_string(folder.join(format!("{index}/log.jsonl"))).expect("a log");
    text.matches(&format!("\"event\":\"{event}\"")).count()
}

#[test]
fn a_swarm_of_trainers_learns_and_one_that_dies_hangs_or_lies_later_shows_to_its_owner_only() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    init(folder.path(), &[]);
    let dies =
        liar(folder.path(), "dies", HONEST, "    if questions > 11:\n        os.kill(os.getpid(), 9)\n");
    let hangs = liar(
        folder.path(),
        "hangs",
        "[float('nan') for record in wanted for value in gradient(records[record], params)] if questions == 12 else [1e30 for _ in range(len(wanted) * len(params))]",
        "    if questions == 11:\n        import time\n        time.sleep(3600)\n",
    );
    let told = swarm(folder.path(), [honest(0), dies, hangs]);
    assert!(!told[0].contains("noise on zeros"), "{}", told[0]);
    assert!(told[1].contains("signal: 9") && told[1].contains("noise on zeros"), "{}", told[1]);
    assert!(told[2].contains("was silent"), "{}", told[2]);
    for index in 0..3 {
        assert_eq!(count(folder.path(), index, "released"), ROUNDS, "every contribution was charged");
        assert_eq!(
            count(folder.path(), index, "round_done"),
            ROUNDS,
            "and every round ended with all of them"
        );
    }
    let model = std::fs::read(folder.path().join("0/model.safetensors")).expect("a model");
    assert!(String::from_utf8_lossy(&model).contains("\"weight\""), "it is saved under the trainer's names");
    let report =
        common::stdout(&["report", folder.path().join("0").to_str().expect("text"), "--format", "md"]);
    assert!(report.contains("rests on the trainer"), "{report}");
}

#[test]
fn a_node_does_not_start_with_a_trainer_that_fails_a_probe_or_with_none() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    init(folder.path(), &[]);
    let swarm = folder.path().join("swarm.toml");
    let state = folder.path().join("state");
    let words = ["node", "--swarm", swarm.to_str().expect("text"), "--state", state.to_str().expect("text")];
    let normed = "[value / len(wanted) for record in wanted for value in gradient(records[record], params)]";
    let normed = liar(folder.path(), "normed", normed, "");
    common::refused_with_a_hint(
        &[&words[..], &["--trainer", &normed]].concat(),
        &["probe `split`", "BatchNorm"],
    );
    common::refused_with_a_hint(&words, &["external", "--trainer"]);
    // The same program may train whole nodes.
    let other = tempfile::tempdir().expect("a folder");
    init(other.path(), &["privacy.adjacency=node"]);
    let normed = normed.replace("'", "");
    let told = self::swarm(other.path(), [normed, honest(1), honest(2)]);
    assert!(told.iter().all(|told| !told.contains("noise on zeros")), "{told:?}");
    assert_eq!(count(other.path(), 0, "released"), ROUNDS);
}
