//! Measures the socket to a trainer: `trainer KIND ROWS SECONDS -- COMMAND…` prints the milliseconds of one question and its answer, the best of many.
//!
//! KIND is `update`, or `rows`, for so many of them; what came is then clipped and added up, as a node does. Used by `benches/python`.

#![allow(clippy::disallowed_types, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "the figure is the output")]

use std::time::{Duration, Instant};

use learn::gradient::{PoissonSampler, RowSum};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use protocol::work::external::{Ask, Kind, Trainer};
use runtime::trainer::{Command, Process};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, rows, seconds, command] = arguments.as_slice() else {
        return Err("usage: trainer update|rows ROWS SECONDS COMMAND".into());
    };
    let kind = if kind == "update" { Kind::Update } else { Kind::Rows };
    let (rows, seconds): (u32, f64) = (rows.parse()?, seconds.parse()?);
    let command: Command = command.parse()?;
    let mut process = Process::start(command, Duration::from_secs(60))?;
    let width = process.hello().parameters();
    let params = vec![0.1_f32; width];
    let records: Vec<u32> = if kind == Kind::Rows { (0..rows).collect() } else { Vec::new() };
    let everybody = PoissonSampler::for_batch(f64::from(rows.max(1)), rows.max(1) as usize)?;
    let clip = ClipNorm::new(1.0)?;
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < seconds {
        process.begin();
        let sample = everybody.draw(&mut danger_from_seed(1, "trainer"));
        let begun = Instant::now();
        let ask = Ask { kind, round: 0, seed: 1, records: &records, params: &params, factors: &[] };
        let answer = process.answer(&ask)?;
        if kind == Kind::Rows {
            let mut sum = RowSum::new(sample, width, clip);
            sum.add(&answer.numbers);
            std::hint::black_box(sum.finish().sensitivity());
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    println!("{}", 1e3 * best);
    Ok(())
}
