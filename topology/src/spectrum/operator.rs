//! Symmetric positive semidefinite operators with a known kernel: `I − W`, its symmetric form, and Laplacians.
//!
//! Written by differences: row i of the product with `I − W` is `Σ_j W_ij (x_i − x_j)`, which uses that rows sum
//! to one and keeps small eigenvalues from drowning in rounding.

use super::reversible::Balance;
use super::vector::{dot, reduce, worth_threads};
use crate::graph::Graph;
use crate::matrix::MixingMatrix;

/// An operator whose extreme eigenvalues are wanted.
pub(super) enum Operator<'a> {
    /// `I − W` of a symmetric matrix; the kernel is constant.
    Symmetric(&'a MixingMatrix),
    /// `R (I − W) R⁻¹`, symmetric for a reversible matrix, where `R` holds the roots of the stationary law, which
    /// are the kernel too. Kept are `R` and `R⁻¹`.
    Reversible(&'a MixingMatrix, Vec<f64>, Vec<f64>),
    /// The Laplacian of a graph; the kernel is constant.
    Laplacian(&'a Graph),
}

impl<'a> Operator<'a> {
    /// `I − W`, in symmetric form.
    pub(super) fn of_matrix(matrix: &'a MixingMatrix, balance: Balance) -> Self {
        match balance.roots {
            None => Self::Symmetric(matrix),
            Some(roots) => {
                let inverse = roots.iter().map(|root| 1.0 / root).collect();
                Self::Reversible(matrix, roots, inverse)
            }
        }
    }

    /// Length of the vectors.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Symmetric(matrix) | Self::Reversible(matrix, ..) => matrix.nodes(),
            Self::Laplacian(graph) => graph.nodes(),
        }
    }

    /// Multiplications in one product.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Symmetric(matrix) | Self::Reversible(matrix, ..) => matrix.entries(),
            Self::Laplacian(graph) => 2 * graph.edges(),
        }
    }

    /// Entry `i` of the unit vector that the operator maps to zero.
    pub(super) fn kernel(&self, i: usize) -> f64 {
        match self {
            Self::Reversible(_, roots, _) => roots[i],
            Self::Symmetric(_) | Self::Laplacian(_) => 1.0 / (self.len() as f64).sqrt(),
        }
    }

    /// The part of `chunk`, which begins at `start` in its vector, along the kernel.
    pub(super) fn along_kernel(&self, start: usize, chunk: &[f64]) -> f64 {
        match self {
            Self::Reversible(_, roots, _) => dot(chunk, &roots[start..start + chunk.len()]),
            Self::Symmetric(_) | Self::Laplacian(_) => chunk.iter().sum::<f64>() * self.kernel(0),
        }
    }

    /// Whether a pass over the vectors is worth threads.
    pub(super) fn parallel(&self) -> bool {
        worth_threads(self.entries() + self.len())
    }

    /// `out = B x`; returns `x·Bx`.
    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let [product, _] = reduce(out, self.parallel(), |start, chunk| {
            for (row, slot) in (start..).zip(chunk.iter_mut()) {
                *slot = self.row(row, x);
            }
            [dot(chunk, &x[start..start + chunk.len()]), 0.0]
        });
        product
    }

    /// The Rayleigh quotient's numerator `x·Bx` as a sum of squares over the edges: exact to relative precision
    /// where the weights are not negative.
    pub(super) fn energy(&self, x: &[f64]) -> f64 {
        (0..self.len()).map(|row| self.row_energy(row, x)).sum::<f64>() / 2.0
    }

    /// Calls `entry(column, value)` on what stands beside the diagonal in a row, and returns the diagonal.
    pub(super) fn entries_of_row(&self, row: usize, mut entry: impl FnMut(u32, f64)) -> f64 {
        let beside = |column: u32| column as usize != row;
        let mut diagonal = 0.0;
        match self {
            Self::Symmetric(matrix) => {
                let (columns, values) = matrix.row(row);
                for (&column, &w) in
                    columns.iter().zip(values).filter(|(column, w)| beside(**column) && **w != 0.0)
                {
                    diagonal += w;
                    entry(column, -w);
                }
            }
            Self::Reversible(matrix, roots, inverse) => {
                let (columns, values) = matrix.row(row);
                for (&column, &w) in
                    columns.iter().zip(values).filter(|(column, w)| beside(**column) && **w != 0.0)
                {
                    diagonal += w;
                    entry(column, -w * roots[row] * inverse[column as usize]);
                }
            }
            Self::Laplacian(graph) => {
                diagonal = graph.degree(row) as f64;
                graph.neighbours(row).iter().for_each(|&column| entry(column, -1.0));
            }
        }
        diagonal
    }

    #[inline]
    fn row(&self, row: usize, x: &[f64]) -> f64 {
        let own = x[row];
        match self {
            Self::Symmetric(matrix) => {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).map(|(&column, w)| w * (own - x[column as usize])).sum()
            }
            Self::Reversible(matrix, roots, inverse) => {
                let (columns, values) = matrix.row(row);
                let own = own * inverse[row];
                let terms = columns.iter().zip(values);
                let difference = |&column: &u32| own - x[column as usize] * inverse[column as usize];
                roots[row] * terms.map(|(column, w)| w * difference(column)).sum::<f64>()
            }
            Self::Laplacian(graph) => {
                graph.neighbours(row).iter().map(|&column| own - x[column as usize]).sum()
            }
        }
    }

    fn row_energy(&self, row: usize, x: &[f64]) -> f64 {
        let own = x[row];
        let square = |w: f64, difference: f64| w * difference * difference;
        match self {
            Self::Symmetric(matrix) => {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).map(|(&column, &w)| square(w, own - x[column as usize])).sum()
            }
            Self::Reversible(matrix, roots, inverse) => {
                let (columns, values) = matrix.row(row);
                let own = own * inverse[row];
                let difference = |column: u32| own - x[column as usize] * inverse[column as usize];
                let terms = columns.iter().zip(values);
                roots[row] * roots[row] * terms.map(|(&c, &w)| square(w, difference(c))).sum::<f64>()
            }
            Self::Laplacian(graph) => {
                graph.neighbours(row).iter().map(|&column| square(1.0, own - x[column as usize])).sum()
            }
        }
    }
}
