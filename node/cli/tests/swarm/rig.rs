//! Node processes whose status lines a test can wait for.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use protocol::account::{Account, Shape};
use protocol::config::Config;
use protocol::folder::{LOG, MODEL};
use protocol::log::Log;
use protocol::{LogLine, Record, RunEvent, Setup};
use runtime::identity::Identity;
use runtime::ledger::{Ledger, Owner};
use runtime::swarm_file::SwarmFile;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use crate::dice::Dice;

/// How long a test waits for anything before it fails.
const PATIENCE: Duration = Duration::from_secs(240);

/// A swarm file and the folders of its nodes.
pub(crate) struct Home {
    folder: TempDir,
    pub(crate) nodes: usize,
}

impl Home {
    /// Makes the swarm file.
    pub(crate) fn new(name: &str, nodes: usize, settings: &[&str]) -> Self {
        Self::make(tempfile::tempdir().expect("a folder"), (name, nodes), settings, &[])
    }

    /// The same with members that are named `n0`, `n1`, and so on: nobody else is let in.
    pub(crate) fn pinned(name: &str, nodes: usize, settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let member = |node: usize| {
            let identity = Identity::load_or_create(&folder.path().join(node.to_string()));
            ["--member".to_owned(), format!("n{node}={}", identity.expect("an identity").peer_id())]
        };
        let members: Vec<String> = (0..nodes).flat_map(member).collect();
        Self::make(folder, (name, nodes), settings, &members)
    }

    /// The same with a schema in it.
    pub(crate) fn with_schema(name: &str, nodes: usize, settings: &[&str], schema: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("schema.toml");
        std::fs::write(&path, schema).expect("a file");
        let words = ["--schema".to_owned(), path.display().to_string()];
        Self::make(folder, (name, nodes), settings, &words)
    }

