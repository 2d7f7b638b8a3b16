//! Extreme eigenvalues by shift and invert: for operators that elimination can factor, such as long rings, whose
//! gap plain Lanczos would need thousands of steps to resolve.
//!
//! Lanczos on the inverse of `B + τI` (low end) or of `σI − B` (high end) with full orthogonalisation, restarted from
//! its best vector, and with the shift moved closer until the residual is small. That `σI − B` can be factored
//! proves that no eigenvalue lies above σ.

use super::elimination::{Factor, Shifted, Stopped};
use super::lanczos::{Eigenvalue, measure, project, remove_and_scale, start_vector};
use super::operator::Operator;
use super::tridiagonal::{End, Tridiagonal};
use super::vector::{dot, norm};

/// Vectors of the basis between restarts.
const BASIS: usize = 24;

/// Shifts tried before giving up.
const SHIFTS: usize = 16;

/// A residual, relative to the value, that is accepted when all shifts have been tried.
const ACCEPTED: f64 = 1e-7;

/// The eigenvalue at one end, from a rough `guess` of it; `None` where elimination fills in or the search fails.
///
/// `wanted` is the residual that is small enough.
pub(super) fn extreme(
    operator: &Operator<'_>,
    end: End,
    guess: Eigenvalue,
    wanted: f64,
) -> Option<Eigenvalue> {
    let mut vector = start_vector(operator);
    let mut best = guess;
    let mut margin = match end {
        End::Low => guess.value * 1e-3,
        End::High => guess.residual * 0.01 + 1e-12 * guess.value,
    };
    for _ in 0..SHIFTS {
        let shifted = match end {
            End::Low => Shifted { sign: 1.0, shift: margin },
            End::High => Shifted { sign: -1.0, shift: best.value + margin },
        };
        let factor = match Factor::new(operator, shifted) {
            Ok(factor) => factor,
            Err(Stopped::Fill) => return None,
            Err(Stopped::Indefinite) => {
                margin *= 4.0;
                continue;
            }
        };
        vector = lanczos_on_inverse(operator, &factor, vector);
        let before = best.value;
        best = measure(operator, vector.clone());
        if best.residual <= wanted {
            return Some(best);
        }
        margin = match end {
            End::Low => best.value * 1e-3,
            // Bold: should the shift fall below the eigenvalue, elimination finds that out.
            End::High => 0.1 * (best.value - before).abs() + 1e-14 * best.value,
        };
    }
    (best.residual <= ACCEPTED * best.value).then_some(best)
}

/// The vector of the largest eigenvalue of the inverse in the Krylov space of `start`.
fn lanczos_on_inverse(operator: &Operator<'_>, factor: &Factor, start: Vec<f64>) -> Vec<f64> {
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut basis = vec![start];
    loop {
        let last = basis.last().expect("the basis begins with the start");
        let mut next = last.clone();
        factor.solve(&mut next);
        diagonal.push(dot(last, &next));
        let before = norm(&next);
        for _ in 0..2 {
            orthogonalise(operator, &basis, &mut next);
        }
        let beta = norm(&next);
        beside.push(beta);
        let matrix = Tridiagonal::new(&diagonal, &beside);
        if basis.len() == BASIS || beta <= 1e-13 * before {
            let coefficients = matrix.eigenvector(matrix.eigenvalue(End::High, 0));
            let mut sum = vec![0.0; operator.len()];
            for (factor, vector) in coefficients.iter().zip(&basis) {
                sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += factor * x);
            }
            let scale = 1.0 / norm(&sum);
            sum.iter_mut().for_each(|x| *x *= scale);
            return sum;
        }
        next.iter_mut().for_each(|x| *x /= beta);
        basis.push(next);
    }
}

fn orthogonalise(operator: &Operator<'_>, basis: &[Vec<f64>], vector: &mut [f64]) {
    let along = project(operator, vector);
    remove_and_scale(operator, vector, along, 1.0);
    for other in basis {
        let along = dot(other, vector);
        vector.iter_mut().zip(other).for_each(|(x, other)| *x -= along * other);
    }
}
