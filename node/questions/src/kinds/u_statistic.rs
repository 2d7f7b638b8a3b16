//! U-statistics of pairs of records from a noisy table: noise taken off the square, and its deviation.

use crate::estimate::{Estimate, dot, square};

/// A symmetric kernel over categories, as a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    size: usize,
    entries: Vec<f64>,
}

impl Kernel {
    /// The kernel with entry `f(i, j)`.
    #[must_use]
    pub fn new(size: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..size * size).map(|at| f(at / size, at % size)).collect();
        Self { size, entries }
    }

    /// |x − x′|: Gini's mean difference.
    #[must_use]
    pub fn distance(points: &[f64]) -> Self {
        Self::new(points.len(), |i, j| (points[i] - points[j]).abs())
    }

    /// (x − x′)²/2: the variance.
    #[must_use]
    pub fn half_square(points: &[f64]) -> Self {
        Self::new(points.len(), |i, j| (points[i] - points[j]) * (points[i] - points[j]) / 2.0)
    }

    /// sign(i − i′)·sign(j − j′) over a table of `rows` × `columns` cells: Kendall's τ.
    #[must_use]
    pub fn concordance(rows: usize, columns: usize) -> Self {
        let sign = |a: usize, b: usize| (a > b) as i8 - (a < b) as i8;
        Self::new(rows * columns, |p, q| {
            f64::from(sign(p / columns, q / columns) * sign(p % columns, q % columns))
        })
    }

    /// Number of categories.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Row i.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.size..(i + 1) * self.size]
    }

    /// A·x.
    pub(crate) fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.size).map(|i| dot(self.row(i), x)).collect()
    }

    /// The diagonal.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.row(i)[i]).collect()
    }

    pub(crate) fn sum_of_squares(&self) -> f64 {
        square(&self.entries)
    }
}

/// U = (yᵀAy − s²·tr A − diag(A)·y)/(N(N − 1)) and its deviation, first and second order.
#[must_use]
pub fn from_table(kernel: &Kernel, sum: &[f64], noise: f64) -> Estimate {
    let n: f64 = sum.iter().sum();
    let image = kernel.times(sum);
    let diagonal = kernel.diagonal();
    let bias = noise * noise * diagonal.iter().sum::<f64>() + dot(&diagonal, sum);
    let u = (dot(sum, &image) - bias) / (n * (n - 1.0));
    let gradient: Vec<f64> = image.iter().map(|value| 2.0 * (value / n - u) / n).collect();
    let second = 2.0 * libm::pow(noise, 4.0) * kernel.sum_of_squares() / libm::pow(n, 4.0);
    // Hoeffding's first projection, read off the same table: 4·Var(h₁)/N.
    let mean: f64 = dot(sum, &image) / (n * n);
    let spread = image.iter().zip(sum).map(|(value, count)| count * (value / n - mean) * (value / n - mean));
    let sampling = 4.0 * spread.sum::<f64>() / (n * n);
    Estimate::new(u, (noise * noise * square(&gradient) + second).sqrt()).sampled(sampling)
}
