//! A swarm of sixteen processes for ten minutes, with kills and pauses at random moments: nothing leaks, nothing is lost, and it goes on.
//!
//! Only `./test heavy` runs it. `MURMUR_SOAK_SECONDS` sets how long, `MURMUR_SOAK_SEED` what happens when. A partition is made by stopping several processes
//! at once: to the others they are as silent as behind a cut cable, and when they go on they find that the others went on without them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::{Digest, LogLine, RunEvent};
use serde_json::Value;

const NODES: usize = 16;

/// The first ones are paused but never killed: their memory and handles are watched from beginning to end.
const SURVIVORS: usize = 4;

/// How long the swarm may take for what it must do: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a node said last.
#[derive(Debug, Default, Clone)]
struct Status {
    address: Option<String>,
    round: u64,
}

struct Node {
    process: Child,
    stdin: Option<ChildStdin>,
    status: Arc<Mutex<Status>>,
}

impl Node {
    fn start(folder: &Path, index: usize) -> Self {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(folder.join(format!("{index}.err")))
            .expect("a file for its messages");
        let mut process = Command::new(assert_cmd::cargo::cargo_bin!("murmur"))
            .args(["node", "--swarm"])
            .arg(folder.join("swarm.toml"))
            .arg("--state")
            .arg(state(folder, index))
            .args(["--shard", &format!("{index}/{NODES}"), "--listen", "/ip4/127.0.0.1/tcp/0"])
            .args(["--no-mdns", "--child", "--log", "json"])
            .env("MURMUR_LEDGER", folder.join("ledger"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take().expect("it is piped"));
        let status = Arc::new(Mutex::new(Status::default()));
        let heard = status.clone();
        // Ends with the process.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Ok(said) = serde_json::from_str::<Value>(&line) else { continue };
                let mut status = heard.lock().expect("nobody panics while holding it");
                if let Some(address) = said["addresses"][0].as_str() {
                    status.address = Some(address.to_owned());
                }
                status.round = said["round"].as_u64().unwrap_or(status.round);
            }
        });
        Self { process, stdin, status }
    }

    fn status(&self) -> Status {
        self.status.lock().expect("nobody panics while holding it").clone()
    }

    fn meet(&mut self, address: &str) {
        // A node that ends at this moment does not listen any more.
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "peer {address}");
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.process.id().to_string()]).status();
        assert!(sent.expect("kill is there").success(), "{name}");
    }

    /// Resident memory in kB, and open files.
    fn usage(&self) -> Option<(u64, u64)> {
        let folder = PathBuf::from(format!("/proc/{}", self.process.id()));
        let text = std::fs::read_to_string(folder.join("status")).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        let memory = line.split_whitespace().nth(1)?.parse().ok()?;
        Some((memory, std::fs::read_dir(folder.join("fd")).ok()?.count() as u64))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already gone where it was let finish.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn state(folder: &Path, index: usize) -> PathBuf {
    folder.join(index.to_string())
}

fn init(folder: &Path) {
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--name", "soak", "--nodes", &NODES.to_string(), "--out"]);
    command.arg(folder.join("swarm.toml"));
    // More rounds than will be seen, so that the run is under way at every moment.
    for setting in ["rounds=100000", "privacy.noise_multiplier=1", "timeouts.silence=\"3s\""] {
        command.args(["--set", setting]);
    }
    command.assert().success();
}

/// SplitMix64: what happens when follows from the seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

struct Swarm {
    folder: PathBuf,
    nodes: Vec<Node>,
    kills: usize,
    pauses: usize,
    /// For each survivor, in the order of time.
    usage: Vec<Vec<(u64, u64)>>,
}

impl Swarm {
    fn start(folder: &Path) -> Self {
        let nodes: Vec<Node> = (0..NODES).map(|index| Node::start(folder, index)).collect();
        let usage = vec![Vec::new(); SURVIVORS];
        let mut swarm = Self { folder: folder.to_owned(), nodes, kills: 0, pauses: 0, usage };
        (0..NODES).for_each(|index| swarm.introduce(index));
        swarm
    }

    /// Tells a node where the others are, and waits until it listens itself.
    fn introduce(&mut self, index: usize) {
        wait("a node listens", || self.nodes[index].status().address.is_some());
        let others: Vec<String> = self.nodes.iter().filter_map(|node| node.status().address).collect();
        others.iter().for_each(|address| self.nodes[index].meet(address));
    }

    fn furthest(&self) -> u64 {
        self.nodes[..SURVIVORS].iter().map(|node| node.status().round).max().unwrap_or(0)
    }

    fn disturb(&mut self, chance: &mut Chance) {
        match chance.below(10) {
            0..4 => {
                let victim = SURVIVORS + chance.below((NODES - SURVIVORS) as u64) as usize;
                self.nodes[victim].process.kill().expect("it runs");
                self.nodes[victim].process.wait().expect("it ends");
                rest(chance.below(3_000));
                self.nodes[victim] = Node::start(&self.folder, victim);
                self.introduce(victim);
                self.kills += 1;
            }
            4..8 => self.pause(&[chance.below(NODES as u64) as usize], chance.below(8_000)),
            // Fewer than half, so that the others have a majority and go on.
            _ => {
                let first = chance.below(NODES as u64) as usize;
                let cut: Vec<usize> = (0..NODES / 2 - 2).map(|at| (first + at) % NODES).collect();
                self.pause(&cut, 2_000 + chance.below(8_000));
            }
        }
    }

    fn pause(&mut self, nodes: &[usize], millis: u64) {
        nodes.iter().for_each(|&node| self.nodes[node].signal("-STOP"));
        rest(millis);
        nodes.iter().for_each(|&node| self.nodes[node].signal("-CONT"));
        self.pauses += 1;
    }

    fn sample(&mut self) {
        for (node, usage) in self.nodes.iter().zip(&mut self.usage) {
            usage.extend(node.usage());
        }
    }

    /// All are asked to stop, and do.
    fn stop(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.stdin = None);
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let mut ended = None;
            wait("a node stops", || {
                ended = node.process.try_wait().expect("it is ours");
                ended.is_some()
            });
            assert!(ended.is_some_and(|status| status.success()), "node {index} ended with {ended:?}");
        }
    }
}

