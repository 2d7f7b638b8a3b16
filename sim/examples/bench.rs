//! Speed and memory of the engine: `cargo run --release -p murmuration-sim --example bench -- [threads=N] key=value …`.
//!
//! Prints one JSON object. Preparing the data and the graph is timed apart; no model is judged and no log is written, so that the figure is that of
//! the simulation alone. `benches/sim/bench.py` compares it with other programs.
#![expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]

use std::io::Write;
use std::time::Instant;

use protocol::config::{Config, Layer};
use protocol::{RunEvent, Setup};
use sim::{Options, simulate};

/// As in `murmur`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let mut layers = Vec::new();
    for pair in std::env::args().skip(1) {
        match pair.strip_prefix("threads=") {
            Some(threads) => options.threads = threads.parse()?,
            None => layers.push(Layer::from_flags("--set", &[pair])?),
        }
    }
    let start = Instant::now();
    let setup = Setup::new(Config::from_layers(layers)?)?.without_loss();
    let prepared = start.elapsed().as_secs_f64();
    let (mut lines, mut contributions) = (0_u64, 0_u64);
    let start = Instant::now();
    let mut count = |line: &protocol::LogLine| {
        lines += 1;
        contributions += u64::from(matches!(line.event, RunEvent::Released { .. }));
    };
    let finished = simulate(&setup, &options, &mut count, &mut |_| ())?;
    let seconds = start.elapsed().as_secs_f64();
    let figures = serde_json::json!({
        "nodes": setup.settings.nodes,
        "parameters": setup.settings.initial.len(),
        "ended": format!("{:?}", finished.ended),
        "rounds": finished.rounds,
        "prepared_s": prepared,
        "seconds": seconds,
        "contributions": contributions,
        "messages": finished.messages,
        "lines": lines,
        "ns_per_message": 1e9 * seconds / finished.messages.max(1) as f64,
        "peak_mib": peak_mib(),
    });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

/// The most memory that the process had, where the system says so.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
}
