//! Eight of 64 members lie in what they contribute, and know everything: what the rule against liars bears, and what is left of a mean without it.
//!
//! Contributions have norm at most C and noise of norm σ√d = 1.2 C, data are alike at all nodes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails; tables are printed"
)]

mod swarm;

use std::path::Path;

use protocol::account::Account;
use protocol::config::{Config, Hostile, Layer};
use protocol::{LogLine, RunResult, Setup};
use sim::Options;

const LIES: [&str; 9] =
    ["sign", "label", "alie:0.3", "alie:1", "alie:1.5", "push:0.1", "push:0.3", "push:0.6", "push:1"];

fn scenario(name: &str) -> Config {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/liars").join(name).with_extension("toml");
    // For looking at other settings: pairs of keys and values, with spaces between.
    let more = std::env::var("MURMUR_ROBUST").unwrap_or_default();
    let pairs: Vec<&str> = more.split_whitespace().collect();
    let file = Layer::from_toml(&std::fs::read_to_string(path).unwrap(), name).unwrap();
    Config::from_layers([file, Layer::from_flags("MURMUR_ROBUST", &pairs).unwrap()]).unwrap()
}

fn with_lie(config: &Config, lie: Option<&str>, seed: u64) -> Config {
    let mut config = Config { seed, ..config.clone() };
    config.faults.hostile = match lie {
        Some(lie) => vec![Hostile { kind: lie.parse().unwrap(), ..config.faults.hostile[0].clone() }],
        None => Vec::new(),
    };
    config
}

fn run(config: Config) -> (RunResult, Vec<LogLine>) {
    let mut lines = Vec::new();
    let setup = Setup::new(config).unwrap();
    let done = sim::run::run(&setup, &Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})
        .unwrap();
    (done.result, lines)
}

fn accuracy(config: &Config, lie: Option<&str>, seed: u64) -> f64 {
    run(with_lie(config, lie, seed)).0.test_acc.unwrap()
}

/// σ√d over C, which the targets are for.
#[test]
fn the_scenario_is_the_one_of_the_targets() {
    let config = scenario("push-robust");
    let parameters = Setup::new(config.clone()).unwrap().settings.initial.len();
    // Noise is on the sum of a node's records, and divided as their mean is: by 1,438 records over 64 nodes.
    let noise = config.privacy.noise_multiplier.unwrap() * (parameters as f64).sqrt() / (1438.0 / 64.0);
    assert!(parameters == 650 && (noise - 1.2).abs() < 0.01, "{noise}");
    assert_eq!((config.nodes, config.tolerate), (64, Some(8)));
}

/// A scenario with half of the nodes, liars and rounds, and as much noise.
fn half(name: &str) -> Config {
    let config = scenario(name);
    let (tolerate, multiplier) =
        (config.tolerate.map(|tolerate| tolerate / 2), config.privacy.noise_multiplier);
    let mut config = Config { nodes: config.nodes / 2, rounds: config.rounds / 2, tolerate, ..config };
    // With twice as many records each.
    config.privacy.noise_multiplier = multiplier.map(|multiplier| 2.0 * multiplier);
    config.faults.hostile[0].nodes.truncate(4);
    config
}

/// The worst of the lies by what they do to a mean, and the one that hides best.
#[test]
fn a_push_ruins_a_mean_and_not_what_the_rule_makes() {
    let (plain, robust) = (half("push"), half("push-robust"));
    let quiet = accuracy(&robust, None, 1);
    let found = ["push:1", "alie:1.5"]
        .map(|lie| (lie, accuracy(&plain, Some(lie), 1), accuracy(&robust, Some(lie), 1)));
    assert!(found[0].1 < quiet - 0.1, "{found:?} for {quiet}");
    assert!(found.iter().all(|(_, _, borne)| *borne > quiet - 0.02), "{found:?} for {quiet}");
}

/// Under masks a contribution is not seen, and what is too large for one may hide among all.
#[test]
fn a_push_under_masks_is_seen_by_nobody() {
    let masked = Config { rounds: 20, ..half("push-masked") };
    let (quiet, pushed) = (accuracy(&masked, None, 1), run(with_lie(&masked, Some("push:1"), 1)));
    assert!(pushed.0.test_acc.unwrap() < quiet - 0.1, "{:?} for {quiet}", pushed.0.test_acc);
    assert_eq!(pushed.0.finished_rounds, 20);
    assert!(!pushed.1.iter().any(|line| matches!(line.event, protocol::RunEvent::PeerFault { .. })));
}

