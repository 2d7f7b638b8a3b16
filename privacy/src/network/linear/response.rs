//! From innovations to Σ|X_u|: how each white innovation responds to a contribution of u at each earlier phase.
//!
//! X_u(r, r′) = Σ_s resp_s(r)·resp_s(r′), with resp_s(r) = Z_s A_{s−1} … A_r e_u and A = W (I − G C): what of the contribution was not yet
//! explained by the messages, mixed on. The innovations of several steps are gathered before they are multiplied out, so that
//! the products are of a size at which a matrix product is fast.

use super::super::sparse::LANES;
use super::{Observed, Projections, as_matrix};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// White innovations to gather before multiplying out.
const GATHERED: usize = 96;

impl Projections<'_> {
    /// Σ_{r,r′} |X_u(r, r′)| for every u.
    pub(super) fn sums_of_absolute_values(&self, scratch: &mut Tables) -> Vec<f64> {
        let (nodes, rounds) = (self.run.nodes(), self.run.rounds());
        let widest = self.steps.iter().map(|step| step.width).max().unwrap_or(0);
        let mut sums = Gram::new(scratch, (nodes, rounds), widest);
        for (at, observed) in self.steps.iter().enumerate().filter(|(_, observed)| observed.width > 0) {
            sums.open_step(observed.width, observed.starts.end - 1);
            self.respond(at, observed, |phase, block| sums.gather(phase, block, observed.width));
        }
        sums.multiply_out();
        (0..nodes).map(|node| sums.absolute(node, |round| self.run.phase(round).contributes(node))).collect()
    }

    /// X_u(phase, phase) for every u.
    pub(super) fn diagonal(&self, phase: usize) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.run.nodes()];
        for (at, observed) in self.steps.iter().enumerate() {
            self.respond(at, observed, |to, block| {
                if to == phase {
                    let squares =
                        block.chunks_exact(observed.width).map(|row| row.iter().map(|x| x * x).sum::<f64>());
                    diagonal.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
                }
            });
        }
        diagonal
    }

    /// Calls `gather` with the response of the innovations of step `last` to unit contributions at each phase up to it.
    fn respond(&self, last: usize, observed: &Observed, mut gather: impl FnMut(usize, &[f64])) {
        if observed.nodes.is_empty() {
            return;
        }
        let width = observed.width;
        let mut block = vec![0.0; self.run.nodes() * width];
        for (column, &node) in observed.nodes.iter().enumerate() {
            (0..observed.nodes.len()).for_each(|i| block[node * width + i] = observed.whitening[(i, column)]);
        }
        let mut scratch = Vec::new();
        for at in (0..=last).rev() {
            if at < last {
                self.explain(&self.steps[at], &mut block, width, &mut scratch);
            }
            self.steps[at].starts.clone().for_each(|phase| gather(phase, &block));
        }
    }

    /// Z ↦ Z W (I − G C) for the step that is passed backwards.
    fn explain(&self, passed: &Observed, block: &mut Vec<f64>, width: usize, scratch: &mut Vec<f64>) {
        let nodes = self.run.nodes();
        passed.mixing.backward(block, width, scratch);
        let seen = passed.nodes.len();
        if seen == 0 {
            return;
        }
        let correlation = as_matrix(&passed.correlation, nodes, passed.width).subcols(0, seen);
        let mut explained = Mat::zeros(width, seen);
        let responses = as_matrix(block, nodes, width).transpose();
        matmul(explained.as_mut(), Accum::Replace, responses, correlation, 1.0, Par::Seq);
        let change = explained * &passed.whitening;
        for (column, &node) in passed.nodes.iter().enumerate() {
            (0..width).for_each(|i| block[node * width + i] -= change[(i, column)]);
        }
    }
}

/// The two large tables of [`Gram`].
#[derive(Debug, Default)]
pub(crate) struct Tables {
    matrices: Vec<f64>,
    gathered: Vec<f64>,
}

