//! What each message tells about the next one, the last one and the first one: three block columns of systems with the covariance of all.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par};

/// −p, q and o, message by message.
pub(super) struct Predictor {
    heard: usize,
    /// Row by row; three times as many columns as nodes are heard.
    rows: Vec<f64>,
}

impl Predictor {
    /// From the moments EᵀVʲE for j below twice the number of rounds, row by row; none where the covariance has no Cholesky factor.
    pub(super) fn new(moments: &[Vec<f64>], heard: usize, rounds: usize) -> Option<Self> {
        let size = heard * rounds;
        let mut covariance = lower_covariance(moments, heard, rounds);
        let mut columns = Mat::zeros(size, 3 * heard);
        for at in 0..heard {
            columns[(size - heard + at, heard + at)] = 1.0;
            columns[(at, 2 * heard + at)] = 1.0;
        }
        predicted(moments, heard, rounds, &mut columns);
        let scratch = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let (regularization, spec) = (Default::default(), Default::default());
        cholesky_in_place(covariance.as_mut(), regularization, Par::Seq, stack, spec).ok()?;
        solve_lower_triangular_in_place(covariance.as_ref(), columns.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(covariance.transpose(), columns.as_mut(), Par::Seq);
        let sign = |column: usize| if column < heard { -1.0 } else { 1.0 };
        let rows = (0..size).flat_map(|row| (0..3 * heard).map(move |column| (row, column)));
        let rows: Vec<f64> = rows.map(|(row, column)| sign(column) * columns[(row, column)]).collect();
        rows.iter().all(|x| x.is_finite()).then_some(Self { heard, rows })
    }

    /// Weights of one node's message of one step, counted from 0, in −p, q and o.
    pub(super) fn weights(&self, step: usize, from: usize) -> impl Iterator<Item = &[f64]> {
        let row = (step * self.heard + from) * 3 * self.heard;
        self.rows[row..row + 3 * self.heard].chunks_exact(self.heard)
    }
}

/// K(s, t) for s ≥ t by K(s, t) = K(s−1, t−1) + M(s+t−2), counted from 1.
fn lower_covariance(moments: &[Vec<f64>], heard: usize, rounds: usize) -> Mat<f64> {
    let mut covariance = Mat::zeros(heard * rounds, heard * rounds);
    for late in 0..rounds {
        for early in 0..=late {
            let moment = &moments[late + early];
            for (j, i) in (0..heard).flat_map(|j| (0..heard).map(move |i| (j, i))) {
                let before = match early {
                    0 => 0.0,
                    _ => covariance[((late - 1) * heard + i, (early - 1) * heard + j)],
                };
                covariance[(late * heard + i, early * heard + j)] = before + moment[i * heard + j];
            }
        }
    }
    covariance
}

/// K(s, T+1) into the first columns.
fn predicted(moments: &[Vec<f64>], heard: usize, rounds: usize, columns: &mut Mat<f64>) {
    for step in 1..=rounds {
        for (i, j) in (0..heard).flat_map(|i| (0..heard).map(move |j| (i, j))) {
            let lags = (0..step).map(|at| rounds + 1 - step + 2 * at);
            columns[((step - 1) * heard + i, j)] = lags.map(|lag| moments[lag][i * heard + j]).sum();
        }
    }
}
