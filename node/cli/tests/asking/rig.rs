//! Members that are real processes, and their questions.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

pub(crate) const NODES: usize = 5;
/// Records of each member.
pub(crate) const RECORDS: usize = 200;

/// A member whose status lines are read one by one: tests wait for what happens, never for time.
pub(crate) struct Member {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) address: String,
}

impl Member {
    pub(crate) fn start(folder: &Path, index: usize, rules: &[&str]) -> Self {
        let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--set", *rule]).collect();
        Self::start_with(folder, index, &rules)
    }

    pub(crate) fn start_with(folder: &Path, index: usize, flags: &[&str]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        command
            .arg("node")
            .arg("--swarm")
            .arg(folder.join("swarm.toml"))
            .arg("--state")
            .arg(state(folder, index));
        command.arg("--data").arg(folder.join(format!("{index}.csv")));
        let mut process = command
            .args(flags)
            .args(["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--child", "--log", "json"])
            .env("MURMUR_LEDGER", folder.join("ledger"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(std::fs::File::create(folder.join(format!("{index}.err"))).unwrap()))
            .spawn()
            .expect("the program starts");
        let stdin = process.stdin.take();
        let lines = lines_of(&mut process);
        let mut member = Self { process, stdin, lines, address: String::new() };
        member.address = member.until(|status| status["addresses"][0].as_str().map(str::to_owned));
        member
    }

    /// A member that reads its records from standard input, and so calls those that are there by itself.
    pub(crate) fn start_piped(folder: &Path, index: usize, peers: &[String]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        command.arg("node").arg("--swarm").arg(folder.join("swarm.toml")).args(["--data", "-"]);
        command.arg("--state").arg(state(folder, index)).args(["--log", "json", "--no-mdns"]);
        command.args(["--listen", "/ip4/127.0.0.1/tcp/0"]);
        peers.iter().for_each(|peer| {
            command.args(["--peer", peer]);
        });
        let mut process = command
            .env("MURMUR_LEDGER", folder.join("ledger"))
            .stdin(Stdio::from(std::fs::File::open(folder.join(format!("{index}.csv"))).unwrap()))
            .stdout(Stdio::piped())
            .stderr(Stdio::from(std::fs::File::create(folder.join(format!("{index}.err"))).unwrap()))
            .spawn()
            .expect("the program starts");
        let lines = lines_of(&mut process);
        let mut member = Self { process, stdin: None, lines, address: String::new() };
        member.address = member.until(|status| status["addresses"][0].as_str().map(str::to_owned));
        member
    }

    /// Reads status lines until one says it.
    pub(crate) fn until<T>(&mut self, says: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            let line = self.lines.recv().expect("the node goes on");
            if let Some(found) = says(&serde_json::from_str(&line).expect("a JSON line")) {
                return found;
            }
        }
    }

    pub(crate) fn meet(&mut self, address: &str) {
        use std::io::Write;
        writeln!(self.stdin.as_mut().expect("it is open"), "peer {address}").expect("the node listens");
    }
}

/// What a process says, line by line. It is read at once, so that nobody waits for a test that looks elsewhere.
fn lines_of(process: &mut Child) -> Receiver<String> {
    let (said, heard) = channel();
    let output = BufReader::new(process.stdout.take().expect("it is piped"));
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    heard
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn state(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("node{index}"))
}

/// Ages of a member: known, so that the truth is.
pub(crate) fn ages(index: usize) -> impl Iterator<Item = usize> {
    (0..RECORDS).map(move |record| (7 * record + 13 * index) % 90)
}

/// Three of four records have one code, the others five others.
fn code(record: usize) -> String {
    if record.is_multiple_of(4) { format!("B{}", record / 4 % 5) } else { "A1".into() }
}

pub(crate) fn truth() -> f64 {
    (0..NODES).flat_map(ages).sum::<usize>() as f64 / (NODES * RECORDS) as f64
}

pub(crate) fn init(folder: &Path, settings: &[&str]) {
    init_of(folder, NODES, settings);
}

