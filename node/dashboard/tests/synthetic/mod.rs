//! Made-up runs, for the tests of this crate and for `examples/thousand.rs`.
#![allow(dead_code, reason = "each of its users needs another part")]

use protocol::config::{Config, Layer};
use protocol::{Digest, LogLine, PeerIx, RunEvent, Setup, Time};

pub(crate) fn config(settings: &[&str]) -> Config {
    let layer = Layer::from_flags("", settings).expect("settings of a test");
    Config::from_layers([layer]).expect("a configuration of a test")
}

pub(crate) fn setup(settings: &[&str]) -> Setup {
    Setup::new(config(settings)).expect("a run of a test")
}

/// Writes the lines of a swarm in which everything goes well.
pub(crate) struct Swarm {
    nodes: u32,
    round: u32,
}

impl Swarm {
    pub(crate) fn new(nodes: u32) -> Self {
        Self { nodes, round: 0 }
    }

    /// The lines of the next rounds.
    pub(crate) fn rounds(&mut self, count: u32) -> Vec<LogLine> {
        (0..count).flat_map(|_| self.next_round()).collect()
    }

    fn next_round(&mut self) -> Vec<LogLine> {
        let round = self.round;
        self.round += 1;
        let released = (0..self.nodes).map(|node| released(node, round, 2.0 / f64::from(round + 1)));
        let done = (0..self.nodes).map(|node| done(node, round, self.nodes));
        released.chain(done).collect()
    }
}

/// Appends lines to a node's log, as its journal would.
pub(crate) fn append(path: &std::path::Path, lines: &[LogLine]) {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a log");
    let mut file = std::io::BufWriter::new(file);
    for line in lines {
        let text = serde_json::to_string(line).expect("a line");
        writeln!(file, "{text}").expect("room on the disk");
    }
    file.flush().expect("room on the disk");
}

pub(crate) fn line(node: PeerIx, time: u64, event: RunEvent) -> LogLine {
    LogLine { time: Time(time), node: Some(node), event }
}

pub(crate) fn released(node: PeerIx, round: u32, loss: f64) -> LogLine {
    let event =
        RunEvent::Released { round, token: 0, generation: 0, release: None, among: None, loss: Some(loss) };
    line(node, u64::from(round) * 100_000, event)
}

pub(crate) fn done(node: PeerIx, round: u32, count: u32) -> LogLine {
    let model = |round: u32| Digest::of_text(&format!("model {round}"));
    let event = RunEvent::RoundDone { round, epoch: 0, start: model(round), end: model(round + 1), count };
    line(node, u64::from(round) * 100_000 + 50_000, event)
}
