//! A perceptron whose first layer is large, on a whole group of records at once.
//!
//! The usual pass gives every thread some records, so every thread needs all parameters and makes a gradient of the full length: with each step,
//! all of it goes from core to core. Here a thread has *units* of the first layer for all records, and with them their weights, their gradient and,
//! as the noise is drawn and steps are made in the same order, their update: these stay in its cache. Only what happens between the
//! first layer's sums and its signals, a small part of the work, is divided by records. Features are read where they lie.
//!
//! Every number is made by one chain of operations, so the result depends neither on the number of threads nor on how units are divided.

mod rows;
mod tile;
mod units;

use privacy::clip::ClipNorm;
use pulp::x86::{V3, V4};
use rayon::prelude::*;

use super::chunk::Examples;
use super::dense::DenseShape;
use super::group::GroupPass;
use super::kernel;
use crate::gradient::rounding::GROUP_ROWS;
use rows::{Block, Inputs};
use tile::Tiles;
use units::{Forward, Gradient, Units};

/// Records of one block, whose products are added before those of the next: as many as in a chunk of a large model.
const BLOCK_ROWS: usize = super::LARGE_CHUNK_ROWS;
/// Weights from which on a first layer is large.
const LARGE_LAYER: usize = super::LARGE;
/// Weights that one thread works on at a time: with the records passing by, they stay in the second cache.
const WEIGHTS_AT_A_TIME: usize = 1 << 16;
/// Buffers for `threads` threads; `None` where the first layer is small or the processor lacks the instructions.
pub(super) fn pass(shape: &DenseShape, threads: usize) -> Option<Box<dyn GroupPass>> {
    fn boxed<S: Tiles>(simd: S, shape: &DenseShape, threads: usize) -> Option<Box<dyn GroupPass>> {
        WidePass::new(simd, shape, threads).map(|pass| Box::new(pass) as _)
    }
    match V4::try_new() {
        // Fewer units would leave a panel mostly empty.
        Some(simd) if shape.widths[1] >= V4::WIDE => boxed(simd, shape, threads),
        _ => boxed(V3::try_new()?, shape, threads),
    }
}

/// Buffers for groups of up to [`GROUP_ROWS`] records.
struct WidePass<S: Tiles> {
    simd: S,
    fan_in: usize,
    /// Whether several threads may work on it.
    parallel: bool,
    /// Units that one thread has at a time; fewer for the last.
    share: usize,
    units: Vec<Units<S>>,
    blocks: Vec<Block>,
    /// Stands in for the features of an example that is left out.
    zeros: Vec<f32>,
}

impl<S: Tiles> WidePass<S> {
    fn new(simd: S, shape: &DenseShape, threads: usize) -> Option<Self> {
        let (fan_in, fan_out) = (shape.inputs(), shape.widths[1]);
        if shape.layers() < 2 || fan_in * fan_out < LARGE_LAYER || fan_out < S::WIDE {
            return None;
        }
        // As many runs for every thread.
        let runs = (fan_in * fan_out).div_ceil(WEIGHTS_AT_A_TIME).next_multiple_of(threads.max(1));
        let share = fan_out.div_ceil(S::WIDE).div_ceil(runs) * S::WIDE;
        let run = |first: usize| Units::new(first, share.min(fan_out - first), fan_in, GROUP_ROWS);
        Some(Self {
            simd,
            fan_in,
            parallel: threads > 1,
            share,
            units: (0..fan_out).step_by(share).map(run).collect(),
            blocks: (0..GROUP_ROWS / BLOCK_ROWS).map(|_| Block::new(shape, BLOCK_ROWS)).collect(),
            zeros: vec![0.0; fan_in],
        })
    }

    fn forward(&mut self, params: &[f32], rows: &[&[f32]]) {
        let simd = self.simd;
        let run = |units: &mut Units<S>| {
            let weights = &params[units.weight_span()];
            simd.run(Forward { simd, units, weights, rows });
        };
        if self.parallel {
            self.units.par_iter_mut().for_each(run);
        } else {
            self.units.iter_mut().for_each(run);
        }
    }

