//! Solving for contributions, against cases that can be solved by hand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use audit::{Solved, Unknown, built_in, solve};
use privacy::network::{Run, Watchers, linear};
use protocol::Setup;
use topology::{Spec, Weights};

fn setup(set: &[&str]) -> Setup {
    Setup::new(built_in(set).unwrap()).unwrap()
}

/// Leverages of one node's contributions, in order.
fn of(solved: &Solved, node: u32) -> Vec<f64> {
    let all = solved.contributions.iter().zip(&solved.leverages);
    all.filter(|((owner, _), _)| *owner == node).map(|(_, leverage)| *leverage).collect()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
}

const MEAN: [&str; 3] = ["algorithm.kind=mean", "model.kind=mean", "rounds=1"];

#[test]
fn on_a_path_of_three_the_end_hears_the_other_end_through_the_middle() {
    // Metropolis weights on 0 – 1 – 2: row 1 of W is (1, 1, 1)/3, so after one step node 1 has the mean of all. In step 0 node 0 hears x₁, in step 1 (x₀ + x₁ + x₂)/3; it
    // knows x₀, so x₂ is determined. After a single step it is not heard at all.
    let one = [&MEAN[..], &["nodes=3", "topology=path", "algorithm.mixing_steps=1"]].concat();
    let solved = solve(&setup(&one), 0, Unknown::Contribution, 1).unwrap();
    assert!(solved.residue < 1e-5, "{}", solved.residue);
    assert_eq!(solved.rank, 2);
    near(of(&solved, 1)[0], 1.0);
    near(of(&solved, 2)[0], 0.0);
    let two = [&MEAN[..], &["nodes=3", "topology=path", "algorithm.mixing_steps=2"]].concat();
    let solved = solve(&setup(&two), 0, Unknown::Contribution, 1).unwrap();
    assert_eq!(solved.rank, 3);
    near(of(&solved, 2)[0], 1.0);
}

#[test]
fn in_a_round_of_doubling_a_block_of_four_hides_each_of_its_members() {
    // Eight nodes, three exchanges: the watcher hears one node, a sum of two, a sum of four. Leverages are 1, ½ twice, ¼ four times.
    let solved = solve(&setup(&["rounds=1"]), 0, Unknown::Contribution, 1).unwrap();
    let mut others: Vec<f64> = (1..8).map(|node| of(&solved, node)[0]).collect();
    others.sort_by(f64::total_cmp);
    for (found, expected) in others.into_iter().zip([0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 1.0]) {
        near(found, expected);
    }
    assert_eq!(solved.rank, 4);
}

/// Gossip on a cycle of six, f_u(θ) = ½‖θ − b_u‖² and step 1: the counter-example to `linear` of docs/PRIVACY.md.
const CYCLE: [&str; 10] = [
    "algorithm.kind=gossip",
    "model.kind=mean",
    "nodes=6",
    "rounds=4",
    "topology=ring",
    "algorithm.mixing_steps=1",
    "learning_rate=1",
    "data=blobs:nodes=6,records=10,dim=40,test=0",
    "privacy.clip_norm=1000",
    "privacy.noise_multiplier=0.01",
];

#[test]
fn losses_that_contract_give_a_neighbour_everything() {
    // u's message is b_u minus fresh noise, so each of its contributions is determined by the message that carries it.
    let solved = solve(&setup(&CYCLE), 0, Unknown::Noise, 1).unwrap();
    assert!(solved.residue < 1e-4, "{}", solved.residue);
    of(&solved, 1).into_iter().for_each(|leverage| near(leverage, 1.0));
}

#[test]
fn contributions_that_ignore_the_state_give_a_neighbour_less() {
    // As `linear` assumes: the state of u holds the noise of nodes that the watcher has not heard, and that hides what u adds later.
    let solved = solve(&setup(&CYCLE), 0, Unknown::Contribution, 1).unwrap();
    let leverages = of(&solved, 1);
    // The same by the accountant's recursion, which never saw a message.
    let graph = "ring:6".parse::<Spec>().unwrap().build().unwrap().graph;
    let run = Run::on_graph(Weights::Metropolis.matrix(&graph).unwrap(), 1, 4).unwrap();
    let watchers = Watchers::new(&[0], 6).unwrap();
    for (phase, found) in leverages.into_iter().enumerate() {
        near(found, linear::loss_of_contribution(&run, &watchers, phase).unwrap()[1]);
    }
}
