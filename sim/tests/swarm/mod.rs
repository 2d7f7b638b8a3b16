//! Runs a swarm and keeps all that came out, for the tests beside this folder.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part; this is a test")]

use std::collections::BTreeSet;

use learn::model;
use protocol::config::{Config, Layer};
use protocol::{FaultKind, LogLine, PeerIx, RunEvent, Setup};
use sim::{Ended, Finished, Options, simulate};

/// A small swarm that learns digits, with short waits so that lost nodes are given up soon.
const SMALL: [&str; 8] = [
    "name=test",
    "nodes=16",
    "batch_size=all",
    "learning_rate=2",
    "topology=regular:degree=4",
    "privacy.noise_multiplier=0.5",
    "timeouts.resend=20ms",
    "timeouts.silence=200ms",
];

/// Every algorithm that exchanges messages, as flags.
pub(crate) const ALGORITHMS: [&[&str]; 4] = [
    &["algorithm.kind=rounds", "rounds=12"],
    &["algorithm.kind=gossip", "rounds=12"],
    &["algorithm.kind=walk", "algorithm.tokens=2", "rounds=12"],
    &["algorithm.kind=mean", "algorithm.mixing_steps=12"],
];

/// The small swarm, changed by `pairs`.
pub(crate) fn setup(pairs: &[&str]) -> Setup {
    // A layer each: the last one that sets a key counts.
    let layers = SMALL.iter().chain(pairs).map(|pair| Layer::from_flags("--set", &[pair]).unwrap());
    let config = Config::from_layers(layers).unwrap();
    Setup::new(config).unwrap()
}

/// All that came out of a run.
pub(crate) struct Run {
    /// The log as it would be on disk.
    pub(crate) log: String,
    pub(crate) lines: Vec<LogLine>,
    pub(crate) finished: Finished,
    /// Training loss by round.
    pub(crate) losses: Vec<Option<f64>>,
    /// Mean test loss over nodes, by round.
    pub(crate) test_losses: Vec<f64>,
}

/// Runs a setup with invariants checked.
pub(crate) fn run(setup: &Setup, threads: usize) -> Run {
    run_with(setup, Options { threads, check: true, ..Options::default() })
}

/// Runs a setup.
pub(crate) fn run_with(setup: &Setup, options: Options) -> Run {
    let (mut log, mut lines, mut losses, mut test_losses) =
        (String::new(), Vec::new(), Vec::new(), Vec::new());
    let finished = simulate(
        setup,
        &options,
        &mut |line| {
            log += &serde_json::to_string(line).unwrap();
            log.push('\n');
            lines.push(line.clone());
        },
        &mut |seen| {
            losses.push(seen.train_loss);
            test_losses.extend(setup.test.as_ref().map(|test| {
                let all: Vec<f64> = seen
                    .models
                    .iter()
                    .filter_map(|(_, params)| model::loss(setup.model.as_ref(), params, test).ok())
                    .collect();
                all.iter().sum::<f64>() / all.len() as f64
            }));
        },
    )
    .unwrap();
    Run { log, lines, finished, losses, test_losses }
}

impl Run {
    /// Asserts that all survivors ended by themselves and know more than at the start.
    #[track_caller]
    pub(crate) fn assert_learnt(&self, survivors: usize) {
        assert_eq!(self.finished.ended, Ended::AllDone);
        let nodes: BTreeSet<_> = self.nodes_with(|event| matches!(event, RunEvent::Finished { .. }));
        assert!(nodes.len() >= survivors, "{} of {survivors} finished", nodes.len());
        let (first, last) = (self.test_losses[0], *self.test_losses.last().unwrap());
        assert!(last < 0.8 * first, "test loss {first} became {last}");
    }

    /// Nodes with such a line.
    pub(crate) fn nodes_with(&self, is_meant: impl Fn(&RunEvent) -> bool) -> BTreeSet<PeerIx> {
        self.lines.iter().filter(|line| is_meant(&line.event)).filter_map(|line| line.node).collect()
    }

    /// Who was accused of what.
    pub(crate) fn faults(&self) -> BTreeSet<(PeerIx, FaultKind)> {
        let fault = |line: &LogLine| match line.event {
            RunEvent::PeerFault { peer, fault, .. } => Some((peer, fault)),
            _ => None,
        };
        self.lines.iter().filter_map(fault).collect()
    }

    /// `Released` lines of each node.
    pub(crate) fn releases(&self, nodes: usize) -> Vec<u64> {
        let mut counts = vec![0; nodes];
        for line in &self.lines {
            if let (Some(node), RunEvent::Released { .. }) = (line.node, &line.event) {
                counts[node as usize] += 1;
            }
        }
        counts
    }
}
