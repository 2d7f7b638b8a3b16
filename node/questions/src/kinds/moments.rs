//! `corr`, `linreg`: the triangle of zzᵀ with z = (1, columns scaled to ±1), off-diagonal times √2, so that its norm is
//! ‖z‖² ≤ p + 1.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::eigen::Eigen;
use crate::estimate::{Estimate, dot, square};

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
        let covariance = square_matrix(p, |i, j| self.covariance(i + 1, j + 1));
        let Some(eigen) = Eigen::new(&covariance) else {
            return vec![vec![f64::NAN; p]; p];
        };
        let raised = eigen.map(|value| value.max(1e-9));
        let scale = |i: usize| raised[i][i].sqrt();
        let entry = |i: usize, j: usize| (raised[i][j] / (scale(i) * scale(j))).clamp(-1.0, 1.0);
        square_matrix(p, |i, j| if i == j { 1.0 } else { entry(i, j) })
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
        let eigen = Eigen::new(&square_matrix(p, |i, j| self.at(i, j)))?;
        if !(eigen.least() >= 4.0 * self.noise * (p as f64).sqrt() && eigen.least() > 0.0) {
            return None;
        }
        let inverse = eigen.map(|value| 1.0 / value);
        let right: Vec<f64> = (0..p).map(|i| self.at(i, p)).collect();
        let weights: Vec<f64> = inverse.iter().map(|row| dot(row, &right)).collect();
        let covariance = product(&product(&inverse, &self.residual_covariance(&weights)), &inverse);
        let residual = (self.at(p, p) - dot(&weights, &right)).max(0.0) / self.count();
        let sampling = square_matrix(p, |i, j| inverse[i][j] * residual);
        Some(Fit { weights, covariance, sampling })
    }

    /// The covariance of db − dG·w: entries of G and b are noisy independently, but G is symmetric.
    fn residual_covariance(&self, w: &[f64]) -> Vec<Vec<f64>> {
        let half = 0.5 * self.noise * self.noise;
        square_matrix(w.len(), |i, k| {
            if i == k { half * (1.0 + square(w) + w[i] * w[i]) } else { half * w[i] * w[k] }
        })
    }
}

fn square_matrix(size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
}

fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = left.len();
    square_matrix(n, |i, j| (0..n).map(|k| left[i][k] * right[k][j]).sum())
}
