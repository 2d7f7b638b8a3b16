//! `kendall(x, y)`: τ-b from a table of 8 × 8 bins.

use super::u_statistic::{Kernel, from_table};
use crate::estimate::Estimate;

/// τ-a: pairs in order minus pairs out of order, over all pairs.
#[must_use]
pub fn tau_a(rows: usize, columns: usize, sum: &[f64], noise: f64) -> Estimate {
    from_table(&Kernel::concordance(rows, columns), sum, noise)
}

/// τ-b: over the pairs that no tie leaves out, noise taken off the ties too.
#[must_use]
pub fn tau_b(rows: usize, columns: usize, sum: &[f64], noise: f64) -> Estimate {
    let tau = tau_a(rows, columns, sum, noise);
    let n: f64 = sum.iter().sum();
    let cells = (rows * columns) as f64;
    let row_sum = |i: usize| sum[i * columns..(i + 1) * columns].iter().sum::<f64>();
    let column_sum = |j: usize| (0..rows).map(|i| sum[i * columns + j]).sum::<f64>();
    let ties = |squares: f64| (squares - cells * noise * noise - n) / (n * (n - 1.0));
    let ties_x = ties((0..rows).map(|i| row_sum(i) * row_sum(i)).sum());
    let ties_y = ties((0..columns).map(|j| column_sum(j) * column_sum(j)).sum());
    let scale = ((1.0 - ties_x) * (1.0 - ties_y)).sqrt();
    Estimate {
        value: tau.value / scale,
        deviation: tau.deviation / scale,
        sampling: tau.sampling.map(|variance| variance / (scale * scale)),
    }
}
