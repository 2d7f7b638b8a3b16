//! A masked round beside a plain one: `cargo run -p murmuration-sim --example masked_round -- [turns=3] [nodes=8,64] [parameters=650,100000]`.
//!
//! For every size one line of JSON: seconds of a round, all members together on one thread, for plain rounds, and as ratios to them for masked ones by doubling and by
//! halving; bytes that a member sends in a round. Everybody has one record, so that a round is noise, masks and exchange. Masks are real, whatever they
//! cost, though secrets that live for a whole epoch are shared once. The kinds take turns, and the fastest turn counts. `benches/masked/README.md` has a table.
#![expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use protocol::config::{Config, Layer};
use protocol::masks::Masks;
use protocol::{PeerIx, Setup};
use sim::{Hook, Options, seeded_masks, simulate_with};

/// As in `murmur`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rounds of a run.
const ROUNDS: u32 = 4;

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

/// One line: all kinds in turn.
fn measure(nodes: usize, parameters: usize, turns: u32) -> Result<(), Box<dyn Error>> {
    let setups = KINDS.map(|(_, keys)| setup(nodes, parameters, keys));
    let [plain, doubling, halving] = setups;
    let setups = [plain?, doubling?, halving?];
    let (mut seconds, mut bytes) = ([f64::INFINITY; KINDS.len()], [0; KINDS.len()]);
    let options = Options { threads: 1, ..Options::default() };
    for _ in 0..turns {
        for (kind, setup) in setups.iter().enumerate() {
            let start = Instant::now();
            let finished = simulate_with(setup, &options, &Real, &mut |_| (), &mut |_| ())?;
            seconds[kind] = start.elapsed().as_secs_f64().min(seconds[kind]);
            bytes[kind] = finished.bytes_per_node.iter().max().copied().unwrap_or(0) / u64::from(ROUNDS);
        }
    }
    let mut line = serde_json::json!({
        "nodes": nodes,
        "parameters": setups[0].settings.initial.len(),
        "plain_seconds": seconds[0] / f64::from(ROUNDS),
    });
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        line[format!("{name}_bytes")] = bytes[kind].into();
        line[format!("{name}_to_plain")] = (seconds[kind] / seconds[0]).into();
    }
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// Softmax regression with ten classes and about so many parameters, one record a node.
fn setup(nodes: usize, parameters: usize, kind: &[&str]) -> Result<Setup, Box<dyn Error>> {
    let columns = (parameters / 10).saturating_sub(1).max(1);
    let keys = [
        format!("nodes={nodes}"),
        format!("rounds={ROUNDS}"),
        format!("data=blobs:nodes={nodes},records=1,dim={columns},classes=10,test=0"),
    ];
    let fixed = ["name=masked_round", "batch_size=all", "test_fraction=0", "privacy.noise_multiplier=1"];
    let layers = keys.iter().map(String::as_str).chain(fixed).chain(kind.iter().copied());
    let layers =
        layers.map(|pair| Layer::from_flags("the benchmark", &[pair])).collect::<Result<Vec<_>, _>>()?;
    Ok(Setup::new(Config::from_layers(layers)?)?.without_loss())
}
