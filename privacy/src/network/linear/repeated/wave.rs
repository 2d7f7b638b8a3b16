//! The march of X_u over all pairs of phases, node by node.
//!
//! Phases are kept in the order of the table of responses, position c = T + 1 − a: the wave equation looks the same in both directions.

use super::{ROUNDING, System};
use crate::vectorised;

/// Phases b whose sources are made together.
const COLUMNS: usize = 4;

/// Phases a whose sources are made together: two registers of the widest machines.
const LANES: usize = 16;

/// Nodes whose responses are fetched together: they lie beside each other.
const NODES: usize = 4;

/// A system and its responses.
pub(super) struct March<'a> {
    pub(super) system: &'a System<'a>,
    pub(super) responses: &'a [f64],
    pub(super) powers: &'a [f64],
}

/// Of all nodes.
pub(super) struct Found {
    /// Σ|X_u|, rounded up.
    pub(super) sums: Vec<f64>,
    /// Σ_u Σ_r X_u(r, r).
    pub(super) scores: f64,
}

/// The responses of one node, quantity by quantity, phases beside each other.
#[derive(Default)]
struct Responses {
    stride: usize,
    next: Vec<f64>,
    last: Vec<f64>,
    /// g(−a) where a ≤ 0, and zero elsewhere.
    lags: Vec<f64>,
}

/// Two columns of X, and the sources of the next ones.
struct Columns {
    now: Vec<f64>,
    later: Vec<f64>,
    sources: [Vec<f64>; COLUMNS],
}

impl March<'_> {
    pub(super) fn sums(&self) -> Found {
        let (nodes, stride) = (self.system.nodes(), self.system.phases().len().next_multiple_of(LANES));
        let zeros = || vec![0.0; stride + LANES];
        let mut columns = Columns { now: zeros(), later: zeros(), sources: std::array::from_fn(|_| zeros()) };
        let mut fetched: [Responses; NODES] = Default::default();
        let mut found = Found { sums: vec![0.0; nodes], scores: 0.0 };
        for first in (0..nodes).step_by(NODES) {
            let some = first..nodes.min(first + NODES);
            self.fetch(some.clone(), stride, &mut fetched);
            for (node, own) in some.zip(&fetched) {
                if self.is_reached(node) {
                    let (sum, score) = vectorised(
                        #[inline(always)]
                        || self.march(node, own, &mut columns),
                    );
                    found.sums[node] = sum;
                    found.scores += score;
                }
            }
        }
        found
    }

    /// Whether anything of the node's contributions is heard within the run.
    fn is_reached(&self, node: usize) -> bool {
        let (width, size) = (self.system.width, self.system.nodes() * self.system.width);
        let mut lags = (0..self.system.rounds).rev();
        lags.any(|lag| self.powers[lag * size + node * width..][..width].iter().any(|&g| g != 0.0))
    }

    /// Responses of a few nodes, turned so that phases lie beside each other.
    fn fetch(&self, some: std::ops::Range<usize>, stride: usize, fetched: &mut [Responses; NODES]) {
        let (system, heard, width) = (self.system, self.system.heard.len(), self.system.width);
        for own in fetched.iter_mut() {
            own.stride = stride;
            for table in [&mut own.next, &mut own.last, &mut own.lags] {
                table.resize(heard * stride, 0.0);
            }
        }
        for at in system.phases() {
            for (node, own) in some.clone().zip(fetched.iter_mut()) {
                let row = &self.responses[at * system.slot() + node * 3 * width..][..3 * width];
                for lane in 0..heard {
                    own.next[lane * stride + at] = row[lane];
                    own.last[lane * stride + at] = row[width + lane];
                }
            }
        }
        let size = system.nodes() * width;
        for lag in 0..system.rounds {
            for (node, own) in some.clone().zip(fetched.iter_mut()) {
                let row = &self.powers[lag * size + node * width..][..heard];
                let at = system.rounds + 1 + lag;
                row.iter().enumerate().for_each(|(lane, g)| own.lags[lane * stride + at] = *g);
            }
        }
    }

    /// Σ|X_u| and Σ X_u(r, r).
    #[inline(always)]
    fn march(&self, node: usize, own: &Responses, columns: &mut Columns) -> (f64, f64) {
        let rounds = self.system.rounds;
        columns.later.fill(0.0);
        match self.system.heard.binary_search(&node) {
            // What is heard at once: X(a, T) = g(0)·φ_q(a).
            Ok(lane) => {
                columns.now[..own.stride].copy_from_slice(&own.last[lane * own.stride..][..own.stride])
            }
            Err(_) => columns.now.fill(0.0),
        }
        let mut tally = Tally::default();
        tally.add(&columns.now, 1..rounds + 1, 2 * rounds + 2);
        for top in (2..=rounds).rev().step_by(COLUMNS) {
            self.sources(node, own, top, &mut columns.sources);
            for at in 0..COLUMNS.min(top - 1) {
                let b = top - at;
                let range = rounds + 2 - b..rounds + b + 1;
                step(&columns.now, &columns.sources[at], &mut columns.later, range.clone());
                std::mem::swap(&mut columns.now, &mut columns.later);
                tally.add(&columns.now, range.start..rounds + 1, range.end);
            }
        }
        let entries = (rounds * rounds) as f64;
        (tally.sum + entries * ROUNDING * tally.largest, tally.score)
    }

    /// Sources of a few phases b, from `top` downwards, where the march needs them.
    #[inline(always)]
    fn sources(&self, node: usize, own: &Responses, top: usize, sources: &mut [Vec<f64>; COLUMNS]) {
        let (system, heard, width) = (self.system, self.system.heard.len(), self.system.width);
        let row = |at: usize| {
            let c = (system.rounds + 1 + at).saturating_sub(top).min(system.rounds);
            &self.responses[c * system.slot() + node * 3 * width..][..3 * width]
        };
        let rows: [&[f64]; COLUMNS] = std::array::from_fn(row);
        let (from, to) = (system.rounds + 2 - top, system.rounds + top + 1);
        for start in (from / LANES * LANES..to).step_by(LANES) {
            let mut sums = [[0.0; LANES]; COLUMNS];
            for lane in 0..heard {
                let next = piece(&own.next, lane * own.stride + start);
                let last = piece(&own.last, lane * own.stride + start);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let (by_last, by_next) = (row[width + lane], row[lane]);
                    (0..LANES).for_each(|i| sum[i] += next[i] * by_last);
                    (0..LANES).for_each(|i| sum[i] -= last[i] * by_next);
                }
            }
            if start + LANES > system.rounds + 1 {
                for lane in 0..heard {
                    let lags = piece(&own.lags, lane * own.stride + start);
                    for (sum, row) in sums.iter_mut().zip(rows) {
                        (0..LANES).for_each(|i| sum[i] += lags[i] * row[2 * width + lane]);
                    }
                }
            }
            sources.iter_mut().zip(&sums).for_each(|(to, sum)| to[start..start + LANES].copy_from_slice(sum));
        }
    }
}

