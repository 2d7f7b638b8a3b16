//! Claims about accounts and plans, against exact linear algebra and hand computation.

mod budget;
mod gossip;
mod masks;
mod plan;
mod rounds;
mod walk;

use std::sync::Arc;

use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::event::DpEvent;
use topology::schedule::RunKey;
use topology::{Graph, Schedule, Weights};

use super::Shape;
use crate::event::{LogLine, RunEvent};
use crate::settings::{BudgetRule, RunId, Settings, StepRule, Timeouts};
use crate::values::{Digest, Values};
use crate::work::Adjacency;
use crate::{Algorithm, GossipSettings, PeerIx, Time};

const DELTA: f64 = 1e-5;

fn gaussian(noise_multiplier: f64) -> DpEvent {
    DpEvent::Gaussian { noise_multiplier }
}

fn settings(nodes: usize, rounds: u32, algorithm: Algorithm, release: DpEvent) -> Settings {
    Settings {
        run: RunId(1),
        key: RunKey::new("account"),
        nodes,
        rounds,
        algorithm,
        initial: Values::from_wire(vec![0.0]),
        step: StepRule {
            sizes: StepSizes::Constant { step_size: 0.1 },
            optimiser: OptimiserSpec::Sgd { radius: None },
            penalty: 0.0,
        },
        release,
        largest_norm: f64::INFINITY,
        mechanism: crate::work::Mechanism::Reals,
        budget: Vec::<BudgetRule>::new(),
        timeouts: Timeouts::default(),
        hostile: 0,
        certify: true,
    }
}

fn shape(nodes: usize, rounds: u32, algorithm: Algorithm, release: DpEvent) -> Shape {
    Shape::new(&settings(nodes, rounds, algorithm, release), Adjacency::Node, DELTA)
}

fn gossip_on(edges: &[(u32, u32)], nodes: usize, steps: usize, train: bool) -> Algorithm {
    let graph = Arc::new(Graph::from_edges(nodes, edges).unwrap().0);
    let schedule = Arc::new(Schedule::fixed(graph, &Weights::Metropolis, steps).unwrap());
    Algorithm::Gossip(GossipSettings { train, ..GossipSettings::new(schedule, nodes).unwrap() })
}

fn line(node: usize, event: RunEvent) -> LogLine {
    LogLine { time: Time(0), node: Some(node as PeerIx), event }
}

fn released(node: usize, round: u32) -> LogLine {
    line(node, RunEvent::Released { round, token: 0, generation: 0, release: None, among: None, loss: None })
}

fn model(version: u32) -> Digest {
    Digest::of_text(&format!("model {version}"))
}
