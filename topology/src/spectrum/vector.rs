//! Passes over long vectors, in parallel and yet the same to the bit for any number of threads.
//!
//! Invariant: sums are made within chunks of a fixed length and then over the chunks in order.

use rayon::prelude::*;

/// Elements per chunk.
const CHUNK: usize = 1024;

/// Work (elements and matrix entries) below which threads cost more than they save.
const PARALLEL_FROM: usize = 60_000;

/// Whether a pass of so much work is worth threads.
pub(super) fn worth_threads(work: usize) -> bool {
    work >= PARALLEL_FROM
}

/// Calls `pass(start, chunk)` on each chunk of `out` and adds up the pairs of numbers that it returns.
pub(super) fn reduce(
    out: &mut [f64],
    parallel: bool,
    pass: impl Fn(usize, &mut [f64]) -> [f64; 2] + Sync,
) -> [f64; 2] {
    let add = |sum: [f64; 2], part: [f64; 2]| [sum[0] + part[0], sum[1] + part[1]];
    if parallel {
        let parts: Vec<[f64; 2]> = out
            .par_chunks_mut(CHUNK)
            .enumerate()
            .with_min_len(8)
            .map(|(chunk, slice)| pass(chunk * CHUNK, slice))
            .collect();
        parts.into_iter().fold([0.0; 2], add)
    } else {
        let parts = out.chunks_mut(CHUNK).enumerate().map(|(chunk, slice)| pass(chunk * CHUNK, slice));
        parts.fold([0.0; 2], add)
    }
}

/// Four running sums instead of one: the compiler may then use vector registers, and rounding grows more slowly.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (x4, y4) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = x4.remainder().iter().zip(y4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in x4.zip(y4) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The norm of a vector, added up in chunks.
pub(super) fn norm(x: &[f64]) -> f64 {
    x.chunks(CHUNK).map(|chunk| dot(chunk, chunk)).sum::<f64>().sqrt()
}
