//! Some units of the first layer, for all records of a group: their sums, and the gradient of their weights.
//!
//! One thread has these units in both directions, so it alone writes their part of the gradient, and it alone reads their weights.

use pulp::x86::V3;

use super::BLOCK_ROWS;
use super::rows::Block;
use super::tile::{Line, TALL, WIDE, tile, with_rows};

/// Panels of columns that are copied at a time: a record's features then come in runs of a few lines of the cache, not one by one.
const PANELS: usize = 4;

/// Inputs whose weights are put side by side at a time.
const INPUTS: usize = 64;

/// Buffers for a run of consecutive units.
pub(super) struct Units {
    /// The first of them.
    first: usize,
    count: usize,
    fan_in: usize,
    /// Weights with the units of a panel side by side: panel after panel, input after input.
    weights: Vec<Line>,
    /// W x for each panel and record.
    pub(super) sums: Vec<Line>,
    /// Back-signals by tiles: block after block, in it tile after tile, in it record after record.
    signals: Vec<f32>,
    /// Some columns of the records: panel after panel.
    columns: Vec<Line>,
}

impl Units {
    pub(super) fn new(first: usize, count: usize, fan_in: usize, rows: usize) -> Self {
        let panels = count.div_ceil(WIDE);
        let zero = [0.0; WIDE];
        Self {
            first,
            count,
            fan_in,
            weights: vec![zero; panels * fan_in],
            sums: vec![zero; panels * rows],
            signals: vec![0.0; rows * count],
            columns: vec![zero; PANELS * rows],
        }
    }

    /// How many weights these units have.
    pub(super) fn weight_count(&self) -> usize {
        self.count * self.fan_in
    }

    /// Where their weights lie in the flat vector.
    pub(super) fn weight_span(&self) -> std::ops::Range<usize> {
        self.first * self.fan_in..(self.first + self.count) * self.fan_in
    }

    /// Copies W x of record `row` of `rows` to its place in the row of all units.
    pub(super) fn copy_sums(&self, row: usize, rows: usize, out: &mut [f32]) {
        let out = &mut out[self.first..self.first + self.count];
        for (panel, out) in out.chunks_mut(WIDE).enumerate() {
            out.copy_from_slice(&self.sums[panel * rows + row][..out.len()]);
        }
    }
}

/// W x of all records for the units.
pub(super) struct Forward<'a> {
    pub(super) simd: V3,
    pub(super) units: &'a mut Units,
    /// The units' weights, one row each.
    pub(super) weights: &'a [f32],
    pub(super) rows: &'a [&'a [f32]],
}

impl pulp::NullaryFnOnce for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, units, weights, rows } = self;
        pack_weights(&mut units.weights, weights, units.fan_in);
        // A group of records stays in the first cache while the weights pass by, from the second.
        for (group, records) in rows.chunks(TALL).enumerate() {
            for (panel, weights) in units.weights.chunks_exact(units.fan_in).enumerate() {
                let out = &mut units.sums[panel * rows.len() + group * TALL..][..records.len()];
                with_rows!(records.len(), forward_tile(simd, weights, records, out));
            }
        }
    }
}

#[inline(always)]
fn forward_tile<const R: usize>(simd: V3, weights: &[Line], records: &[&[f32]], out: &mut [Line]) {
    let records: [&[f32]; R] = std::array::from_fn(|r| &records[r][..weights.len()]);
    let sums = tile::<R>(simd, weights, |i| std::array::from_fn(|r| records[r][i]));
    // Line by line: all at once would be a call of `memcpy`.
    out.iter_mut().zip(&sums).for_each(|(out, sums)| *out = *sums);
}

/// Places that a panel has beyond the last unit stay as they are: what they give is not used.
#[inline(always)]
fn pack_weights(packed: &mut [Line], weights: &[f32], fan_in: usize) {
    let panels = packed.chunks_exact_mut(fan_in).zip(weights.chunks(WIDE * fan_in));
    for (panel, weights) in panels {
        // A few lines at a time, which stay in the first cache while all units are written to them.
        for (lines, start) in panel.chunks_mut(INPUTS).zip((0..).step_by(INPUTS)) {
            for (unit, weights) in weights.chunks_exact(fan_in).enumerate() {
                lines.iter_mut().zip(&weights[start..]).for_each(|(line, &weight)| line[unit] = weight);
            }
        }
    }
}

