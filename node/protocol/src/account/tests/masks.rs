//! Masked rounds of rosters so large that members share streams with some others only.

use privacy::gdp;

use super::super::{Account, Aim, Protects, Question, Visibility, plan};
use super::*;
use crate::config::{Config, Layer};
use crate::settings::Scope;

/// Four noise multipliers of a sensitivity, in all of these.
const Z: f64 = 4.0;
/// The chance with which one roster may be split, as the specification says.
const SPLIT: f64 = 1.0 / (1_u64 << 40) as f64;

/// 64 members of which 21 may collude, and so many parameters.
fn masked(parameters: usize) -> Shape {
    let keys = ["nodes=64", "rounds=100", "privacy.masking=pairwise", "privacy.inspect=0"];
    let layers = keys.map(|key| Layer::from_flags("--set", &[key]).unwrap());
    let config = Config::from_layers(layers).unwrap();
    let algorithm = Algorithm::of(&config, "masked").unwrap().with_parameters(parameters);
    shape(64, 100, algorithm, gaussian(Z)).with_colluders(21)
}

fn contributed(node: usize, round: u32) -> LogLine {
    let among = Some(64);
    line(node, RunEvent::Released { round, token: 0, generation: 0, release: None, among, loss: None })
}

/// By theory: 1/(n − c) a round at δ less the chance of a split, once for every roster; in full for more watchers than the graph was made for.
#[test]
fn a_sparse_graph_costs_what_the_complete_one_does_but_for_its_chance_to_split() {
    let circle = |epoch| line(0, RunEvent::Streams { epoch, among: 64, neighbours: 22 });
    let coalition = |lines: &[LogLine], members: usize| {
        let mut account = Account::new(masked(10_000_000)).unwrap();
        lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        account.coalition(&(1..=members).collect::<Vec<_>>()).unwrap().0[0]
    };
    let made: Vec<LogLine> = (0..10).map(|round| contributed(0, round)).collect();
    let sparse = |epochs: u32| [&(0..epochs).map(circle).collect::<Vec<_>>()[..], &made].concat();
    let theory = |honest: f64, delta: f64| gdp::epsilon((10.0 / honest).sqrt() / Z, delta).unwrap();
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    near(coalition(&made, 21), theory(43.0, DELTA));
    near(coalition(&sparse(1), 21), theory(43.0, DELTA - SPLIT));
    near(coalition(&sparse(1), 1), theory(63.0, DELTA - SPLIT));
    near(coalition(&sparse(2), 21), theory(43.0, DELTA - 2.0 * SPLIT));
    assert!(coalition(&sparse(2), 21) > coalition(&sparse(1), 21));
    // A third was counted on; half of the members might have split the rest.
    near(coalition(&sparse(1), 32), theory(1.0, DELTA));
    near(coalition(&made, 32), theory(32.0, DELTA));
}

/// The plan takes off the chance for every number of a round that a run may use up: 4·100 + 64.
#[test]
fn a_plan_leaves_room_in_delta_where_the_graph_is_sparse() {
    for (parameters, rosters) in [(650, 0.0), (10_000_000, 464.0)] {
        let shape = masked(parameters);
        let figures = shape.algorithm.forecast().figures(&shape, f64::INFINITY).unwrap();
        let (members, found) = figures.coalition.unwrap();
        let expected = gdp::epsilon((100.0_f64 / 43.0).sqrt() / Z, DELTA - rosters * SPLIT).unwrap();
        assert_eq!(members, 21);
        assert!((found / expected - 1.0).abs() < 1e-9, "{parameters}: {found} {expected}");
    }
}

/// Room for looks is a part of what rounds cost as samples: one look here, and not the five for which there would be room if the rounds had no samples. Noise by an independent
/// computation, in clip norms: 3.82 without looks, 4.31 with room for one, 5.89 for five.
#[test]
fn room_for_looks_into_samples_is_a_part_of_what_samples_cost() {
    let keys = ["nodes=8", "rounds=160", "privacy.masking=pairwise"];
    let layers = keys.map(|key| Layer::from_flags("--set", &[key]).unwrap());
    let config = Config::from_layers(layers).unwrap();
    let algorithm = Algorithm::of(&config, "masked").unwrap().with_parameters(650);
    let shape = shape(8, 160, algorithm, gaussian(1.0)).with_colluders(2);
    let question = Question {
        shape: &shape,
        protects: Protects::Record { rate: 0.18 },
        visibility: Visibility::Network,
    };
    let found = plan(&question, Aim::Epsilon { epsilon: 1.0, scope: Scope::Worst }).unwrap();
    let noise = found.planned.noise_multiplier;
    assert!(noise > 4.1 && noise < 4.5, "{noise}");
}