/// X_u of every u, lower triangles, and the responses that are not multiplied out yet.
struct Gram<'a> {
    rounds: usize,
    /// u, then column by column.
    matrices: &'a mut [f64],
    /// Phase, then u, then innovation; lanes beyond a step's innovations are zero.
    gathered: &'a mut [f64],
    nodes: usize,
    capacity: usize,
    /// Where the innovations of each gathered step begin and end, and its last phase: later ones cannot reach it.
    steps: Vec<(usize, usize, usize)>,
}

impl<'a> Gram<'a> {
    fn new(scratch: &'a mut Tables, (nodes, rounds): (usize, usize), widest: usize) -> Self {
        let capacity = widest.max(GATHERED);
        let Tables { matrices, gathered } = scratch;
        matrices.clear();
        matrices.resize(nodes * rounds * rounds, 0.0);
        // What is gathered is overwritten before it is read.
        gathered.resize(nodes * rounds * capacity, 0.0);
        Self { rounds, matrices, gathered, nodes, capacity, steps: Vec::new() }
    }

    fn filled(&self) -> usize {
        self.steps.last().map_or(0, |step| step.1)
    }

    /// Makes room for the innovations of a step whose last phase is `phase`.
    fn open_step(&mut self, width: usize, phase: usize) {
        if self.filled() + width > self.capacity {
            self.multiply_out();
        }
        let start = self.filled();
        self.steps.push((start, start + width, phase));
    }

    /// Takes the response of the step that was opened to contributions at `phase`.
    fn gather(&mut self, phase: usize, block: &[f64], width: usize) {
        let start = self.filled() - width;
        let rows = self.gathered[phase * self.nodes * self.capacity..].chunks_exact_mut(self.capacity);
        for (row, response) in rows.zip(block.chunks_exact(width)) {
            // The usual widths are moved in registers: a call for each row would cost more than the move.
            match width {
                LANES => move_piece::<LANES>(&mut row[start..], response),
                TWICE => move_piece::<TWICE>(&mut row[start..], response),
                _ => row[start..start + width].copy_from_slice(response),
            }
        }
    }

    /// Adds the products of what is gathered.
    fn multiply_out(&mut self) {
        let (rounds, filled) = (self.rounds, self.filled());
        let phases = 1 + self.steps.iter().map(|step| step.2).max().unwrap_or(0);
        let (nodes, capacity) = (self.nodes, self.capacity);
        for &(start, end, last) in &self.steps {
            let unreached = &mut self.gathered[(last + 1) * nodes * capacity..phases * nodes * capacity];
            unreached.chunks_exact_mut(capacity).for_each(|row| row[start..end].fill(0.0));
        }
        for (node, matrix) in self.matrices.chunks_exact_mut(rounds * rounds).enumerate() {
            let own = &self.gathered[node * capacity..];
            let rows = MatRef::from_row_major_slice_with_stride(own, phases, filled, nodes * capacity);
            let out = MatMut::from_column_major_slice_mut(matrix, rounds, rounds)
                .submatrix_mut(0, 0, phases, phases);
            let lower = BlockStructure::TriangularLower;
            let full = BlockStructure::Rectangular;
            triangular::matmul(out, lower, Accum::Add, rows, full, rows.transpose(), full, 1.0, Par::Seq);
        }
        self.steps.clear();
    }

    fn absolute(&self, node: usize, counts: impl Fn(usize) -> bool) -> f64 {
        let matrix = &self.matrices[node * self.rounds * self.rounds..(node + 1) * self.rounds * self.rounds];
        let mut sum = 0.0;
        for column in (0..self.rounds).filter(|&round| counts(round)) {
            sum += matrix[column * self.rounds + column].abs();
            for row in (column + 1..self.rounds).filter(|&round| counts(round)) {
                sum += 2.0 * matrix[column * self.rounds + row].abs();
            }
        }
        sum
    }
}

const TWICE: usize = 2 * LANES;

#[inline(always)]
fn move_piece<const L: usize>(to: &mut [f64], from: &[f64]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<L>(), from.first_chunk::<L>()) {
        *to = *from;
    }
}