/// Whoever holds a model in `gossip` and `walk` pushes it too, unseen.
#[test]
fn a_push_on_graphs_is_seen_by_nobody() {
    for kind in [protocol::config::AlgorithmKind::Gossip, protocol::config::AlgorithmKind::Walk] {
        let mut config = Config { rounds: 10, ..half("push") };
        config.algorithm.kind = kind;
        let (quiet, pushed) = (accuracy(&config, None, 1), accuracy(&config, Some("push:1"), 1));
        assert!(pushed < quiet - 0.05, "{}: {pushed} for {quiet}", kind.name());
    }
}

/// The sum of an average hides whose sign is wrong, with noise that neighbours share or without: of eight it moves by 2/8 of one value.
#[test]
fn a_lie_in_an_average_is_seen_by_nobody() {
    let pairs = [
        "algorithm.kind=mean",
        "nodes=8",
        "topology=complete",
        "algorithm.mixing_steps=1",
        "privacy.clip_norm=10",
        "privacy.noise_multiplier=0.001",
    ];
    for masking in ["none", "gopa"] {
        let masking = format!("privacy.masking={masking}");
        let said = [&pairs[..], &[masking.as_str()]].concat();
        let quiet = Config::from_layers([Layer::from_flags("", &said).unwrap()]).unwrap();
        let mut lied = quiet.clone();
        let sign = "sign".parse().unwrap();
        lied.faults.hostile = vec![Hostile { nodes: vec![3], fraction: 0.0, kind: sign, from: 0 }];
        let (quiet, (lied, lines)) = (run(quiet).0, run(lied));
        let (quiet, lied) = (quiet.test_loss.unwrap(), lied.test_loss.unwrap());
        assert!(quiet < 0.01 && lied > quiet + 0.05, "{masking}: {lied} for {quiet}");
        assert!(!lines.iter().any(|line| matches!(line.event, protocol::RunEvent::PeerFault { .. })));
    }
}

#[test]
fn an_account_in_the_open_is_local_and_counts_every_contribution() {
    let mut config = Config { nodes: 7, rounds: 5, ..scenario("push-robust") };
    config.tolerate = Some(2);
    config.faults.hostile.clear();
    let setup = Setup::new(config).unwrap();
    let mut account = Account::new(setup.shape()).unwrap();
    let swarm::Run { lines, .. } = swarm::run(&setup, 2);
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    let summary = account.summary();
    assert_eq!((summary.worst.analysis.as_str(), summary.releases), ("local", 35));
    assert_eq!(summary.worst.epsilon, summary.local.epsilon);
    // By theory: five Gaussian releases; μ² adds up.
    let mu2 = 5.0 / 1.057_f64.powi(2);
    assert!((summary.local.mu2 / mu2 - 1.0).abs() < 1e-9, "{} for {mu2}", summary.local.mu2);
}

/// All lies, three seeds, with a table. Without liars the rule is to cost little: whoever is left out of a mean is so with its records, of which each node has 22
/// here. Measured for seed 1: 93.6 % for the mean and 91.1 % for the rule.
#[test]
#[ignore = "minutes; without a lie the rule is not within a point of the mean yet"]
fn the_targets_hold_for_all_lies_and_three_seeds() {
    let (plain, robust) = (scenario("push"), scenario("push-robust"));
    let mut missed = Vec::new();
    for seed in 1..=3 {
        let (mean, quiet) = (accuracy(&plain, None, seed), accuracy(&robust, None, seed));
        println!("seed {seed}: mean {mean:.4}, rule {quiet:.4}");
        if quiet < mean - 0.01 {
            missed.push(format!("seed {seed}, no lie: {quiet:.4} for {mean:.4}"));
        }
        for lie in LIES {
            let (bare, borne) = (accuracy(&plain, Some(lie), seed), accuracy(&robust, Some(lie), seed));
            println!("seed {seed}, {lie}: mean {bare:.4}, rule {borne:.4}");
            if borne < quiet - 0.02 {
                missed.push(format!("seed {seed}, {lie}: {borne:.4} for {quiet:.4}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