#[inline(always)]
fn piece(values: &[f64], start: usize) -> &[f64; LANES] {
    values[start..].first_chunk().expect("strides are whole pieces")
}

/// X(a, b−1) = X(a−1, b) + X(a+1, b) − X(a, b+1) − source, over the column of b + 1.
#[inline(always)]
fn step(now: &[f64], source: &[f64], later: &mut [f64], range: std::ops::Range<usize>) {
    let (before, after) = (&now[range.start - 1..range.end - 1], &now[range.start + 1..range.end + 1]);
    let sides = before.iter().zip(after).zip(&source[range.clone()]);
    for (x, ((before, after), source)) in later[range].iter_mut().zip(sides) {
        *x = ((before + after) - *x) - source;
    }
}

/// What is made of the columns.
#[derive(Default)]
struct Tally {
    sum: f64,
    score: f64,
    largest: f64,
}

impl Tally {
    /// A column whose real entries are `real`, the first of them on the diagonal, and which ends at `end`.
    #[inline(always)]
    fn add(&mut self, column: &[f64], real: std::ops::Range<usize>, end: usize) {
        let diagonal = column[real.start];
        self.score += diagonal;
        self.sum += diagonal.abs();
        let mut sums = [0.0; LANES];
        let mut most = [self.largest; LANES];
        let (pieces, rest) = column[real.start + 1..real.end].as_chunks::<LANES>();
        for piece in pieces {
            (0..LANES).for_each(|i| sums[i] += piece[i].abs());
        }
        self.sum += 2.0 * (sums.iter().sum::<f64>() + rest.iter().map(|x| x.abs()).sum::<f64>());
        let (pieces, rest) = column[real.start..end].as_chunks::<LANES>();
        for piece in pieces {
            (0..LANES).for_each(|i| most[i] = most[i].max(piece[i].abs()));
        }
        self.largest = rest.iter().map(|x| x.abs()).chain(most).fold(0.0, f64::max);
    }
}
