//! Runs in which a watcher was once charged less than it had received, with the figures of what it received, found by hand from the delivered messages.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use protocol::Setup;
use protocol::account::Account;
use protocol::config::{Config, Layer};
use sim::{Options, simulate};

const COMMON: [&str; 12] = [
    "name=g",
    "nodes=8",
    "data=breast-cancer",
    "topology=ring",
    "batch_size=all",
    "learning_rate=0.05",
    "privacy.noise_multiplier=4.0",
    "privacy.clip_norm=1.0",
    "privacy.adjacency=record",
    "privacy.delta=1e-5",
    "timeouts.resend=20ms",
    "timeouts.silence=60ms",
];

fn account(pairs: &[&str]) -> Account {
    let layers = COMMON.iter().chain(pairs).map(|pair| Layer::from_flags("--set", &[pair]).unwrap());
    let setup = Setup::new(Config::from_layers(layers).unwrap()).unwrap();
    let mut account = Account::new(setup.shape()).unwrap();
    simulate(&setup, &Options::default(), &mut |line| account.push(line), &mut |_| ()).unwrap();
    account
}

#[track_caller]
fn at_least(account: &mut Account, (source, watcher): (usize, usize), epsilon: f64) {
    let printed = account.epsilon(source, watcher);
    assert!(printed >= epsilon - 1e-3, "{source} → {watcher}: {printed} printed, {epsilon} received");
}

#[test]
fn a_token_that_was_overtaken_was_seen_by_whom_it_was_offered_to() {
    let mut account = account(&[
        "name=w",
        "model.kind=logistic",
        "algorithm.kind=walk",
        "algorithm.kernel=metropolis",
        "algorithm.tokens=1",
        "rounds=2",
        "faults.drop_prob=0.2",
        "faults.delay=5ms",
        "seed=67",
    ]);
    // Contributions at hops 3, 5, 7 and 9 of the token that node 7 was given at hop 11: 2/16 by the taut string.
    at_least(&mut account, (1, 7), 1.356);
}

#[test]
fn states_too_far_ahead_to_be_kept_were_received_all_the_same() {
    let mut account = account(&[
        "model.kind=logistic",
        "algorithm.kind=gossip",
        "algorithm.mixing_steps=1",
        "rounds=8",
        "faults.delay=2ms",
        "faults.compute=10ms",
        "faults.slow=[{nodes=[0,1],factor=20}]",
        "faults.partition=[{nodes=[0,1],from=\"290ms\",until=\"100s\"}]",
        "seed=1",
    ]);
    // Seven units of 1/16 each.
    at_least(&mut account, (7, 0), 2.729);
}

#[test]
fn what_was_received_before_a_crash_is_not_forgotten_after_it() {
    let mut account = account(&[
        "model.kind=mean",
        "algorithm.kind=mean",
        "algorithm.mixing_steps=2",
        "privacy.adjacency=node",
        "faults.delay=2ms",
        "faults.compute=10ms",
        "faults.slow=[{nodes=[0],factor=2}]",
        "faults.crash=[{nodes=[0],at=\"14ms\",back=\"30ms\"}]",
        "seed=1",
    ]);
    // The raw noisy values of both neighbours: a unit of 1/4.
    at_least(&mut account, (7, 0), 1.993);
    at_least(&mut account, (1, 0), 1.993);
}
