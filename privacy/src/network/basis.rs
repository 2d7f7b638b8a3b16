//! An orthonormal basis that grows, and the leverage scores of its span.
//!
//! Soundness: a direction that is dropped is a loss that is not reported, so a candidate is dropped only where it
//! agrees with the span to rounding ([`MERGE`]). Unit vectors are kept as marks: what is known exactly stays exact.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// A candidate whose part outside the span is smaller than this, relative to itself, is taken to lie in the span.
pub(crate) const MERGE: f64 = 1e-12;

/// A candidate as small as this is rounding left over from a cancellation to zero.
const NOTHING: f64 = 1e-15;

/// Orthogonalise again while the norm falls below this share: cancellation costs orthogonality.
const CANCELLED: f64 = 0.1;

/// Vectors that are projected on together.
const TOGETHER: usize = 32;

/// Span of unit vectors and orthonormal dense vectors over `nodes` coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    nodes: usize,
    known: Vec<bool>,
    dense: Vec<f64>,
}

impl Basis {
    /// The span of the unit vectors of `known` coordinates.
    pub(crate) fn of_units(known: Vec<bool>) -> Self {
        Self { nodes: known.len(), known, dense: Vec::new() }
    }

    /// Number of dense vectors.
    pub(crate) fn dense_rank(&self) -> usize {
        self.dense.len() / self.nodes
    }

    /// Dimension of the span.
    pub(crate) fn rank(&self) -> usize {
        self.dense_rank() + self.known.iter().filter(|&&known| known).count()
    }

    /// Whether the unit vector of a coordinate is one of those that are marked. The dense vectors are zero there.
    pub(crate) fn is_known(&self, at: usize) -> bool {
        self.known[at]
    }

    /// The dense vectors, one after the other.
    pub(crate) fn dense(&self) -> &[f64] {
        &self.dense
    }

    /// The span of this one and the unit vectors of `more` coordinates.
    pub(crate) fn joined_by_units(self, more: impl Iterator<Item = usize>) -> Self {
        let mut known = self.known;
        more.for_each(|at| known[at] = true);
        let mut joined = Self::of_units(known);
        joined.extend(self.dense);
        joined
    }

    fn vector(&self, at: usize) -> &[f64] {
        &self.dense[at * self.nodes..(at + 1) * self.nodes]
    }

    /// Adds what the candidates (vectors of `nodes` coordinates, one after the other) bring beyond the span;
    /// the new dense vectors are those from the returned number on.
    pub(crate) fn extend(&mut self, candidates: Vec<f64>) -> usize {
        self.extend_near(candidates, 0)
    }

    /// As [`Self::extend`], for candidates that are orthogonal to the vectors before `near` but for rounding, as a symmetric matrix makes them
    /// of the vectors that it made last. They are removed once instead of twice.
    pub(crate) fn extend_near(&mut self, mut candidates: Vec<f64>, near: usize) -> usize {
        let before = self.dense_rank();
        for candidate in candidates.chunks_exact_mut(self.nodes) {
            self.forget_known(candidate);
        }
        let norms: Vec<f64> = candidates.chunks_exact(self.nodes).map(norm).collect();
        // Twice is enough (Giraud et al. 2005): the second pass removes what rounding left in the first.
        self.project_out(&mut candidates, near);
        self.project_out(&mut candidates, 0);
        for (candidate, scale) in candidates.chunks_exact_mut(self.nodes).zip(norms) {
            self.orthogonalise(candidate, before);
            let rest = norm(candidate);
            if rest > MERGE * scale && rest > NOTHING {
                self.dense.extend(candidate.iter().map(|x| x / rest));
            }
        }
        before
    }

    /// The leverage score of every coordinate: the squared norm of its unit vector's projection on the span.
    pub(crate) fn leverage(&self) -> Vec<f64> {
        let mut scores = vec![0.0; self.nodes];
        for vector in self.dense.chunks_exact(self.nodes) {
            for (score, x) in scores.iter_mut().zip(vector) {
                *score += x * x;
            }
        }
        for (score, &known) in scores.iter_mut().zip(&self.known) {
            *score = if known { 1.0 } else { score.min(1.0) };
        }
        scores
    }

    fn forget_known(&self, vector: &mut [f64]) {
        for (x, &known) in vector.iter_mut().zip(&self.known) {
            if known {
                *x = 0.0;
            }
        }
    }

    /// X ← X − Q Qᵀ X for the dense vectors from `from` on, a few at a time: they are read twice, and lie in the cache the second time.
    fn project_out(&self, candidates: &mut [f64], from: usize) {
        let count = candidates.len() / self.nodes;
        if count == 0 {
            return;
        }
        for some in self.dense[from * self.nodes..].chunks(TOGETHER * self.nodes) {
            let rank = some.len() / self.nodes;
            let basis = MatRef::from_column_major_slice(some, self.nodes, rank);
            let mut parts = vec![0.0; rank * count];
            let mut parts = MatMut::from_column_major_slice_mut(&mut parts, rank, count);
            let block = MatRef::from_column_major_slice(candidates, self.nodes, count);
            matmul(parts.as_mut(), Accum::Replace, basis.transpose(), block, 1.0, Par::Seq);
            let block = MatMut::from_column_major_slice_mut(candidates, self.nodes, count);
            matmul(block, Accum::Add, basis, parts.as_ref(), -1.0, Par::Seq);
        }
    }

    /// Makes one candidate orthogonal to the vectors accepted since `before`, and again to all if much cancelled.
    fn orthogonalise(&self, candidate: &mut [f64], before: usize) {
        let mut from = before;
        let mut last = norm(candidate);
        loop {
            for at in from..self.dense_rank() {
                let vector = self.vector(at);
                let part = dot(vector, candidate);
                candidate.iter_mut().zip(vector).for_each(|(x, v)| *x -= part * v);
            }
            let now = norm(candidate);
            if now >= CANCELLED * last || now <= NOTHING {
                return;
            }
            (last, from) = (now, 0);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_of_what_is_there_adds_no_direction() {
        let mut basis = Basis::of_units(vec![false; 4]);
        basis.extend(vec![1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(basis.rank(), 2);
        basis.extend(vec![1.0, 3.0, 2.0, 0.0, 1.0, 0.0, -1.0, 0.0]);
        assert_eq!(basis.rank(), 2);
        basis.extend(vec![1.0, 3.0, 2.0, 1e-9, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(basis.rank(), 3, "a direction of relative size 1e-9 is kept");
        assert!((basis.leverage()[3] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn leverage_scores_sum_to_the_rank() {
        let mut basis = Basis::of_units(vec![true, false, false, false, false]);
        basis.extend(vec![5.0, 1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 0.5, 0.0, 1e-3]);
        let scores = basis.leverage();
        assert!((scores.iter().sum::<f64>() - 3.0).abs() < 1e-14, "{scores:?}");
        assert_eq!(scores[0], 1.0);
    }
}