fn rest(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

/// Looks again and again; a swarm that does not come to it in a long time never will.
fn wait(what: &str, mut has_happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < PATIENCE, "in vain until {what}");
        rest(50);
    }
}

#[test]
#[ignore = "takes ten minutes: ./test heavy"]
fn a_swarm_under_kills_and_pauses_stays_small_and_loses_nothing() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (seconds, seed) = (number("MURMUR_SOAK_SECONDS", 600), number("MURMUR_SOAK_SEED", 1));
    let folder = tempfile::tempdir().expect("a folder");
    init(folder.path());
    let mut swarm = Swarm::start(folder.path());
    wait("the run begins", || swarm.furthest() >= 3);
    let (start, mut chance) = (Instant::now(), Chance(seed));
    while start.elapsed() < Duration::from_secs(seconds) {
        swarm.disturb(&mut chance);
        swarm.sample();
        rest(chance.below(2_000));
    }
    let reached = swarm.furthest();
    wait("the survivors go on", || swarm.furthest() > reached);
    swarm.sample();
    swarm.stop();
    for (index, usage) in swarm.usage.iter().enumerate() {
        is_flat(index, usage);
    }
    let released = nothing_is_lost(folder.path());
    let (kills, pauses) = (swarm.kills, swarm.pauses);
    eprintln!("{kills} kills, {pauses} pauses, {} rounds, {released} contributions", swarm.furthest());
}

/// Compares the last quarter with the first, without the beginning, where caches fill.
fn is_flat(index: usize, usage: &[(u64, u64)]) {
    let settled = &usage[usage.len() / 10..];
    let quarter = (settled.len() / 4).max(1);
    let most = |part: &[(u64, u64)]| {
        let (memory, files) = (part.iter().map(|at| at.0).max(), part.iter().map(|at| at.1).max());
        (memory.unwrap_or(0), files.unwrap_or(0))
    };
    let (first, last) = (most(&settled[..quarter]), most(&settled[settled.len() - quarter..]));
    eprintln!("node {index}: {} kB then {} kB, {} files then {}", first.0, last.0, first.1, last.1);
    assert!(
        last.0 <= first.0 * 3 / 2 + 32 * 1024,
        "node {index}: memory grows from {} to {} kB",
        first.0,
        last.0
    );
    // A link to each other node, twice for a moment where both call each other.
    assert!(last.1 <= first.1 + NODES as u64, "node {index}: files grow from {} to {}", first.1, last.1);
}

/// Every contribution is in the ledger, none twice, and all that ended a round ended it alike; gives the number of contributions.
fn nothing_is_lost(folder: &Path) -> usize {
    let mut ends: BTreeMap<(u32, u32), BTreeSet<Digest>> = BTreeMap::new();
    let mut total = 0;
    for index in 0..NODES {
        let recorded = recorded(folder, index);
        let mut once = BTreeSet::new();
        assert!(recorded.iter().all(|round| once.insert(*round)), "node {index} recorded a round twice");
        let mut released = BTreeSet::new();
        for line in lines(folder, index) {
            match line.event {
                RunEvent::Released { round, .. } => {
                    assert!(released.insert(round), "node {index} released round {round} twice");
                    assert!(once.contains(&round), "node {index} released round {round} without a record");
                }
                RunEvent::RoundDone { round, epoch, end, .. } => {
                    ends.entry((epoch, round)).or_default().insert(end);
                }
                _ => {}
            }
        }
        assert!(!released.is_empty(), "node {index} took no part");
        total += released.len();
    }
    for (round, ends) in &ends {
        assert_eq!(ends.len(), 1, "epoch and round {round:?} ended with different models");
    }
    total
}

/// The lines of a node's log. One that a kill cut short may be there, one for each life.
fn lines(folder: &Path, index: usize) -> Vec<LogLine> {
    let text = std::fs::read_to_string(state(folder, index).join("log.jsonl")).expect("there is a log");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The rounds in a node's ledger.
fn recorded(folder: &Path, index: usize) -> Vec<u32> {
    let name = state(folder, index);
    let identity = runtime::identity::Identity::load_or_create(&name).expect("an identity");
    let file = runtime::swarm_file::SwarmFile::load(&folder.join("swarm.toml")).expect("a swarm file");
    let config = protocol::config::Config::from_toml(&file.config, "soak").expect("a configuration");
    let owner = runtime::ledger::Owner {
        identity: identity.peer_id().to_base58(),
        run: format!("{} ({})", file.name, config.digest()),
    };
    let (ledger, _) = runtime::ledger::Ledger::open(&name, &owner).expect("a ledger");
    let records = ledger.records().expect("records");
    assert!(records.iter().enumerate().all(|(at, record)| record.id == at as u64), "node {index} has gaps");
    records.iter().map(|record| record.round).collect()
}
