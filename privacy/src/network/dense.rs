//! Dense factorisations, on one thread: the analyses run in parallel over watchers.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatRef, Par};

/// The upper triangular factor R of M = QR: `RᵀR = MᵀM` without the squared condition number of forming `MᵀM`.
pub(crate) fn upper_factor(mut matrix: Mat<f64>) -> Mat<f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    assert!(rows >= columns, "a factor needs at least as many rows as columns");
    let block = recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, columns);
    let mut memory =
        MemBuffer::new(qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    qr_in_place(matrix.as_mut(), coefficients.as_mut(), Par::Seq, stack, Default::default());
    Mat::from_fn(columns, columns, |i, j| if i <= j { matrix[(i, j)] } else { 0.0 })
}

/// Squared norms of the columns of R⁻ᵀ B: what the normal equations of `R` make of each column of `B`.
pub(crate) fn squared_norms_behind(upper: MatRef<'_, f64>, mut columns: Mat<f64>) -> Vec<f64> {
    solve_lower_triangular_in_place(upper.transpose(), columns.as_mut(), Par::Seq);
    columns.col_iter().map(|column| column.iter().map(|x| x * x).sum()).collect()
}

/// Cholesky factor of a symmetric positive semidefinite matrix, without the rows that depend on those before.
pub(crate) struct Innovations {
    /// Which rows are new, in increasing order.
    pub(crate) independent: Vec<usize>,
    /// Inverse of the lower triangular factor of the matrix restricted to them.
    pub(crate) whitening: Mat<f64>,
}

/// Finds the rows of `covariance` that bring something new: those whose pivot exceeds `tolerance` times their prior variance, in
/// `prior`. For the small matrices of one step's observations.
pub(crate) fn innovations(covariance: MatRef<'_, f64>, prior: &[f64], tolerance: f64) -> Innovations {
    let mut independent: Vec<usize> = Vec::new();
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for at in 0..covariance.nrows() {
        let mut row: Vec<f64> = Vec::with_capacity(independent.len() + 1);
        for (k, &other) in independent.iter().enumerate() {
            let known: f64 = factor[k][..k].iter().zip(&row).map(|(a, b)| a * b).sum();
            row.push((covariance[(at, other)] - known) / factor[k][k]);
        }
        let pivot = covariance[(at, at)] - row.iter().map(|x| x * x).sum::<f64>();
        if pivot > tolerance * prior[at] {
            row.push(pivot.sqrt());
            factor.push(row);
            independent.push(at);
        }
    }
    let size = independent.len();
    let lower = Mat::from_fn(size, size, |i, j| if j <= i { factor[i][j] } else { 0.0 });
    let mut whitening = Mat::identity(size, size);
    solve_lower_triangular_in_place(lower.as_ref(), whitening.as_mut(), Par::Seq);
    Innovations { independent, whitening }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_has_the_gram_matrix_of_what_was_factored() {
        let matrix = Mat::from_fn(7, 3, |i, j| ((i * 5 + j * 3) % 7) as f64 - 2.0);
        let upper = upper_factor(matrix.clone());
        let difference = upper.transpose() * &upper - matrix.transpose() * &matrix;
        assert!(difference.norm_max() < 1e-12, "{difference:?}");
    }

    #[test]
    fn a_dependent_row_brings_nothing_new() {
        let vectors = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]];
        let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
        let gram = Mat::from_fn(3, 3, |i, j| dot(vectors[i], vectors[j]));
        let found = innovations(gram.as_ref(), &[5.0, 20.0, 2.0], 1e-12);
        assert_eq!(found.independent, [0, 2]);
        let kept = Mat::from_fn(2, 2, |i, j| gram[(2 * i, 2 * j)]);
        let white = &found.whitening * kept * found.whitening.transpose();
        assert!((white - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
    }
}