    fn make(folder: TempDir, (name, nodes): (&str, usize), settings: &[&str], more: &[String]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        command.args(["swarm", "init", "--name", name, "--nodes", &nodes.to_string(), "--out"]);
        command.arg(folder.path().join("swarm.toml")).args(more);
        settings.iter().for_each(|setting| {
            command.args(["--set", setting]);
        });
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { folder, nodes }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn state(&self, node: usize) -> PathBuf {
        self.folder.path().join(node.to_string())
    }

    /// The command of a node on loopback, which is told where the others are.
    pub(crate) fn command(&self, node: usize) -> Launch {
        self.launch(node, Vec::new(), &["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns"])
    }

    /// The same at another address.
    #[cfg(feature = "quic")]
    pub(crate) fn command_at(&self, node: usize, listen: &str) -> Launch {
        self.launch(node, Vec::new(), &["--listen", listen, "--no-mdns"])
    }

    /// The same behind a prefix.
    pub(crate) fn command_on_loopback_behind(&self, node: usize, prefix: Vec<String>) -> Launch {
        self.launch(node, prefix, &["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns"])
    }

    /// The command of a node with another folder, and another place for what outlives it.
    pub(crate) fn command_in(&self, node: usize, state: &Path, ledger: &Path) -> Launch {
        let mut launch = self.command(node);
        let own = self.state(node).display().to_string();
        launch
            .words
            .iter_mut()
            .filter(|word| **word == own)
            .for_each(|word| *word = state.display().to_string());
        launch.errors =
            state.with_extension(format!("{}.stderr", ledger.file_name().unwrap_or_default().display()));
        launch.ledger = ledger.to_owned();
        launch
    }

    /// The command of a node that finds the others by itself, behind a prefix such as `ip netns exec NAME`.
    pub(crate) fn command_behind(&self, node: usize, prefix: Vec<String>) -> Launch {
        self.launch(node, prefix, &[])
    }

    /// A relay of this swarm, behind a prefix; it prints JSON lines of its own.
    pub(crate) fn relay(&self, prefix: Vec<String>) -> Launch {
        let mut words = prefix;
        words.push(assert_cmd::cargo::cargo_bin!("murmur").display().to_string());
        words.extend(["relay", "--child", "--log", "json", "--swarm"].map(str::to_owned));
        words.push(self.path().join("swarm.toml").display().to_string());
        words.push("--state".to_owned());
        words.push(self.path().join("relay").display().to_string());
        Launch { words, errors: self.path().join("relay.stderr"), ledger: self.path().join("ledger") }
    }

    /// The command of a node on loopback with data of its own.
    pub(crate) fn command_with_data(&self, node: usize, source: &str) -> Launch {
        let own = ["--data".to_owned(), source.to_owned()];
        self.launch_with(node, Vec::new(), own, &["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns"])
    }

    fn launch(&self, node: usize, prefix: Vec<String>, more: &[&str]) -> Launch {
        let share = ["--shard".to_owned(), format!("{node}/{}", self.nodes)];
        self.launch_with(node, prefix, share, more)
    }

    fn launch_with(&self, node: usize, prefix: Vec<String>, data: [String; 2], more: &[&str]) -> Launch {
        let mut words = prefix;
        words.push(assert_cmd::cargo::cargo_bin!("murmur").display().to_string());
        words.extend(["node", "--swarm"].map(str::to_owned));
        words.push(self.path().join("swarm.toml").display().to_string());
        words.push("--state".to_owned());
        words.push(self.state(node).display().to_string());
        words.extend(data);
        words.extend(["--child", "--log", "json"].iter().chain(more).map(|&word| word.to_owned()));
        Launch {
            words,
            errors: self.path().join(format!("{node}.stderr")),
            ledger: self.path().join("ledger"),
        }
    }

    /// All nodes on loopback, each told where the others are.
    pub(crate) fn start_all(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = (0..self.nodes).map(|node| self.command(node).go()).collect();
        introduce(&mut nodes);
        nodes
    }

    /// A node again, told where these are.
    pub(crate) fn restart(&self, node: usize, others: &[String]) -> Node {
        let mut again = self.command(node).go();
        others.iter().for_each(|address| again.meet(address));
        again
    }

    /// What a node has written down, in order.
    pub(crate) fn log(&self, node: usize) -> Vec<LogLine> {
        Log::open(&self.state(node).join(LOG)).unwrap_or_default().lines
    }

    pub(crate) fn logs(&self) -> Vec<Vec<LogLine>> {
        (0..self.nodes).map(|node| self.log(node)).collect()
    }

    /// Contributions that left a node by its log, which has a line before anything leaves.
    pub(crate) fn released(&self, node: usize) -> usize {
        let released = |line: &&LogLine| matches!(line.event, RunEvent::Released { .. });
        self.log(node).iter().filter(released).count()
    }

    pub(crate) fn config(&self) -> Config {
        let file = SwarmFile::load(&self.path().join("swarm.toml")).expect("a swarm file");
        Config::from_toml(&file.config, "test").expect("a configuration")
    }

    /// What a node has in its ledger; it must have ended.
    pub(crate) fn records(&self, node: usize) -> Vec<Record> {
        let config = self.config();
        let state = self.state(node);
        let identity = Identity::load_or_create(&state).expect("an identity");
        let run = format!("{} ({})", config.name, config.digest());
        let owner = Owner { identity: identity.peer_id().to_base58(), run };
        let (ledger, _) = Ledger::open(&state, &owner).expect("a ledger");
        ledger.records().expect("records")
    }

    /// Up to which record a node had asked for, by its disk; it must have ended.
    pub(crate) fn reserve(&self, node: usize) -> u64 {
        let config = self.config();
        let state = self.state(node);
        let peer = Identity::load_or_create(&state).expect("an identity").peer_id();
        let run = format!("{} ({})", config.name, config.digest());
        let (_, found) = Ledger::open(&state, &Owner { identity: peer.to_base58(), run }).expect("a ledger");
        let me = found.begun.and_then(|begun| begun.roster.position(&peer)).expect("it has begun");
        let held = found.snapshot.expect("it has kept something").reserves.held;
        held.iter().find(|held| held.by == me).map_or(0, |held| held.records)
    }

    /// The run as an account sees it, and the account of what the nodes have written down.
    pub(crate) fn account(&self) -> (Shape, Account) {
        let shape = Setup::new(self.config()).expect("a run").shape();
        let mut account = Account::new(shape.clone()).expect("an account");
        // Round by round: an account that hears of one node first must take it that the others added nothing.
        let mut lines: Vec<(u64, LogLine)> = self.logs().into_iter().flat_map(by_round).collect();
        lines.sort_by_key(|(round, _)| *round);
        lines.iter().for_each(|(_, line)| account.push(line));
        account.settle_final();
        (shape, account)
    }

    /// The bytes of the model that a node left behind.
    pub(crate) fn model(&self, node: usize) -> Vec<u8> {
        std::fs::read(self.state(node).join(MODEL)).expect("a model")
    }

    /// Test accuracy of the model that a node left behind.
    pub(crate) fn accuracy(&self, node: usize) -> f64 {
        let setup = Setup::new(self.config()).expect("a run");
        let path = self.state(node).join(MODEL);
        let (params, _) = learn::checkpoint::load(&path, setup.model.as_ref()).expect("a model");
        let quality = protocol::judge::Judge::new(&setup).judge(&[params.as_slice()]).expect("a test set");
        quality.test_acc.expect("a classifier")
    }
}

/// The lines of one node, each with the round in which it was written.
fn by_round(lines: Vec<LogLine>) -> Vec<(u64, LogLine)> {
    let mut round = 0;
    let place = |line: LogLine| {
        let said = serde_json::to_value(&line).expect("a line")["round"].as_u64();
        round = round.max(said.unwrap_or(0));
        (round, line)
    };
    lines.into_iter().map(place).collect()
}

/// Tells every node where the others listen.
pub(crate) fn introduce(nodes: &mut [Node]) {
    let addresses: Vec<String> = nodes.iter_mut().map(Node::address).collect();
    for (at, node) in nodes.iter_mut().enumerate() {
        let others = addresses.iter().enumerate().filter(|(other, _)| *other != at);
        others.for_each(|(_, address)| node.meet(address));
    }
}

/// A command that is not running yet.
pub(crate) struct Launch {
    words: Vec<String>,
    errors: PathBuf,
    /// Where uses of data are put down.
    ledger: PathBuf,
}

impl Launch {
    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    /// With another swarm file of the same folder.
    pub(crate) fn of_file(mut self, name: &str) -> Self {
        let file = self.words.iter_mut().find(|word| word.ends_with("/swarm.toml")).expect("it names a file");
        *file = file.replace("swarm.toml", name);
        self
    }

