//! `corr`, `linreg`: the triangle of zzᵀ with z = (1, columns scaled to ±1), off-diagonal times √2, so that its norm is
//! ‖z‖² ≤ p + 1.

use std::f64::consts::FRAC_1_SQRT_2;

use faer::{Mat, Side};

use crate::estimate::Estimate;

/// Second moments of 1 and p columns, with the noise of a diagonal entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    size: usize,
    entries: Vec<f64>,
    noise: f64,
}

/// Where entry (i, j), i ≤ j, stands in the triangle of a matrix of this size.
#[must_use]
pub fn triangle_index(size: usize, i: usize, j: usize) -> usize {
    i * size - i * (i + 1) / 2 + j
}

/// Least squares with deviations, in units where every column runs from −1 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Intercept and slopes.
    pub weights: Vec<f64>,
    /// Covariance of their noise.
    pub covariance: Vec<Vec<f64>>,
    /// Covariance that sampling adds: residual variance times the inverse of G.
    pub sampling: Vec<Vec<f64>>,
}

impl Moments {
    /// From the noisy sum of triangles of `size` = p + 1 rows.
    #[must_use]
    pub fn new(size: usize, sum: &[f64], noise: f64) -> Self {
        let entry = |at: usize| {
            let (i, j) = (at / size, at % size);
            let value = sum[triangle_index(size, i.min(j), i.max(j))];
            if i == j { value } else { value * FRAC_1_SQRT_2 }
        };
        Self { size, entries: (0..size * size).map(entry).collect(), noise }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.size + j]
    }

    /// Records in which all columns have a value.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.at(0, 0)
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        let n = self.count();
        self.at(i, j) / n - self.at(0, i) / n * (self.at(0, j) / n)
    }

    /// The matrix of correlations of the p columns: eigenvalues of the covariance raised to 1e-9, entries cut to ±1.
    #[must_use]
    pub fn correlations(&self) -> Vec<Vec<f64>> {
        let p = self.size - 1;
        let covariance = Mat::from_fn(p, p, |i, j| self.covariance(i + 1, j + 1));
        let Some(raised) = with_raised_eigenvalues(&covariance) else {
            return vec![vec![f64::NAN; p]; p];
        };
        let scale = |i: usize| raised[(i, i)].sqrt();
        let entry = |i: usize, j: usize| (raised[(i, j)] / (scale(i) * scale(j))).clamp(-1.0, 1.0);
        (0..p).map(|i| (0..p).map(|j| if i == j { 1.0 } else { entry(i, j) }).collect()).collect()
    }

    /// The raw correlation of two columns (numbered from 1) and its deviation by the delta method.
    #[must_use]
    pub fn correlation(&self, i: usize, j: usize) -> Estimate {
        let n = self.count();
        let (a, b, c) = (self.covariance(i, i), self.covariance(j, j), self.covariance(i, j));
        let (mi, mj) = (self.at(0, i) / n, self.at(0, j) / n);
        let scale = (a * b).sqrt();
        let r = c / scale;
        // Derivatives of r by N and by the moments; off-diagonal entries carry s/√2.
        let by_count = (mi * mj - c) / scale - 0.5 * r * ((mi * mi - a) / a + (mj * mj - b) / b);
        let by_first = -mj / scale + r * mi / a;
        let by_second = -mi / scale + r * mj / b;
        let diagonal = by_count * by_count + 0.25 * r * r * (1.0 / (a * a) + 1.0 / (b * b));
        let off = by_first * by_first + by_second * by_second + 1.0 / (scale * scale);
        let deviation = self.noise * (diagonal + 0.5 * off).sqrt() / n;
        Estimate::new(r, deviation).sampled((1.0 - r * r) * (1.0 - r * r) / n)
    }

    /// Least squares of the last column on 1 and the others; `None` where the least eigenvalue is lost in noise.
    #[must_use]
    pub fn least_squares(&self) -> Option<Fit> {
        let p = self.size - 1;
        let gram = Mat::from_fn(p, p, |i, j| self.at(i, j));
        let (values, vectors) = eigen(&gram)?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        if !(least >= 4.0 * self.noise * (p as f64).sqrt()) {
            return None;
        }
        let inverse = rebuild(&vectors, &values.iter().map(|value| 1.0 / value).collect::<Vec<f64>>());
        let right: Vec<f64> = (0..p).map(|i| self.at(i, p)).collect();
        let times = |row: usize, x: &[f64]| (0..p).map(|k| inverse[(row, k)] * x[k]).sum::<f64>();
        let weights: Vec<f64> = (0..p).map(|i| times(i, &right)).collect();
        let middle = self.residual_covariance(&weights);
        let residual = (self.at(p, p) - crate::estimate::dot(&weights, &right)).max(0.0) / self.count();
        let covariance = &inverse * &middle * &inverse;
        let rows = |matrix: &Mat<f64>| -> Vec<Vec<f64>> {
            (0..p).map(|i| (0..p).map(|j| matrix[(i, j)]).collect()).collect()
        };
        let sampling = Mat::from_fn(p, p, |i, j| inverse[(i, j)] * residual);
        Some(Fit { weights, covariance: rows(&covariance), sampling: rows(&sampling) })
    }

    /// The covariance of db − dG·w: entries of G and b are noisy independently, but G is symmetric.
    fn residual_covariance(&self, w: &[f64]) -> Mat<f64> {
        let half = 0.5 * self.noise * self.noise;
        let square = crate::estimate::square(w);
        Mat::from_fn(w.len(), w.len(), |i, k| {
            if i == k { half * (1.0 + square + w[i] * w[i]) } else { half * w[i] * w[k] }
        })
    }
}

fn eigen(matrix: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let finite = (0..matrix.nrows()).all(|i| (0..matrix.ncols()).all(|j| matrix[(i, j)].is_finite()));
    if !finite {
        return None;
    }
    let parts = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    let values = (0..matrix.nrows()).map(|i| parts.S()[i]).collect();
    Some((values, parts.U().to_owned()))
}

fn rebuild(vectors: &Mat<f64>, values: &[f64]) -> Mat<f64> {
    let n = values.len();
    Mat::from_fn(n, n, |i, j| (0..n).map(|k| vectors[(i, k)] * values[k] * vectors[(j, k)]).sum())
}

fn with_raised_eigenvalues(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    let (values, vectors) = eigen(matrix)?;
    let raised: Vec<f64> = values.into_iter().map(|value| value.max(1e-9)).collect();
    Some(rebuild(&vectors, &raised))
}
