//! Extreme eigenpairs of a symmetric tridiagonal matrix: bisection by Sturm counts, then inverse iteration.
//!
//! Golub and Van Loan, "Matrix Computations", sections 8.4 and 8.5.

/// A symmetric tridiagonal matrix: `diagonal[i]`, and `beside[i]` between rows `i` and `i + 1`.
pub(super) struct Tridiagonal<'a> {
    diagonal: &'a [f64],
    beside: &'a [f64],
}

/// Which end of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The smallest eigenvalue.
    Low,
    /// The largest.
    High,
}

impl<'a> Tridiagonal<'a> {
    /// Takes the first `diagonal.len() - 1` entries of `beside`.
    pub(super) fn new(diagonal: &'a [f64], beside: &'a [f64]) -> Self {
        Self { diagonal, beside: &beside[..diagonal.len() - 1] }
    }

    /// The eigenvalue number `rank` from `end`, counted from zero, with multiplicity.
    pub(super) fn eigenvalue(&self, end: End, rank: usize) -> f64 {
        let index = match end {
            End::Low => rank,
            End::High => self.diagonal.len() - 1 - rank,
        };
        let (mut below, mut above) = self.bounds();
        loop {
            let middle = 0.5 * (below + above);
            if middle <= below || middle >= above || above - below <= f64::MIN_POSITIVE {
                return middle;
            }
            if self.count_below(middle) > index {
                above = middle;
            } else {
                below = middle;
            }
        }
    }

    /// A unit eigenvector for the eigenvalue `value`.
    pub(super) fn eigenvector(&self, value: f64) -> Vec<f64> {
        let rows = self.diagonal.len();
        // A start without pattern, lest it be orthogonal to what is sought.
        let mut vector: Vec<f64> =
            (0..rows).map(|row| 1.0 + 0.5 * ((row * 7919 % 104_729) as f64 / 104_729.0)).collect();
        for _ in 0..3 {
            self.solve_shifted(value, &mut vector);
            let largest = vector.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            vector.iter_mut().for_each(|x| *x /= largest);
            let norm = super::vector::norm(&vector);
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        vector
    }

    /// Gershgorin's interval.
    fn bounds(&self) -> (f64, f64) {
        let rows = self.diagonal.len();
        let radius = |row: usize| {
            let left = row.checked_sub(1).map_or(0.0, |left| self.beside[left].abs());
            left + self.beside.get(row).map_or(0.0, |right| right.abs())
        };
        let low = (0..rows).map(|row| self.diagonal[row] - radius(row)).fold(f64::INFINITY, f64::min);
        let high = (0..rows).map(|row| self.diagonal[row] + radius(row)).fold(f64::NEG_INFINITY, f64::max);
        let margin = f64::EPSILON * (low.abs() + high.abs());
        (low - margin, high + margin)
    }

    /// Number of eigenvalues below `value`: the negative pivots of the shifted matrix.
    fn count_below(&self, value: f64) -> usize {
        let mut pivot = 1.0f64;
        let mut count = 0;
        for (row, &diagonal) in self.diagonal.iter().enumerate() {
            let coupling = row.checked_sub(1).map_or(0.0, |left| self.beside[left] * self.beside[left]);
            pivot = diagonal - value - coupling / pivot;
            if pivot.abs() < f64::MIN_POSITIVE {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count
    }

    /// Solves `(T − value) x = b` in place by elimination with row exchanges; a pivot of zero becomes a tiny one, as
    /// inverse iteration wants it.
    fn solve_shifted(&self, value: f64, b: &mut [f64]) {
        let rows = self.diagonal.len();
        let (low, high) = self.bounds();
        let tiny = f64::EPSILON * low.abs().max(high.abs()).max(f64::MIN_POSITIVE);
        // Rows of the upper factor: diagonal and the two entries beside it.
        let mut upper = vec![[0.0; 3]; rows];
        let mut current = [self.diagonal[0] - value, self.beside.first().copied().unwrap_or(0.0), 0.0];
        for row in 0..rows - 1 {
            let below = [
                self.beside[row],
                self.diagonal[row + 1] - value,
                self.beside.get(row + 1).copied().unwrap_or(0.0),
            ];
            let (pivot, other) = if below[0].abs() > current[0].abs() {
                b.swap(row, row + 1);
                (below, current)
            } else {
                (current, below)
            };
            let head = if pivot[0] == 0.0 { tiny } else { pivot[0] };
            let factor = other[0] / head;
            upper[row] = [head, pivot[1], pivot[2]];
            current = [other[1] - factor * pivot[1], other[2] - factor * pivot[2], 0.0];
            b[row + 1] -= factor * b[row];
        }
        upper[rows - 1] = [if current[0].abs() < tiny { tiny } else { current[0] }, 0.0, 0.0];
        for row in (0..rows).rev() {
            let later = |ahead: usize| b.get(row + ahead).copied().unwrap_or(0.0);
            b[row] = (b[row] - upper[row][1] * later(1) - upper[row][2] * later(2)) / upper[row][0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matrix with 2 on the diagonal and −1 beside it has the eigenvalues 2 − 2 cos(kπ/(n+1)).
    #[test]
    fn eigenvalues_and_vectors_of_the_second_difference_are_the_textbook_ones() {
        for rows in [1usize, 2, 3, 10, 200] {
            let (diagonal, beside) = (vec![2.0; rows], vec![-1.0; rows]);
            let matrix = Tridiagonal::new(&diagonal, &beside);
            let exact = |k: usize| 2.0 - 2.0 * (k as f64 * std::f64::consts::PI / (rows as f64 + 1.0)).cos();
            for rank in 0..rows.min(3) {
                assert!((matrix.eigenvalue(End::Low, rank) - exact(rank + 1)).abs() < 1e-14);
                assert!((matrix.eigenvalue(End::High, rank) - exact(rows - rank)).abs() < 1e-14);
            }
            let value = matrix.eigenvalue(End::Low, 0);
            let vector = matrix.eigenvector(value);
            for row in 0..rows {
                let left = row.checked_sub(1).map_or(0.0, |left| vector[left]);
                let right = vector.get(row + 1).copied().unwrap_or(0.0);
                assert!((2.0 * vector[row] - left - right - value * vector[row]).abs() < 1e-13);
            }
        }
    }
}
