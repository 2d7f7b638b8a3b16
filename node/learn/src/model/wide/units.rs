//! Some units of the first layer, for all records of a group: their sums, and the gradient of their weights.
//!
//! One thread has these units in both directions, so it alone writes their part of the gradient, and it alone reads their weights.

use super::BLOCK_ROWS;
use super::rows::Block;
use super::tile::{Line, Tiles, numbers, numbers_mut, tile, with_rows, zeros};

/// Panels of columns that are copied at a time: a record's features then come in runs of a few lines of the cache, not one by one.
const PANELS: usize = 4;

/// Inputs whose weights are put side by side at a time.
const INPUTS: usize = 64;

/// Buffers for a run of consecutive units.
pub(super) struct Units<S: Tiles> {
    /// The first of them.
    first: usize,
    count: usize,
    fan_in: usize,
    /// Weights with the units of a panel side by side: panel after panel, input after input.
    weights: Vec<Line<S>>,
    /// W x for each panel and record.
    pub(super) sums: Vec<Line<S>>,
    /// Back-signals by tiles: block after block, in it tile after tile, in it record after record.
    signals: Vec<f32>,
    /// Some columns of the records: panel after panel.
    columns: Vec<Line<S>>,
}

impl<S: Tiles> Units<S> {
    pub(super) fn new(first: usize, count: usize, fan_in: usize, rows: usize) -> Self {
        let (panels, zero) = (count.div_ceil(S::WIDE), zeros::<S>());
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
        for (panel, out) in out.chunks_mut(S::WIDE).enumerate() {
            let line = std::slice::from_ref(&self.sums[panel * rows + row]);
            copy_up_to::<S>(out, numbers::<S>(line));
        }
    }
}

/// W x of all records for the units.
pub(super) struct Forward<'a, S: Tiles> {
    pub(super) simd: S,
    pub(super) units: &'a mut Units<S>,
    /// The units' weights, one row each.
    pub(super) weights: &'a [f32],
    pub(super) rows: &'a [&'a [f32]],
}

impl<S: Tiles> pulp::NullaryFnOnce for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, units, weights, rows } = self;
        pack_weights::<S>(&mut units.weights, weights, units.fan_in);
        // A group of records stays in the first cache while the weights pass by, from the second.
        for (group, records) in rows.chunks(S::TALL).enumerate() {
            for (panel, weights) in units.weights.chunks_exact(units.fan_in).enumerate() {
                let out = &mut units.sums[panel * rows.len() + group * S::TALL..][..records.len()];
                with_rows!(records.len(), forward_tile(simd, weights, records, out));
            }
        }
    }
}

#[inline(always)]
fn forward_tile<const R: usize, S: Tiles>(
    simd: S,
    weights: &[Line<S>],
    records: &[&[f32]],
    out: &mut [Line<S>],
) {
    let records: [&[f32]; R] = std::array::from_fn(|r| &records[r][..weights.len()]);
    let sums = tile::<R, S>(simd, weights, |i| std::array::from_fn(|r| records[r][i]));
    // Line by line: all at once would be a call of `memcpy`.
    out.iter_mut().zip(&sums).for_each(|(out, sums)| *out = *sums);
}

/// Places that a panel has beyond the last unit stay as they are: what they give is not used.
#[inline(always)]
fn pack_weights<S: Tiles>(packed: &mut [Line<S>], weights: &[f32], fan_in: usize) {
    let panels = packed.chunks_exact_mut(fan_in).zip(weights.chunks(S::WIDE * fan_in));
    for (panel, weights) in panels {
        // A few lines at a time, which stay in the first cache while all units are written to them.
        for (lines, start) in panel.chunks_mut(INPUTS).zip((0..).step_by(INPUTS)) {
            let lines = numbers_mut::<S>(lines);
            for (unit, weights) in weights.chunks_exact(fan_in).enumerate() {
                let lines = lines.chunks_exact_mut(S::WIDE);
                lines.zip(&weights[start..]).for_each(|(line, &weight)| line[unit] = weight);
            }
        }
    }
}

