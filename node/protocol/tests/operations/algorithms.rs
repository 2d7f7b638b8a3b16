//! Small swarms of each algorithm, with a budget that is less than the rounds would cost.

use std::sync::Arc;

use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::event::DpEvent;
use protocol::account::Price;
use protocol::rounds::Robust;
use protocol::{
    Algorithm, BudgetRule, GossipSettings, RoundsSettings, RunId, Scope, Settings, StepRule, Timeouts,
    Values, WalkSettings,
};
use topology::schedule::RunKey;
use topology::{Graph, Schedule, WalkKernel, Weights};

use crate::NODES;

pub(crate) const ALGORITHMS: [&str; 4] = ["rounds", "gossip", "walk", "robust"];

/// Most contributions of one node.
pub(crate) const LIMIT: u64 = 3;

const ROUNDS: u32 = 6;
const NOISE: f64 = 2.0;

pub(crate) fn settings(name: &str) -> Settings {
    let edges: Vec<(u32, u32)> = (0..NODES as u32).map(|node| (node, (node + 1) % NODES as u32)).collect();
    let graph = Arc::new(Graph::from_edges(NODES, &edges).unwrap().0);
    let (algorithm, rounds) = match name {
        "rounds" => (Algorithm::Rounds(RoundsSettings::new(ROUNDS)), ROUNDS),
        "robust" => {
            (Algorithm::Rounds(RoundsSettings::new(ROUNDS).with_robust(Robust { tolerate: 1 })), ROUNDS)
        }
        "gossip" => {
            let schedule = Arc::new(Schedule::fixed(graph, &Weights::Metropolis, 2).unwrap());
            let mut settings = GossipSettings::new(schedule, NODES).unwrap();
            settings.train = true;
            (Algorithm::Gossip(settings), ROUNDS)
        }
        _ => {
            let kernel = Arc::new(WalkKernel::Lazy.matrix(&graph).unwrap());
            (Algorithm::Walk(WalkSettings::new(kernel, vec![0, 2])), ROUNDS * NODES as u32)
        }
    };
    Settings {
        run: RunId(7),
        key: RunKey::new("operations"),
        nodes: NODES,
        rounds,
        algorithm,
        initial: Values::from_wire(vec![0.0, 0.5]),
        step: StepRule {
            sizes: StepSizes::Constant { step_size: 0.5 },
            optimiser: OptimiserSpec::Sgd { radius: None },
            penalty: 0.0,
        },
        release: DpEvent::Gaussian { noise_multiplier: NOISE },
        largest_norm: 1000.0,
        mechanism: protocol::work::Mechanism::Reals,
        budget: budget(),
        timeouts: Timeouts { resend: 10_000, silence: 100_000, slow: 0, give_up: 20_000_000 },
        hostile: protocol::agreement::hostile_by_default(NODES),
        certify: true,
    }
}

/// One rule counts contributions, the other what the node that sees most has learnt.
fn budget() -> Vec<BudgetRule> {
    let gaussian = Price::Gaussian { noise_multiplier: NOISE };
    let limit = gaussian.of(1.0) * LIMIT as f64;
    vec![
        BudgetRule {
            scope: Scope::Local,
            limit: LIMIT as f64,
            price: Price::Releases,
            name: "number".into(),
        },
        BudgetRule { scope: Scope::Worst, limit, price: gaussian, name: "worst pair".into() },
    ]
}
