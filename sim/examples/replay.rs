//! Prints the log of a run: `cargo run --example replay -- key=value …`. Invariants are checked.

use std::io::Write;

use protocol::Setup;
use protocol::config::{Config, Layer};
use sim::{Options, simulate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pairs: Vec<String> = std::env::args().skip(1).collect();
    let setup = Setup::new(Config::from_layers([Layer::from_flags("--set", &pairs)?])?)?;
    let (out, mut failed) = (&mut std::io::BufWriter::new(std::io::stdout()), None);
    let mut sink = |line: &protocol::LogLine| {
        let text = serde_json::to_string(line).unwrap_or_default();
        failed = writeln!(out, "{text}").err().or(failed.take());
    };
    let options = Options { check: true, ..Options::default() };
    let finished = simulate(&setup, &options, &mut sink, &mut |_| ())?;
    eprintln!("{:?} after {} s, {} messages", finished.ended, finished.time.seconds(), finished.messages);
    failed.map_or(Ok(()), |error| Err(error.into()))
}