/// Overwrites the gradient of the units' weights with Σ over records of signal × features.
///
/// # Guarantee
/// No product passes through more than [`BLOCK_ROWS`] roundings in its block and one for each further block, as
/// [`rounding`](crate::gradient::rounding) counts on.
pub(super) struct Gradient<'a, S: Tiles> {
    pub(super) simd: S,
    pub(super) units: &'a mut Units<S>,
    pub(super) blocks: &'a [Block],
    /// Features by record; zeros where the signal is zero and features may not be finite.
    pub(super) rows: &'a [&'a [f32]],
    pub(super) out: &'a mut [f32],
}

impl<S: Tiles> pulp::NullaryFnOnce for Gradient<'_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, units, blocks, rows, out } = self;
        units.pack_signals(blocks);
        let (fan_in, signals) = (units.fan_in, units.signals.as_slice());
        let columns = &mut units.columns[..PANELS * rows.len()];
        for start in (0..fan_in).step_by(S::WIDE) {
            let panel = start / S::WIDE % PANELS;
            if panel == 0 {
                pack_columns::<S>(columns, rows, start);
            }
            let columns = &columns[panel * rows.len()..][..rows.len()];
            for (index, out) in out.chunks_mut(S::TALL * fan_in).enumerate() {
                let (tall, at) = (out.len() / fan_in, (index * S::TALL, units.count));
                with_rows!(tall, gradient_tile(simd, columns, signals, at, (fan_in, start, out)));
            }
        }
    }
}

impl<S: Tiles> Units<S> {
    #[inline(always)]
    fn pack_signals(&mut self, blocks: &[Block]) {
        let mut left = self.signals.as_mut_slice();
        for block in blocks {
            let (rows, width) = (block.rows(), block.width());
            let signals = &block.signals()[..rows * width];
            let here;
            (here, left) = left.split_at_mut(rows * self.count);
            for (index, out) in here.chunks_mut(rows * S::TALL).enumerate() {
                let (first, tall) = (self.first + index * S::TALL, out.len() / rows);
                with_rows!(tall, pack_tile(out, signals, width, first));
            }
        }
    }
}

/// R units from `first` on side by side, of rows of `width`.
#[inline(always)]
fn pack_tile<const R: usize, T: Copy>(out: &mut [T], signals: &[T], width: usize, first: usize) {
    let (out, _) = out.as_chunks_mut::<R>();
    for (out, signals) in out.iter_mut().zip(signals.chunks_exact(width)) {
        if let Some(signals) = signals[first..].first_chunk() {
            *out = *signals;
        }
    }
}

/// Places beyond the last column stay as they are: what they give is not used.
#[inline(always)]
fn pack_columns<S: Tiles>(columns: &mut [Line<S>], rows: &[&[f32]], start: usize) {
    for (at, row) in rows.iter().enumerate() {
        for (panel, values) in row[start..].chunks(S::WIDE).take(PANELS).enumerate() {
            let out = numbers_mut::<S>(std::slice::from_mut(&mut columns[panel * rows.len() + at]));
            copy_up_to::<S>(out, values);
        }
    }
}

/// Copies a line or, at the end of a row, what there is of it: whole lines are by far the most, and their length is known.
#[inline(always)]
fn copy_up_to<S: Tiles>(out: &mut [f32], from: &[f32]) {
    let length = out.len().min(from.len());
    if length >= S::WIDE {
        out[..S::WIDE].copy_from_slice(&from[..S::WIDE]);
    } else {
        out[..length].copy_from_slice(&from[..length]);
    }
}

/// R units from `first` on, of `count`, for one panel of columns.
#[inline(always)]
fn gradient_tile<const R: usize, S: Tiles>(
    simd: S,
    columns: &[Line<S>],
    signals: &[f32],
    (first, count): (usize, usize),
    (fan_in, start, out): (usize, usize, &mut [f32]),
) {
    let mut signals = signals;
    let mut sums = [zeros::<S>(); R];
    for columns in columns.chunks(BLOCK_ROWS) {
        let here;
        (here, signals) = signals.split_at(columns.len() * count);
        let (here, _) = here[columns.len() * first..].as_chunks::<R>();
        let here = &here[..columns.len()];
        let more = tile::<R, S>(simd, columns, |i| here[i]);
        // To zero at first, which rounds nothing.
        for (sums, more) in sums.iter_mut().zip(more) {
            *sums = [simd.add_f32s(sums[0], more[0]), simd.add_f32s(sums[1], more[1])];
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(fan_in)) {
        copy_up_to::<S>(&mut out[start..], numbers::<S>(std::slice::from_ref(sums)));
    }
}
