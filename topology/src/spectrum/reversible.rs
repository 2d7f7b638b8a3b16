//! Whether a matrix is reversible, and its stationary law.
//!
//! `W` is reversible where a law π balances every pair: `π_i W_ij = π_j W_ji`. Then `R W R⁻¹` with `R = diag(√π)`
//! is symmetric and has the same, real, spectrum. π is found along a spanning forest and then checked on every
//! entry (Kolmogorov's criterion). Logarithms are used since π may span many orders of magnitude.

use crate::error::TopologyError;
use crate::matrix::MixingMatrix;

/// Largest relative violation of the balance of a pair that counts as rounding.
const BALANCE_TOLERANCE: f64 = 1e-9;

/// What the symmetric form of a matrix needs.
pub(super) struct Balance {
    /// Roots of the stationary law as a unit vector; `None` for a symmetric matrix, where they are all equal.
    pub(super) roots: Option<Vec<f64>>,
    /// Whether every node can reach every other.
    pub(super) connected: bool,
}

/// Finds the law that balances `matrix`.
///
/// # Errors
/// [`TopologyError::NotReversible`] where there is none.
pub(super) fn balance(matrix: &MixingMatrix) -> Result<Balance, TopologyError> {
    let nodes = matrix.nodes();
    if matrix.is_symmetric() {
        let connected = walk_support(matrix, |_, _| Ok(()))? == 1;
        return Ok(Balance { roots: None, connected });
    }
    let mut log_law = vec![f64::NAN; nodes];
    let parts = walk_support(matrix, |from, step| {
        log_law[step.to] = match from {
            None => 0.0,
            Some(from) => log_law[from] + libm::log(step.weight) - back(matrix, from, step.to)?,
        };
        Ok(())
    })?;
    check_every_pair(matrix, &log_law)?;
    let most = log_law.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut roots: Vec<f64> = log_law.iter().map(|log| libm::exp(0.5 * (log - most))).collect();
    let norm = super::vector::norm(&roots);
    roots.iter_mut().for_each(|root| *root = (*root / norm).max(f64::MIN_POSITIVE));
    Ok(Balance { roots: Some(roots), connected: parts == 1 })
}

/// An arrival at a node for the first time.
struct Arrival {
    to: usize,
    weight: f64,
}

/// Visits all nodes along non-zero weights, calls `arrive(from, arrival)` on each first visit (`from` is `None` at
/// the root of a part), and returns the number of parts.
fn walk_support(
    matrix: &MixingMatrix,
    mut arrive: impl FnMut(Option<usize>, Arrival) -> Result<(), TopologyError>,
) -> Result<usize, TopologyError> {
    let mut seen = vec![false; matrix.nodes()];
    let (mut stack, mut parts) = (Vec::new(), 0);
    for root in 0..matrix.nodes() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        parts += 1;
        arrive(None, Arrival { to: root, weight: 1.0 })?;
        stack.push(root as u32);
        while let Some(from) = stack.pop() {
            let (columns, values) = matrix.row(from as usize);
            for (&to, &weight) in columns.iter().zip(values).filter(|(_, weight)| **weight != 0.0) {
                if !std::mem::replace(&mut seen[to as usize], true) {
                    arrive(Some(from as usize), Arrival { to: to as usize, weight })?;
                    stack.push(to);
                }
            }
        }
    }
    Ok(parts)
}

/// Logarithm of the weight of the way back.
fn back(matrix: &MixingMatrix, from: usize, to: usize) -> Result<f64, TopologyError> {
    let weight = matrix.weight(to, from);
    if weight * matrix.weight(from, to) > 0.0 {
        Ok(libm::log(weight.abs()))
    } else {
        Err(TopologyError::NotReversible { from, to })
    }
}

fn check_every_pair(matrix: &MixingMatrix, log_law: &[f64]) -> Result<(), TopologyError> {
    for from in 0..matrix.nodes() {
        let (columns, values) = matrix.row(from);
        for (&to, &weight) in columns.iter().zip(values) {
            let to = to as usize;
            if to == from || weight == 0.0 {
                continue;
            }
            let there = log_law[from] + libm::log(weight.abs());
            let violation = (there - log_law[to] - back(matrix, from, to)?).abs();
            if violation.is_nan() || violation > BALANCE_TOLERANCE {
                return Err(TopologyError::NotReversible { from, to });
            }
        }
    }
    Ok(())
}