    /// With the share of another node.
    pub(crate) fn with_share(mut self, node: usize) -> Self {
        let at = self.words.iter().position(|word| word == "--shard").expect("it has a share") + 1;
        let of = self.words[at].split_once('/').expect("a share").1.to_owned();
        self.words[at] = format!("{node}/{of}");
        self
    }

    /// Starts it with its status lines in a pipe and its messages in a file.
    pub(crate) fn go(self) -> Node {
        let errors =
            std::fs::OpenOptions::new().create(true).append(true).open(&self.errors).expect("a file");
        let mut process = Command::new(&self.words[0])
            .env("MURMUR_LEDGER", &self.ledger)
            .args(&self.words[1..])
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("the program starts");
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().expect("it is piped");
        let (lines, statuses) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Nobody listens any more where the test has gone on.
                let _ = lines.send(serde_json::from_str(&line).expect("a JSON line"));
            }
        });
        Node { process, stdin, statuses, last: Value::Null, errors: self.errors }
    }

    /// Runs it to its end, for what it says.
    pub(crate) fn output(self) -> std::process::Output {
        Command::new(&self.words[0])
            .env("MURMUR_LEDGER", &self.ledger)
            .args(&self.words[1..])
            .output()
            .expect("the program starts")
    }
}

/// A running node.
pub(crate) struct Node {
    process: Child,
    stdin: Option<ChildStdin>,
    statuses: Receiver<Value>,
    /// The latest status that was read.
    pub(crate) last: Value,
    errors: PathBuf,
}

impl Node {
    /// Waits until a status says it.
    pub(crate) fn until<T>(&mut self, what: &str, says: impl Fn(&Value) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        if let Some(found) = says(&self.last) {
            return found;
        }
        loop {
            match self.statuses.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(status) => self.last = status,
                Err(error) => self.fail(what, error),
            }
            if let Some(found) = says(&self.last) {
                return found;
            }
        }
    }

    fn fail(&self, what: &str, error: RecvTimeoutError) -> ! {
        let words = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let last: Vec<&str> = words.lines().rev().take(15).collect();
        let all = self.errors.parent().map(crate::records::last_lines).unwrap_or_default();
        panic!(
            "waiting for {what}: {error}; last status {}\nlast words:\n{}\n{all}",
            self.last,
            last.join("\n")
        )
    }

    pub(crate) fn until_round(&mut self, round: u64) {
        self.until(&format!("round {round}"), |status| (status["round"].as_u64()? >= round).then_some(()));
    }

    /// Takes in what was said meanwhile, without waiting.
    pub(crate) fn catch_up(&mut self) -> &Value {
        while let Ok(status) = self.statuses.try_recv() {
            self.last = status;
        }
        &self.last
    }

    /// The same for nobody.
    pub(crate) fn hear(&mut self) {
        self.catch_up();
    }

    pub(crate) fn address(&mut self) -> String {
        self.until("an address", |status| status["addresses"][0].as_str().map(str::to_owned))
    }

    pub(crate) fn meet(&mut self, address: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "peer {address}").expect("the node listens");
    }

    /// Whether it has ended, however.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|ended| ended.is_some())
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.process.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{name}");
    }

    /// Kills it without a warning, at whatever it is doing.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }

    /// Asks it to stop, and waits.
    pub(crate) fn stop(mut self) -> bool {
        // The end of the pipe is how a parent asks.
        self.stdin = None;
        self.finish()
    }

    /// Lets it run to its end.
    pub(crate) fn finish(mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.statuses.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(status) => self.last = status,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => self.fail("its end", error),
            }
        }
        self.process.wait().expect("it ends").success()
    }

    /// Lets it run to its end; its exit code and what it said.
    pub(crate) fn code(mut self) -> (Option<i32>, String) {
        while self.statuses.recv_timeout(PATIENCE).is_ok() {}
        let code = self.process.wait().expect("it ends").code();
        (code, std::fs::read_to_string(&self.errors).unwrap_or_default())
    }

    /// Resident memory in kilobytes.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("memory");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already gone where a test let it finish.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