pub(crate) fn init_of(folder: &Path, nodes: usize, settings: &[&str]) {
    std::fs::write(
        folder.join("schema.toml"),
        "[columns.age]\nbounds = [0, 110]\ninteger = true\n[columns.sex]\nvalues = [0, 1]\n[columns.code]\ntext = 2\n",
    )
    .unwrap();
    for index in 0..nodes {
        let mut text = "age,sex,code\n".to_owned();
        for (record, age) in ages(index).enumerate() {
            text.push_str(&format!("{age},{},{}\n", age % 2, code(record)));
        }
        std::fs::write(folder.join(format!("{index}.csv")), text).unwrap();
    }
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--questions", "--name", "clinic", "--nodes", &nodes.to_string()]);
    command.arg("--schema").arg(folder.join("schema.toml")).arg("--out").arg(folder.join("swarm.toml"));
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    command.assert().success();
}

/// A swarm that trains, for a few hundred rounds.
pub(crate) fn init_training(folder: &Path) {
    init(folder, &[]);
    std::fs::remove_file(folder.join("swarm.toml")).unwrap();
    let schema = std::fs::read_to_string(folder.join("schema.toml")).unwrap();
    std::fs::write(folder.join("schema.toml"), format!("[schema]\nlabel = \"sex\"\n{schema}")).unwrap();
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--name", "clinic", "--nodes", &NODES.to_string()]);
    command.arg("--schema").arg(folder.join("schema.toml")).arg("--out").arg(folder.join("swarm.toml"));
    for setting in ["rounds=300", "partition.min_size=100", "batch_size=16", "privacy.epsilon=8"] {
        command.args(["--set", setting]);
    }
    command.assert().success();
}

/// Everybody knows everybody.
pub(crate) fn introduce(members: &mut [Member]) {
    for a in 0..members.len() {
        for b in (0..members.len()).filter(|b| *b != a) {
            let address = members[b].address.clone();
            members[a].meet(&address);
        }
    }
}

/// All members, met: each has come to the end of the run that is none.
pub(crate) fn swarm(folder: &Path, rules: impl Fn(usize) -> Vec<&'static str>) -> Vec<Member> {
    swarm_of(folder, NODES, rules)
}

pub(crate) fn swarm_of(
    folder: &Path,
    nodes: usize,
    rules: impl Fn(usize) -> Vec<&'static str>,
) -> Vec<Member> {
    let mut members: Vec<Member> =
        (0..nodes).map(|index| Member::start(folder, index, &rules(index))).collect();
    introduce(&mut members);
    for member in &mut members {
        member.until(|status| (status["phase"] == "done" && status["present"] == nodes as u64).then_some(()));
    }
    members
}

pub(crate) fn ask(folder: &Path, index: usize, question: &str) -> Command {
    let mut command = ask_for_people(folder, index, question);
    command.args(["--format", "json"]);
    command
}

pub(crate) fn ask_for_people(folder: &Path, index: usize, question: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["ask", question, "--yes", "--expect", "1000"]);
    command.arg("--swarm").arg(folder.join("swarm.toml")).arg("--state").arg(state(folder, index));
    command
}

pub(crate) fn answer(mut command: Command) -> Result<Value, String> {
    let output = command.output().expect("the program starts");
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Lines of the book of a member: what it contributed to, each question once.
pub(crate) fn book(folder: &Path, index: usize) -> Vec<runtime::asking::Entry> {
    runtime::asking::look(&state(folder, index)).expect("its book can be read")
}

pub(crate) const MEAN: &str = "SELECT count(*), mean(age) FROM swarm";

/// 95 % intervals of two answers miss by chance in one run of ten; at five times their width in one of 10¹⁸.
pub(crate) fn is_near(answer: &Value, truth: f64) -> bool {
    let figure = |name: &str| answer[name].as_f64().expect("a figure");
    let half = (figure("high") - figure("low")) / 2.0;
    half > 0.0 && (figure("raw") - truth).abs() <= 5.0 * half
}
