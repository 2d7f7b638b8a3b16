//! Measures what a node does with the rows of a trainer: `rows WIDTH SECONDS` prints the milliseconds in which 256 rows of so many numbers are clipped,
//! added up, noised and divided. Used by `benches/python`.

#![allow(clippy::disallowed_types, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "the figure is the output")]

use std::time::Instant;

use learn::gradient::{PoissonSampler, RowSum};
use privacy::clip::ClipNorm;
use privacy::noise::{NoiseSource, SystemNoise, danger_from_seed};

const ROWS: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [width, seconds] = arguments.as_slice() else { return Err("usage: rows WIDTH SECONDS".into()) };
    let (width, seconds): (usize, f64) = (width.parse()?, seconds.parse()?);
    let clip = ClipNorm::new(1.0)?;
    let (mut noise, mut seeded) = (SystemNoise::new()?, danger_from_seed(1, "rows"));
    let mut rows = vec![0.0_f32; ROWS * width];
    seeded.standard_normals_f32(&mut rows);
    let everybody = PoissonSampler::for_batch(ROWS as f64, ROWS)?;
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < seconds {
        let sample = everybody.draw(&mut seeded);
        let begun = Instant::now();
        let mut sum = RowSum::new(sample, width, clip);
        sum.add(&rows);
        let (shared, _) = sum.finish().release(1.0, &mut noise)?;
        best = best.min(begun.elapsed().as_secs_f64());
        std::hint::black_box(shared.values());
    }
    println!("{}", 1e3 * best);
    Ok(())
}
