//! What runs must come to, by theory: the same as one machine with all the data, the optimum, the noise floor.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use learn::data::Dataset;
use learn::model;
use protocol::Setup;
use protocol::account::Account;
use swarm::{run, setup};

/// Without noise, and with a clip norm that never acts.
const NOISELESS: [&str; 4] =
    ["privacy.noise_multiplier=0", "privacy.clip_norm=1000", "batch_size=all", "test_fraction=0.2"];

fn union(setup: &Setup) -> Dataset {
    Dataset::joined(&setup.train).unwrap()
}

/// Plain gradient descent on the union of all records, in double precision but for the gradient itself.
fn centralised(setup: &Setup, rounds: u32) -> Vec<f64> {
    let data = union(setup);
    let rate = setup.config.learning_rate;
    let mut params: Vec<f64> = setup.settings.initial.as_slice().iter().map(|&x| f64::from(x)).collect();
    for _ in 0..rounds {
        let single: Vec<f32> = params.iter().map(|&x| x as f32).collect();
        let gradient = model::gradient(setup.model.as_ref(), &single, &data).unwrap();
        params.iter_mut().zip(gradient).for_each(|(param, g)| *param -= rate * f64::from(g));
    }
    params
}

fn distance(found: &[f32], expected: &[f64]) -> f64 {
    let square = |(a, b): (&f32, &f64)| (f64::from(*a) - b).powi(2);
    let norm: f64 = expected.iter().map(|b| b * b).sum();
    (found.iter().zip(expected).map(square).sum::<f64>() / norm).sqrt()
}

#[test]
fn rounds_without_noise_are_gradient_descent_on_the_union() {
    for nodes in ["nodes=8", "nodes=13", "nodes=64"] {
        let setup = setup(&[&NOISELESS[..], &["algorithm.kind=rounds", "rounds=20", nodes]].concat());
        let expected = centralised(&setup, 20);
        for model in run(&setup, 2).finished.models {
            let off = distance(&model, &expected);
            assert!(off < 1e-5, "{nodes}: {off}");
        }
    }
}

#[test]
fn gossip_without_noise_comes_to_the_same_optimum() {
    // The mean model has the optimum in closed form; a small step keeps the bias of disagreement (η times heterogeneity) small.
    let flags = [
        "algorithm.kind=gossip",
        "model.kind=mean",
        "learning_rate=0.05",
        "rounds=200",
        "algorithm.mixing_steps=4",
        "partition.kind=iid",
    ];
    let setup = setup(&[&NOISELESS[..], &flags].concat());
    let data = union(&setup);
    let optimum: Vec<f64> = (0..data.columns())
        .map(|column| {
            (0..data.len()).map(|row| f64::from(data.row(row)[column])).sum::<f64>() / data.len() as f64
        })
        .collect();
    // (1 − η)^200 = 3.5e-5 of the start is left.
    for model in run(&setup, 2).finished.models {
        let off = distance(&model, &optimum);
        assert!(off < 0.01, "{off}");
    }
}

#[test]
fn a_walk_without_noise_hovers_around_the_optimum() {
    // θ ← θ − η(θ − b_v) along the path: an exponential mean of the nodes' means over about 1/η visits, all nodes equally often. With 1/η = 100
    // visits of 16 nodes that differ by sampling (iid), what is left is far below the differences between nodes.
    let flags = [
        "algorithm.kind=walk",
        "algorithm.tokens=1",
        "model.kind=mean",
        "learning_rate=0.01",
        "rounds=60",
        "topology=complete",
        "algorithm.kernel=metropolis",
    ];
    let setup = setup(&[&NOISELESS[..], &flags].concat());
    let data = union(&setup);
    let optimum: Vec<f64> = (0..data.columns())
        .map(|column| {
            (0..data.len()).map(|row| f64::from(data.row(row)[column])).sum::<f64>() / data.len() as f64
        })
        .collect();
    let finished = run(&setup, 2).finished;
    let nearest = finished.models.iter().map(|model| distance(model, &optimum)).fold(f64::INFINITY, f64::min);
    assert!(nearest < 0.02, "{nearest}");
}

#[test]
fn a_private_mean_has_the_error_of_the_noise_floor() {
    // Doubling gives the exact mean of noisy values: σ²/n per coordinate. 64 coordinates, 10 seeds: χ² with 640 degrees of freedom, relative
    // deviation √(2/640) = 5.6 %; the bound of 28 % is five of them, false alarm below 1e-6, and the seeds are fixed.
    let mut squares = Vec::new();
    for seed in 1..=10 {
        let seed = format!("seed={seed}");
        let flags = [
            "algorithm.kind=mean",
            "algorithm.schedule=doubling",
            "nodes=32",
            "privacy.clip_norm=10",
            "privacy.noise_multiplier=0.5",
            &seed,
        ];
        let setup = setup(&flags);
        let data = &setup.train;
        let true_mean = |column: usize| {
            let of = |part: &Dataset| {
                (0..part.len()).map(|row| f64::from(part.row(row)[column])).sum::<f64>() / part.len() as f64
            };
            data.iter().map(of).sum::<f64>() / data.len() as f64
        };
        let finished = run(&setup, 2).finished;
        let error = |(column, &x): (usize, &f32)| (f64::from(x) - true_mean(column)).powi(2);
        squares.extend(finished.models[5].iter().enumerate().map(error));
    }
    let found = squares.iter().sum::<f64>() / squares.len() as f64;
    let floor = (0.5 * 10.0_f64).powi(2) / 32.0;
    assert!((found / floor - 1.0).abs() < 0.28, "{found} for {floor}");
}

#[test]
fn the_account_from_the_log_is_never_below_what_happened() {
    let scenarios = [
        "faults.drop_prob=0.2",
        "faults.online_prob=0.7",
        "faults.crash=[{ fraction = 0.25, at = \"20ms\" }]",
        "faults.partition=[{ fraction = 0.4, from = \"20ms\", until = \"900ms\" }]",
    ];
    for scenario in scenarios {
        let setup = setup(&["algorithm.kind=rounds", "rounds=20", "privacy.noise_multiplier=2", scenario]);
        let run = run(&setup, 2);
        let mut account = Account::new(setup.shape()).unwrap();
        run.lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        let summary = account.summary();
        // Nobody sees more than everything, and everything is every record of the ledgers.
        let releases = *run.finished.records_per_node.iter().max().unwrap() as f64;
        // μ² = (releases)/z² for somebody who sees every message; z = 2 at record level, all records in every batch.
        let local = summary.local.mu2;
        assert!(local >= releases / 4.0 * (1.0 - 1e-9), "{scenario}: {local} for {releases} releases");
        assert!(summary.worst.epsilon <= summary.local.epsilon, "{scenario}");
        // At least the total of each clean round is known to everybody: releases/n, and a meeting in the first step once.
        let least = (releases / 16.0 / 4.0).max(0.25);
        assert!(summary.worst.mu2 >= least, "{scenario}: {:?}", summary.worst);
    }
}
