//! From innovations to Σ|X_u|: how each white innovation responds to a contribution of u at each earlier phase.
//!
//! X_u(r, r′) = Σ_s resp_s(r)·resp_s(r′), with resp_s(r) = Z_s A_{s−1} … A_r e_u and A = W (I − G C): what of the contribution was not yet
//! explained by the messages, mixed on. The innovations of several steps are gathered before they are multiplied out, so that
//! the products are of a size at which a matrix product is fast.

use super::super::sparse::padded;
use super::{Observed, Projections, as_matrix};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// White innovations to gather before multiplying out.
const GATHERED: usize = 96;

impl Projections<'_> {
    /// Σ_{r,r′} |X_u(r, r′)| for every u.
    pub(super) fn sums_of_absolute_values(&self) -> Vec<f64> {
        let (nodes, rounds) = (self.run.nodes(), self.run.rounds());
        let mut sums = Gram::new(nodes, rounds);
        for (at, observed) in self.steps.iter().enumerate() {
            self.respond(at, observed, |phase, block| sums.gather(phase, observed, block));
            sums.close_step(observed.nodes.len(), at + 1 == self.steps.len());
        }
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
        for at in (0..=last).rev() {
            if at < last {
                block = self.explained(&self.steps[at], block, width);
            }
            if let Some(phase) = self.steps[at].starts {
                gather(phase, &block);
            }
        }
    }

    /// Z ↦ Z W (I − G C) for the step that is passed backwards.
    fn explained(&self, passed: &Observed, block: Vec<f64>, width: usize) -> Vec<f64> {
        let nodes = self.run.nodes();
        let mut block = passed.mixing.backward(&block, width);
        let seen = passed.nodes.len();
        if seen > 0 {
            let correlation = as_matrix(&passed.correlation, nodes, passed.width).subcols(0, seen);
            let mut explained = Mat::zeros(width, seen);
            matmul(
                explained.as_mut(),
                Accum::Replace,
                as_matrix(&block, nodes, width).transpose(),
                correlation,
                1.0,
                Par::Seq,
            );
            let change = explained * &passed.whitening;
            for (column, &node) in passed.nodes.iter().enumerate() {
                (0..width).for_each(|i| block[node * width + i] -= change[(i, column)]);
            }
        }
        block
    }
}

/// X_u of every u, lower triangles, and the responses that are not multiplied out yet.
struct Gram {
    rounds: usize,
    /// u, then column by column.
    matrices: Vec<f64>,
    /// u, then phase, then innovation.
    gathered: Vec<f64>,
    capacity: usize,
    filled: usize,
    phases: usize,
}

impl Gram {
    fn new(nodes: usize, rounds: usize) -> Self {
        let capacity = GATHERED;
        let gathered = vec![0.0; nodes * rounds * capacity];
        Self {
            rounds,
            matrices: vec![0.0; nodes * rounds * rounds],
            gathered,
            capacity,
            filled: 0,
            phases: 0,
        }
    }

    /// Takes the response to contributions at `phase`.
    fn gather(&mut self, phase: usize, observed: &Observed, block: &[f64]) {
        let count = observed.nodes.len();
        if self.filled + count > self.capacity {
            self.grow(self.filled + count);
        }
        self.phases = self.phases.max(phase + 1);
        let stride = self.rounds * self.capacity;
        for (u, response) in block.chunks_exact(observed.width).enumerate() {
            let start = u * stride + phase * self.capacity + self.filled;
            self.gathered[start..start + count].copy_from_slice(&response[..count]);
        }
    }

    /// All phases of a step are gathered; multiplies out when enough is there, or at the end.
    fn close_step(&mut self, count: usize, is_last: bool) {
        self.filled += count;
        if self.filled + count <= self.capacity && !is_last || self.filled == 0 {
            return;
        }
        let (rounds, phases, filled) = (self.rounds, self.phases, self.filled);
        let per_node = self.gathered.chunks_exact(rounds * self.capacity);
        for (gathered, matrix) in per_node.zip(self.matrices.chunks_exact_mut(rounds * rounds)) {
            let rows =
                MatRef::from_row_major_slice(gathered, rounds, self.capacity).submatrix(0, 0, phases, filled);
            let out = MatMut::from_column_major_slice_mut(matrix, rounds, rounds)
                .submatrix_mut(0, 0, phases, phases);
            let lower = BlockStructure::TriangularLower;
            let full = BlockStructure::Rectangular;
            triangular::matmul(out, lower, Accum::Add, rows, full, rows.transpose(), full, 1.0, Par::Seq);
        }
        self.gathered.fill(0.0);
        self.filled = 0;
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

    /// More innovations in one step than fit: the gathered ones move to a wider table.
    fn grow(&mut self, needed: usize) {
        let wider = padded(needed);
        let mut moved = vec![0.0; self.gathered.len() / self.capacity * wider];
        for (from, to) in self.gathered.chunks_exact(self.capacity).zip(moved.chunks_exact_mut(wider)) {
            to[..self.capacity].copy_from_slice(from);
        }
        (self.gathered, self.capacity) = (moved, wider);
    }
}
