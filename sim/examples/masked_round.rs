//! A masked round beside a plain one: `cargo run -p murmuration-sim --example masked_round -- [turns=3] [nodes=8,64] [parameters=650,100000]`.
//!
//! For every size one line of JSON: processor seconds of a round, all members together on one thread, for plain rounds, and as ratios to them for masked ones by doubling and by
//! halving; bytes that a member sends in a round. Everybody has one record, so that a round is noise, masks and exchange. Masks are real, whatever they cost. What is
//! done once for an epoch, keys of pairs above all, is told apart: a round is what a long run takes longer than a short one, over the rounds between. The kinds take turns,
//! and the fastest turn counts. `benches/masked/README.md` has a table.

use std::error::Error;
use std::io::Write;

use protocol::config::{Config, Layer};
use protocol::masks::Masks;
use protocol::{PeerIx, Setup};
use sim::{Hook, Options, seeded_masks, simulate_with};

/// As in `murmur`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rounds of a short run and of a long one.
const ROUNDS: [u32; 2] = [2, 10];

const KINDS: [(&str, &[&str]); 3] = [
    ("plain", &["privacy.masking=none"]),
    ("doubling", &["privacy.masking=pairwise", "algorithm.exchange=doubling"]),
    ("halving", &["privacy.masking=pairwise", "algorithm.exchange=halving"]),
];

/// Masks are real in runs of any size.
struct Real;

impl Hook for Real {
    fn masks(&self, setup: &Setup, node: PeerIx, life: u32) -> Masks {
        seeded_masks(setup.config.seed, node, life)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut turns, mut sizes, mut parameters) = (3_u32, vec![8_usize, 64], vec![650_usize, 100_000]);
    for pair in std::env::args().skip(1) {
        let numbers = |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
        match pair.split_once('=') {
            Some(("turns", text)) => turns = text.parse()?,
            Some(("nodes", text)) => sizes = numbers(text)?,
            Some(("parameters", text)) => parameters = numbers(text)?,
            _ => return Err(format!("`{pair}` is none of turns=, nodes=, parameters=").into()),
        }
    }
    for &parameters in &parameters {
        for &nodes in &sizes {
            measure(nodes, parameters, turns)?;
        }
    }
    Ok(())
}

/// What a run of one length took and sent at best.
#[derive(Clone, Copy)]
struct Took {
    seconds: f64,
    bytes: u64,
}

/// Processor seconds of this process: others on the machine count little.
fn used() -> Result<f64, Box<dyn Error>> {
    let ticks: u64 = std::fs::read_dir("/proc/self/task")?
        .map(|task| {
            let stat = std::fs::read_to_string(task?.path().join("schedstat"))?;
            Ok::<u64, Box<dyn Error>>(stat.split(' ').next().unwrap_or("0").parse()?)
        })
        .sum::<Result<_, _>>()?;
    Ok(ticks as f64 / 1e9)
}

/// One line: all kinds and lengths in turn.
fn measure(nodes: usize, parameters: usize, turns: u32) -> Result<(), Box<dyn Error>> {
    let mut setups = Vec::new();
    for (_, keys) in KINDS {
        for rounds in ROUNDS {
            setups.push(setup((nodes, parameters, rounds), keys)?);
        }
    }
    let mut took = vec![Took { seconds: f64::INFINITY, bytes: 0 }; setups.len()];
    let options = Options { threads: 1, ..Options::default() };
    for _ in 0..turns {
        for (setup, took) in setups.iter().zip(&mut took) {
            let before = used()?;
            let finished = simulate_with(setup, &options, &Real, &mut |_| (), &mut |_| ())?;
            took.seconds = (used()? - before).min(took.seconds);
            took.bytes = finished.bytes_per_node.iter().max().copied().unwrap_or(0);
        }
    }
    let between = f64::from(ROUNDS[1] - ROUNDS[0]);
    let a_round = |kind: usize| (took[2 * kind + 1].seconds - took[2 * kind].seconds) / between;
    let mut line = serde_json::json!({
        "nodes": nodes,
        "parameters": setups[0].settings.initial.len(),
        "plain_seconds": a_round(0),
    });
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let bytes = (took[2 * kind + 1].bytes - took[2 * kind].bytes) as f64 / between;
        line[format!("{name}_bytes")] = (bytes as u64).into();
        line[format!("{name}_to_plain")] = (a_round(kind) / a_round(0)).into();
        line[format!("{name}_epoch_seconds")] = (took[2 * kind].seconds - 2.0 * a_round(kind)).into();
    }
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// Softmax regression with ten classes and about so many parameters, one record a node.
fn setup((nodes, parameters, rounds): (usize, usize, u32), kind: &[&str]) -> Result<Setup, Box<dyn Error>> {
    let columns = (parameters / 10).saturating_sub(1).max(1);
    let keys = [
        format!("nodes={nodes}"),
        format!("rounds={rounds}"),
        format!("data=blobs:nodes={nodes},records=1,dim={columns},classes=10,test=0"),
    ];
    let fixed = ["name=masked_round", "batch_size=all", "test_fraction=0", "privacy.noise_multiplier=1"];
    let layers = keys.iter().map(String::as_str).chain(fixed).chain(kind.iter().copied());
    let layers =
        layers.map(|pair| Layer::from_flags("the benchmark", &[pair])).collect::<Result<Vec<_>, _>>()?;
    Ok(Setup::new(Config::from_layers(layers)?)?.without_loss())
}
