//! The paths on which a node and an account spend their time, so often as asked: `benches/guard` counts their instructions.

use std::error::Error;

use learn::gradient::Workspace;
use privacy::accountant::Accountant;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize, Words};
use privacy::network::contractive::{Method, Update};
use privacy::network::{Pricing, Run, Watchers, losses};
use privacy::noise::danger_from_seed;
use privacy::pld::PldAccountant;
use protocol::account::Account;
use protocol::config::Config;
use protocol::gossip::Say;
use protocol::work::{self, Job};
use protocol::{Digest, Input, LogLine, Message, Node, Numbers, Output, RunEvent, Setup, Time, Values};
use topology::{Spec, Weights};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, times] = arguments.as_slice() else { return Err("usage: hot_paths PATH TIMES".into()) };
    let times: u32 = times.parse()?;
    match path.as_str() {
        "private-step" => private_step(times),
        "gossip-sum" => gossip_sum(times),
        "doubling-account" => doubling_account(times),
        "pairs-linear" => pairs(Pricing::Linear, ("erdos-renyi:120,mean_degree=8,seed=1", 1, 20), times),
        "pairs-rounds" => pairs(Pricing::Rounds, ("regular:240,degree=6,seed=1", 8, 1), times),
        "pairs-contractive" => {
            let pricing = Pricing::Contractive(Method::Boundary, Update::lipschitz(1.0)?);
            pairs(pricing, ("erdos-renyi:240,mean_degree=8,seed=1", 1, 20), times)
        }
        "loss-distribution" => loss_distribution(times.div_ceil(10)),
        "masks" => masks(times),
        "integer-noise" => integer_noise(times),
        other => Err(format!("there is no path `{other}`").into()),
    }
}

fn setup(text: &str) -> Result<Setup, Box<dyn Error>> {
    Ok(Setup::new(Config::from_toml(text, "guard")?)?)
}

/// Per-example gradients of softmax regression on digits, clipped, summed and noised.
fn private_step(times: u32) -> Result<(), Box<dyn Error>> {
    let setup = setup("nodes = 4\nbatch_size = 64\nprivacy.noise_multiplier = 1")?;
    let mut workspace = Workspace::new(setup.model.as_ref());
    let mut noise = danger_from_seed(1, "guard");
    let data = (setup.model.as_ref(), &setup.train[0]);
    let work = work::WorkSettings { with_loss: false, ..(*setup.work).clone() };
    for round in 0..times {
        let job = Job::new(round, setup.settings.initial.clone());
        work::contribute(&work, data, &job, &mut workspace, &mut noise)?;
    }
    Ok(())
}

/// One node that mixes with two neighbours, a round for each of `times`.
fn gossip_sum(times: u32) -> Result<(), Box<dyn Error>> {
    let setup = setup(
        "nodes = 5\nrounds = 4096\ntopology = \"ring\"\nalgorithm.kind = \"gossip\"\nalgorithm.mixing_steps = 1\nprivacy.noise_multiplier = 1",
    )?;
    let mut node = Node::new(0, setup.settings.clone(), None);
    let size = setup.settings.initial.len();
    let contribution = || {
        let sum = learn::gradient::ExampleGradient::of_node(vec![0.25; size]).clip(setup.work.clip);
        sum.release(0.0, &mut danger_from_seed(0, "none"))
    };
    node.handle(Time(0), Input::Start);
    for round in 0..times {
        let (contribution, release) = contribution()?;
        let computed = work::Computed { round, contribution: contribution.into(), release, loss: None };
        node.handle(Time(0), Input::Computed(computed));
        node.handle(Time(0), Input::Recorded(u64::from(round)));
        for from in [1, 4] {
            let numbers = Some(Numbers::Reals(Values::from_wire(vec![0.5; size])));
            let message =
                Message { run: setup.settings.run, round, step: 0, body: Say::State.into(), numbers };
            node.handle(Time(0), Input::Received { from, message });
        }
        while let Some(output) = node.poll_output() {
            if let Output::Log(event) = output
                && let RunEvent::PeerFault { fault, .. } = *event
            {
                return Err(format!("{fault:?}").into());
            }
        }
    }
    if node.round() != times { Err(format!("round {} of {times}", node.round()).into()) } else { Ok(()) }
}

/// What so many watchers learn on a graph without symmetries.
fn pairs(
    pricing: Pricing,
    (graph, steps, rounds): (&str, usize, usize),
    times: u32,
) -> Result<(), Box<dyn Error>> {
    let built = graph.parse::<Spec>()?.build_largest_component()?;
    let run = Run::on_graph(Weights::Metropolis.matrix(&built.graph)?, steps, rounds)?;
    let watchers: Vec<Watchers> =
        (0..times as usize).map(|node| Watchers::new(&[node], run.nodes())).collect::<Result<_, _>>()?;
    losses(&run, &watchers, pricing, &|_| {})?;
    Ok(())
}

/// ε of a million sampled releases.
fn loss_distribution(times: u32) -> Result<(), Box<dyn Error>> {
    let event = DpEvent::Gaussian { noise_multiplier: 0.5 }.poisson_sampled(1e-4);
    for _ in 0..times {
        let mut accountant = PldAccountant::default();
        accountant.compose(&event, 1_000_000)?;
        accountant.epsilon(1e-9)?;
    }
    Ok(())
}

/// The log of clean rounds of 64 nodes.
fn doubling_account(times: u32) -> Result<(), Box<dyn Error>> {
    let nodes = 64;
    let setup = setup("nodes = 64\nrounds = 4096\nbatch_size = \"all\"\nprivacy.noise_multiplier = 1")?;
    let mut account = Account::new(setup.shape())?;
    let model = |round: u32| Digest::of_text(&round.to_string());
    let mut push =
        |node: u32, event: RunEvent| account.push(&LogLine { time: Time(0), node: Some(node), event });
    for round in 0..times {
        for node in 0..nodes {
            push(
                node,
                RunEvent::Released { round, token: 0, generation: 0, release: None, among: None, loss: None },
            );
        }
        for node in 0..nodes {
            let (start, end) = (model(round), model(round + 1));
            push(node, RunEvent::RoundDone { round, epoch: 0, start, end, count: nodes });
        }
    }
    account.settle_final();
    if account.broken_rounds() > 0 { Err("rounds were broken".into()) } else { Ok(()) }
}

/// Masks of seven pairs on a contribution.
fn masks(times: u32) -> Result<(), Box<dyn Error>> {
    let keys: Vec<[u8; 32]> = (1..=7).map(|byte| [byte; 32]).collect();
    let masks: Vec<_> = keys.iter().enumerate().map(|(at, key)| (key, at % 2 == 0)).collect();
    let mut words = Words::zeros(WordSize::Bits32, 20_000);
    (0..times).for_each(|_| words.combine_masks(&masks));
    Ok(())
}

/// A contribution of integers with noise, and the mean of a total.
fn integer_noise(times: u32) -> Result<(), Box<dyn Error>> {
    let dimension = 8_000;
    let load = Load { nodes: 8, dimension, noise_multiplier: 1.0, largest: 1, steps_at_most: None };
    let grid = Grid::auto(load, ClipNorm::new(1.0)?)?;
    let mechanism = GridGaussian::with_multiplier(grid, 1.0, grid.sensitivity(1.0))?;
    let (mut noise, values) = (danger_from_seed(1, "guard"), vec![0.001; dimension]);
    for _ in 0..times {
        let words = mechanism.release(&values, &mut noise)?.value.into_words();
        grid.means(&words, dimension, 8.0);
    }
    Ok(())
}
