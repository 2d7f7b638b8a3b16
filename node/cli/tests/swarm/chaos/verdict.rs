//! What must hold when it is over.

use protocol::config::Config;
use protocol::{PeerIx, RunEvent, Setup};

use super::{Chaos, HONEST};
use crate::records::{everything_is_on_record, one_result_for_each_round};
use crate::rig::{Home, Node};

/// With eleven contributors and noise of 1, accuracy in the end varies by a few hundredths from run to run; five of them below what is expected.
const MAY_MISS: f64 = 0.05;

pub(super) fn check(mut chaos: Chaos) {
    let places: Vec<PeerIx> = chaos
        .nodes
        .iter()
        .flatten()
        .map(|node| node.last["position"].as_u64().expect("a place") as PeerIx)
        .collect();
    for (node, process) in chaos.nodes.iter_mut().enumerate() {
        let process = process.take().expect("all run");
        assert!(Node::finish(process), "node {node} ended with an error, see its last words");
    }
    chaos.liars.clear();
    let home = &chaos.home;
    let model = home.model(0);
    (1..HONEST).for_each(|node| assert!(home.model(node) == model, "node {node} has another model"));
    one_result_for_each_round(home, HONEST);
    let released = (0..HONEST).map(|node| everything_is_on_record(home, node)).sum::<usize>();
    nobody_honest_is_accused_or_left_out(home, &places);
    for (node, memory) in chaos.memory.iter().enumerate() {
        is_flat(node, memory);
    }
    let (found, expected) = (home.accuracy(0), undisturbed(&home.config()));
    eprintln!("accuracy {found:.3}, undisturbed {expected:.3}; {released} contributions of honest nodes");
    assert!(found > expected - MAY_MISS, "{found} for {expected}");
}

fn nobody_honest_is_accused_or_left_out(home: &Home, places: &[PeerIx]) {
    for node in 0..HONEST {
        let mut last = Vec::new();
        let mut outside = false;
        for line in home.log(node) {
            match line.event {
                RunEvent::PeerFault { peer, fault, .. } => {
                    assert!(
                        !places.contains(&peer),
                        "node {node} accuses {peer}, who is honest, of {fault:?}"
                    );
                }
                RunEvent::Roster { members, .. } => (last, outside) = (members, false),
                RunEvent::Outside { .. } => outside = true,
                _ => {}
            }
        }
        let missing: Vec<_> = places.iter().filter(|place| !last.contains(place)).collect();
        assert!(missing.is_empty() && !outside, "node {node}: honest members {missing:?} are out in the end");
        if node == 0 {
            let left = last.len() - places.len();
            eprintln!("{left} hostile members still had a seat in the end");
        }
    }
}

/// The last quarter beside the second: before, caches fill and hostile members still have seats.
fn is_flat(node: usize, memory: &[u64]) {
    let quarter = memory.len() / 4;
    let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0);
    let (early, late) = (most(&memory[quarter..2 * quarter]), most(&memory[3 * quarter..]));
    eprintln!("node {node}: {early} kB, then {late} kB");
    assert!(late <= early * 3 / 2 + 16 * 1024, "node {node}: memory grows from {early} to {late} kB");
}

/// What as many honest nodes come to that nobody disturbs.
fn undisturbed(config: &Config) -> f64 {
    let quiet = Config { nodes: HONEST, hostile: None, ..config.clone() };
    let setup = Setup::new(quiet).expect("a run");
    let finished =
        sim::simulate(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {}).expect("it ends");
    let test = setup.test.as_ref().expect("a test set");
    let quality = learn::evaluation::evaluate(setup.model.as_ref(), &finished.models[0], test);
    quality.expect("a model").accuracy.expect("a classifier")
}