/// Overwrites the gradient of the units' weights with Σ over records of signal × features.
///
/// # Guarantee
/// No product passes through more than [`BLOCK_ROWS`] roundings in its block and one for each further block, as
/// [`rounding`](crate::gradient::rounding) counts on.
pub(super) struct Gradient<'a> {
    pub(super) simd: V3,
    pub(super) units: &'a mut Units,
    pub(super) blocks: &'a [Block],
    /// Features by record; zeros where the signal is zero and features may not be finite.
    pub(super) rows: &'a [&'a [f32]],
    pub(super) out: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Gradient<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, units, blocks, rows, out } = self;
        units.pack_signals(blocks);
        let (fan_in, signals) = (units.fan_in, units.signals.as_slice());
        let columns = &mut units.columns[..PANELS * rows.len()];
        for start in (0..fan_in).step_by(WIDE) {
            let panel = start / WIDE % PANELS;
            if panel == 0 {
                pack_columns(columns, rows, start);
            }
            let columns = &columns[panel * rows.len()..][..rows.len()];
            for (index, out) in out.chunks_mut(TALL * fan_in).enumerate() {
                let (tall, at) = (out.len() / fan_in, (index * TALL, units.count));
                with_rows!(tall, gradient_tile(simd, columns, signals, at, (fan_in, start, out)));
            }
        }
    }
}

impl Units {
    #[inline(always)]
    fn pack_signals(&mut self, blocks: &[Block]) {
        let mut left = self.signals.as_mut_slice();
        for block in blocks {
            let (rows, width) = (block.rows(), block.width());
            let signals = &block.signals()[..rows * width];
            let here;
            (here, left) = left.split_at_mut(rows * self.count);
            for (index, out) in here.chunks_mut(rows * TALL).enumerate() {
                let (first, tall) = (self.first + index * TALL, out.len() / rows);
                with_rows!(tall, pack_tile(out, signals, width, first));
            }
        }
    }
}

/// R units from `first` on side by side, of rows of `width`.
#[inline(always)]
fn pack_tile<const R: usize>(out: &mut [f32], signals: &[f32], width: usize, first: usize) {
    let (out, _) = out.as_chunks_mut::<R>();
    for (out, signals) in out.iter_mut().zip(signals.chunks_exact(width)) {
        if let Some(signals) = signals[first..].first_chunk() {
            *out = *signals;
        }
    }
}

/// Places beyond the last column stay as they are: what they give is not used.
#[inline(always)]
fn pack_columns(columns: &mut [Line], rows: &[&[f32]], start: usize) {
    for (at, row) in rows.iter().enumerate() {
        for (panel, values) in row[start..].chunks(WIDE).take(PANELS).enumerate() {
            let out = &mut columns[panel * rows.len() + at];
            match values.first_chunk() {
                Some(values) => *out = *values,
                None => out[..values.len()].copy_from_slice(values),
            }
        }
    }
}

/// R units from `first` on, of `count`, for sixteen columns.
#[inline(always)]
fn gradient_tile<const R: usize>(
    simd: V3,
    columns: &[Line],
    signals: &[f32],
    (first, count): (usize, usize),
    (fan_in, start, out): (usize, usize, &mut [f32]),
) {
    let mut signals = signals;
    let mut sums = [[0.0; WIDE]; R];
    for columns in columns.chunks(BLOCK_ROWS) {
        let here;
        (here, signals) = signals.split_at(columns.len() * count);
        let (here, _) = here[columns.len() * first..].as_chunks::<R>();
        let here = &here[..columns.len()];
        let more = tile::<R>(simd, columns, |i| here[i]);
        // To zero at first, which rounds nothing.
        sums.as_flattened_mut().iter_mut().zip(more.as_flattened()).for_each(|(sum, &more)| *sum += more);
    }
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(fan_in)) {
        let out = &mut out[start..];
        match out.first_chunk_mut() {
            Some(out) => *out = *sums,
            None => out.copy_from_slice(&sums[..out.len()]),
        }
    }
}