    fn back(&mut self, params: &[f32], data: &dyn Examples, records: &[u32], clip: Option<ClipNorm>) {
        let (units, of) = (&self.units, records.len());
        let run = |(index, (block, records)): (usize, (&mut Block, &[u32]))| {
            let inputs = Inputs { data, records, place: index * BLOCK_ROWS, of };
            block.run(params, units, inputs, clip);
        };
        if self.parallel {
            let blocks = self.blocks.par_iter_mut().zip(records.par_chunks(BLOCK_ROWS));
            blocks.enumerate().for_each(run);
        } else {
            self.blocks.iter_mut().zip(records.chunks(BLOCK_ROWS)).enumerate().for_each(run);
        }
    }

    fn gradient(&mut self, rows: &[&[f32]], out: &mut [f32]) {
        let (simd, length) = (self.simd, self.share * self.fan_in);
        let blocks = &self.blocks[..rows.len().div_ceil(BLOCK_ROWS)];
        let run = |(units, out): (&mut Units<S>, &mut [f32])| {
            simd.run(Gradient { simd, units, blocks, rows, out });
        };
        if self.parallel {
            self.units.par_iter_mut().zip(out.par_chunks_mut(length)).for_each(run);
        } else {
            self.units.iter_mut().zip(out.chunks_mut(length)).for_each(run);
        }
    }

    fn all(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
        clip: Option<ClipNorm>,
        out: &mut [f32],
    ) {
        let mut rows: [&[f32]; GROUP_ROWS] = [&[]; GROUP_ROWS];
        let rows = &mut rows[..records.len()];
        for (row, &record) in rows.iter_mut().zip(records) {
            *row = &data.features_of(record as usize)[..self.fan_in];
        }
        self.forward(params, rows);
        self.back(params, data, records, clip);
        let zeros = std::mem::take(&mut self.zeros);
        for (block, rows) in self.blocks.iter().zip(rows.chunks_mut(BLOCK_ROWS)) {
            let left_out = rows.iter_mut().enumerate().filter(|(row, _)| block.leaves_out(*row));
            left_out.for_each(|(_, row)| *row = &zeros);
        }
        let (weights, rest) = out.split_at_mut(self.units.iter().map(Units::weight_count).sum());
        self.gradient(rows, weights);
        self.zeros = zeros;
        rest.copy_from_slice(&self.blocks[0].rest);
        let others = &self.blocks[1..records.len().div_ceil(BLOCK_ROWS).max(1)];
        others.iter().for_each(|block| kernel::add(rest, &block.rest));
    }
}

impl<S: Tiles> GroupPass for WidePass<S> {
    fn sum(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
        clip: Option<ClipNorm>,
        out: &mut [f32],
    ) {
        if self.parallel {
            // As a member of the pool: a thread outside it would be put to sleep and woken for each of the three parts.
            rayon::scope(|_| self.all(params, data, records, clip, out));
        } else {
            self.all(params, data, records, clip, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Targets, Task};
    use crate::model::{Activation, Mlp, Model};

    /// Widths that fill no tile, no panel and no run, of either width of registers.
    #[test]
    fn wide_and_narrow_registers_give_the_same_bits() {
        let (Some(narrow), Some(wide)) = (V3::try_new(), V4::try_new()) else {
            return eprintln!("skipped: this processor has no AVX-512");
        };
        let model = Mlp::new(701, &[53], Activation::Tanh, Task::Classification { classes: 3 }).unwrap();
        let (rows, params) = (200, model.initial(3));
        let features = (0..rows * 701).map(|i| (i * 7_919 % 1_009) as f32 / 1_009.0 - 0.4).collect();
        let labels = (0..rows as u32).map(|i| i % 3).collect();
        let data = Dataset::new(features, 701, Targets::Class { labels, classes: 3 }).unwrap();
        let records: Vec<u32> = (0..rows as u32).rev().collect();
        let sum = |mut pass: Box<dyn GroupPass>| {
            let mut out = vec![f32::NAN; params.len()];
            pass.sum(&params, &data, &records, Some(ClipNorm::new(0.7).unwrap()), &mut out);
            out
        };
        let shape = model.shape();
        let narrow = sum(Box::new(WidePass::new(narrow, shape, 2).unwrap()));
        let wide = sum(Box::new(WidePass::new(wide, shape, 2).unwrap()));
        assert!(narrow.iter().all(|x| x.is_finite()) && kernel::squared_norm_of(&narrow) > 0.1);
        assert_eq!(narrow, wide);
    }
}
