//! Eigenvalues of small symmetric matrices by Jacobi's rotations.
//!
//! Every member derives the same answer from the same sum, to the bit: so no library whose order of additions follows the
//! processor. Sizes here are a few columns, where rotations are as fast as anything.

/// Sweeps after which the off-diagonal is gone; six are usual.
const SWEEPS: usize = 60;

/// A symmetric matrix as V·diag(values)·Vᵀ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Eigen {
    /// Eigenvalues, in no particular order.
    pub(crate) values: Vec<f64>,
    /// Eigenvectors, one in each column.
    vectors: Vec<Vec<f64>>,
}

impl Eigen {
    /// Decomposes a symmetric matrix; `None` where an entry is not finite.
    pub(crate) fn new(matrix: &[Vec<f64>]) -> Option<Self> {
        if matrix.iter().flatten().any(|entry| !entry.is_finite()) {
            return None;
        }
        let n = matrix.len();
        let mut a = matrix.to_vec();
        let mut vectors: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let scale: f64 = a.iter().flatten().map(|entry| entry * entry).sum();
        for _ in 0..SWEEPS {
            let off: f64 =
                (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
            if off <= 1e-30 * scale {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
        Some(Self { values: (0..n).map(|i| a[i][i]).collect(), vectors })
    }

    /// V·diag(f(values))·Vᵀ.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        let n = self.values.len();
        let mapped: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        let entry =
            |i: usize, j: usize| (0..n).map(|k| self.vectors[i][k] * mapped[k] * self.vectors[j][k]).sum();
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    }

    /// The least eigenvalue.
    pub(crate) fn least(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Makes a[p][q] zero (Golub and Van Loan, section 8.5).
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let sign = if theta < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let (first, second) = (a[p].clone(), a[q].clone());
    for (k, (x, y)) in first.into_iter().zip(second).enumerate() {
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
    for row in vectors {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_eigenvalues() {
        // The second difference matrix of size 3 has 2 − √2, 2, 2 + √2.
        let matrix = vec![vec![2.0, -1.0, 0.0], vec![-1.0, 2.0, -1.0], vec![0.0, -1.0, 2.0]];
        let mut values = Eigen::new(&matrix).unwrap().values;
        values.sort_by(f64::total_cmp);
        let root = std::f64::consts::SQRT_2;
        for (found, expected) in values.iter().zip([2.0 - root, 2.0, 2.0 + root]) {
            assert!((found - expected).abs() < 1e-13, "{values:?}");
        }
        assert!(Eigen::new(&[vec![f64::NAN]]).is_none());
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole(entries in prop::collection::vec(-5.0f64..5.0, 36)) {
            let matrix: Vec<Vec<f64>> =
                (0..6).map(|i| (0..6).map(|j| entries[i.min(j) * 6 + i.max(j)]).collect()).collect();
            let again = Eigen::new(&matrix).unwrap().map(|value| value);
            for (found, expected) in again.iter().flatten().zip(matrix.iter().flatten()) {
                prop_assert!((found - expected).abs() < 1e-11);
            }
        }
    }
}
