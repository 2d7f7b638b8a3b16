//! Covariance of the states given what the watchers saw so far.
//!
//! Two forms with the same meaning. Low rank: the covariance without observations (`prior.rs`) minus a product of one block per
//! observed step. Dense: the n×n matrix itself, cheaper once the blocks together are wider than the matrix.

use super::super::sparse::padded;
use super::prior::Prior;
use super::{Mixing, as_matrix};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, Par};
use std::sync::Arc;

pub(super) enum Covariance {
    LowRank(LowRank),
    Dense(Dense),
}

/// Columns of a covariance, node-major, and the unconditional variances of their nodes.
pub(super) struct Columns {
    pub(super) values: Vec<f64>,
    pub(super) prior: Vec<f64>,
}

impl Covariance {
    /// For states of which the watchers will see about `observations` values in all.
    pub(super) fn new(nodes: usize, observations: usize, prior: Prior) -> Self {
        if observations < 2 * nodes {
            return Self::LowRank(LowRank { nodes, prior, blocks: Vec::new() });
        }
        let width = padded(nodes);
        let zeros = vec![0.0; nodes * width];
        Self::Dense(Dense { nodes, width, matrix: zeros, prior: vec![0.0; nodes] })
    }

    /// Fresh independent noise at the marked nodes.
    pub(super) fn contribute(&mut self, noisy: Vec<bool>) {
        match self {
            Self::LowRank(form) => form.prior.contribute(noisy),
            Self::Dense(form) => form.contribute(&noisy),
        }
    }

    /// Columns of these nodes, `width` lanes.
    pub(super) fn columns(&self, nodes: &[usize], width: usize) -> Columns {
        match self {
            Self::LowRank(form) => form.columns(nodes, width),
            Self::Dense(form) => form.columns(nodes, width),
        }
    }

    /// Conditions on white innovations that have this covariance with the states.
    pub(super) fn condition(&mut self, correlation: &[f64], width: usize) {
        match self {
            _ if width == 0 => {}
            Self::LowRank(form) => form.blocks.push((correlation.to_vec(), width)),
            Self::Dense(form) => form.condition(correlation, width),
        }
    }

    /// The states are mixed; the watchers' own are known and drop out.
    pub(super) fn advance(&mut self, mixing: &Arc<Mixing>) {
        match self {
            Self::LowRank(form) => form.advance(mixing),
            Self::Dense(form) => form.advance(mixing),
        }
    }
}

pub(super) struct LowRank {
    nodes: usize,
    prior: Prior,
    /// Covariance of the states with the innovations of each observed step.
    blocks: Vec<(Vec<f64>, usize)>,
}

impl LowRank {
    fn columns(&self, nodes: &[usize], width: usize) -> Columns {
        let mut values = self.prior.columns(nodes, width);
        let prior = nodes.iter().enumerate().map(|(lane, &node)| values[node * width + lane]).collect();
        for (block, block_width) in &self.blocks {
            let block = as_matrix(block, self.nodes, *block_width);
            let among = Mat::from_fn(*block_width, nodes.len(), |i, j| block[(nodes[j], i)]);
            let out = MatMut::from_row_major_slice_mut(&mut values, self.nodes, width);
            matmul(out.subcols_mut(0, nodes.len()), Accum::Add, block, among, -1.0, Par::Seq);
        }
        Columns { values, prior }
    }

    fn advance(&mut self, mixing: &Arc<Mixing>) {
        self.prior.advance(mixing);
        let mut scratch = Vec::new();
        for (block, width) in &mut self.blocks {
            mixing.forward(block, *width, &mut scratch);
        }
    }
}

pub(super) struct Dense {
    nodes: usize,
    width: usize,
    matrix: Vec<f64>,
    /// Largest variance that each state had, the scale of rounding errors.
    prior: Vec<f64>,
}

impl Dense {
    fn contribute(&mut self, noisy: &[bool]) {
        for node in (0..self.nodes).filter(|&node| noisy[node]) {
            self.matrix[node * self.width + node] += 1.0;
            self.prior[node] = self.prior[node].max(self.matrix[node * self.width + node]);
        }
    }

    fn columns(&self, nodes: &[usize], width: usize) -> Columns {
        let mut values = vec![0.0; self.nodes * width];
        for (row, out) in values.chunks_exact_mut(width.max(1)).enumerate() {
            out.iter_mut()
                .zip(nodes)
                .for_each(|(value, &node)| *value = self.matrix[row * self.width + node]);
        }
        Columns { values, prior: nodes.iter().map(|&node| self.prior[node].max(1.0)).collect() }
    }

    fn condition(&mut self, correlation: &[f64], width: usize) {
        let block = as_matrix(correlation, self.nodes, width);
        let out = MatMut::from_row_major_slice_mut(&mut self.matrix, self.nodes, self.width);
        matmul(out.subcols_mut(0, self.nodes), Accum::Add, block, block.transpose(), -1.0, Par::Seq);
    }

    /// P ← W P Wᵀ, as W (W P)ᵀ.
    fn advance(&mut self, mixing: &Arc<Mixing>) {
        let (nodes, width) = (self.nodes, self.width);
        let mut scratch = Vec::new();
        for _ in 0..2 {
            mixing.forward(&mut self.matrix, width, &mut scratch);
            for row in 0..nodes {
                (0..nodes)
                    .for_each(|column| scratch[column * width + row] = self.matrix[row * width + column]);
            }
            std::mem::swap(&mut self.matrix, &mut scratch);
        }
    }
}
