//! Figures as papers print them, under their own names, so that users can compare papers with truth.
//!
//! None of these is a guarantee. The sum over messages of the Muffliato paper (NeurIPS 2022) composes the losses of single messages as
//! if their noises were independent; they are not, and the exact loss is larger on most pairs. The closed form for random walks
//! (ICML 2024) is an average over paths. The sum of the paper on matrix factorisation (ICLR 2026) takes contributions for
//! independent of what was received, which those of SGD are not, and it can pass the loss of somebody who sees everything.

use super::error::{NetworkError, positive};
use super::linear;
use super::run::{Run, Watchers};
use super::sparse::{Csr, LANES, padded};
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};
use topology::MixingMatrix;

/// A published formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Formula {
    /// [`muffliato`].
    #[default]
    #[serde(rename = "muffliato-2022")]
    Muffliato2022,
    /// [`random_walk`].
    #[serde(rename = "random-walk-2024")]
    RandomWalk2024,
    /// [`matrix_factorisation`].
    #[serde(rename = "matrix-factorisation-2026")]
    MatrixFactorisation2026,
}

impl Formula {
    /// All formulas.
    pub const ALL: [Self; 3] = [Self::Muffliato2022, Self::RandomWalk2024, Self::MatrixFactorisation2026];

    /// The name that reports and flags use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Muffliato2022 => "muffliato-2022",
            Self::RandomWalk2024 => "random-walk-2024",
            Self::MatrixFactorisation2026 => "matrix-factorisation-2026",
        }
    }

    /// Which one, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Muffliato2022 => "Per-message sum of Muffliato, NeurIPS 2022",
            Self::RandomWalk2024 => "Closed form for random walks, ICML 2024",
            Self::MatrixFactorisation2026 => {
                "Sum over pairs of contributions of the paper on matrix factorisation, ICLR 2026"
            }
        }
    }
}

/// Most nodes for the closed form, which needs all eigenvectors.
const CLOSED_FORM_NODES: usize = 5_000;

/// Per-message sum of the Muffliato paper: Σ_{t<K} Σ_{w ∈ N(v)} (W^t)_{wu}² / ‖(W^t)_w‖², for Δ = σ = 1, of every node towards `watcher`.
///
/// # Guarantee
/// None. It is what the paper reports for one contribution followed by K gossip steps.
pub fn muffliato(matrix: &MixingMatrix, steps: usize, watcher: usize) -> Result<Vec<f64>, NetworkError> {
    let nodes = matrix.nodes();
    if watcher >= nodes {
        return Err(NetworkError::WatcherOutside { watcher, nodes });
    }
    let push = Csr::backward(matrix);
    let heard: Vec<usize> = matrix.heard_by(watcher).collect();
    let mut sums = vec![0.0; nodes];
    for heard in heard.chunks(2 * LANES) {
        let width = padded(heard.len());
        let mut rows = vec![0.0; nodes * width];
        heard.iter().enumerate().for_each(|(lane, &node)| rows[node * width + lane] = 1.0);
        for step in 0..steps {
            if step > 0 {
                let mut next = vec![0.0; rows.len()];
                push.multiply(width, &rows, &mut next);
                rows = next;
            }
            add_normalised_squares(&rows, width, heard.len(), &mut sums);
        }
    }
    sums[watcher] = 0.0;
    Ok(sums)
}

fn add_normalised_squares(rows: &[f64], width: usize, count: usize, sums: &mut [f64]) {
    let mut norms = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        norms.iter_mut().zip(row).for_each(|(norm, x)| *norm += x * x);
    }
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(width)) {
        *sum += row[..count].iter().zip(&norms).map(|(x, norm)| x * x / norm).sum::<f64>();
    }
}

/// Closed form for random walks: ε_{u→v}(α) = (αΔ²T/(σ²n))·(ln(T)/n + [−ln(I − W + 11ᵀ/n)]_{uv}), as μ² with D_α = αμ²/2 and Δ = σ = 1; row v
/// holds the losses towards v.
///
/// # Guarantee
/// None for a run that was made: an average over the paths of a walk of `visits` steps, as the paper reports it.
///
/// # Errors
/// A matrix that is not symmetric, a graph that is not connected, more than 5,000 nodes, or no visit.
pub fn random_walk(matrix: &MixingMatrix, visits: usize) -> Result<Vec<Vec<f64>>, NetworkError> {
    let nodes = matrix.nodes();
    positive("the number of visits", visits as f64)?;
    if !matrix.is_symmetric() {
        return Err(NetworkError::Unsupported {
            analysis: "published",
            what: "weights that are not symmetric",
        });
    }
    if nodes > CLOSED_FORM_NODES {
        return Err(NetworkError::TooLarge {
            method: "the closed form",
            size: nodes,
            limit: CLOSED_FORM_NODES,
        });
    }
    let share = 1.0 / nodes as f64;
    let operator = Mat::from_fn(nodes, nodes, |i, j| f64::from(i == j) - matrix.weight(i, j) + share);
    let eigen = operator.self_adjoint_eigen(Side::Lower).map_err(|_| NetworkError::Unsupported {
        analysis: "published",
        what: "a matrix whose eigenvalues do not converge",
    })?;
    let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
    if values.iter().any(|&value| value < 1e-12) {
        return Err(NetworkError::Unsupported {
            analysis: "published",
            what: "a graph that is not connected",
        });
    }
    let vectors = eigen.U();
    let scaled = Mat::from_fn(nodes, nodes, |i, k| -vectors[(i, k)] * libm::log(values[k]));
    let logarithm = scaled * vectors.transpose();
    let visits = visits as f64;
    let constant = libm::log(visits) * share;
    // ε(α) = α·c, and D_α = αμ²/2 gives μ² = 2c.
    let loss =
        |v: usize, u: usize| if u == v { 0.0 } else { 2.0 * visits * share * (constant + logarithm[(u, v)]) };
    Ok((0..nodes).map(|v| (0..nodes).map(|u| loss(v, u)).collect()).collect())
}

/// Sum of the paper on matrix factorisation: Σ_{s,t} |X_u(s,t)| with X_u the projection on the view of `watcher` restricted to the
/// contributions of u, for `rounds` contributions with one gossip step after each and Δ = σ = 1. At order 2 it is the Rényi divergence.
///
/// # Guarantee
/// None for SGD, whose contributions depend on hidden states; otherwise [`super::linear::loss`] is never larger.
///
/// # Errors
/// No contribution, or a watcher that is not there.
pub fn matrix_factorisation(
    matrix: &MixingMatrix,
    rounds: usize,
    watcher: usize,
) -> Result<Vec<f64>, NetworkError> {
    let watchers = Watchers::new(&[watcher], matrix.nodes())?;
    let run = Run::on_graph(matrix.clone(), 1, rounds)?;
    linear::sums_with(&mut linear::Scratch::default(), &run, &watchers)
}
