//! Extreme eigenpairs of a large sparse operator by the Lanczos recurrence, in the memory of a few vectors.
//!
//! No reorthogonalisation: rounding then makes copies of eigenvalues that have converged already, which does not
//! harm the extreme ones (Paige, "Error analysis of the Lanczos algorithm", 1976), and each end takes its
//! eigenvector from the step at which it converged, before copies of it appear. The known kernel is projected
//! out in every step, else it would come back as the smallest eigenvalue. Where the basis does not fit a fixed
//! memory the recurrence, which repeats to the bit, is run a second time to sum up the eigenvectors.
//!
//! Where an end has not converged after some hundred steps and the graph has few edges, [`super::inverse`] is tried.
//!
//! Invariant: values and residuals returned are recomputed from the eigenvectors, not taken from the recurrence.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::inverse;
use super::operator::Operator;
use super::tridiagonal::{End, Tridiagonal};
use super::vector::{dot, norm, reduce};
use crate::error::TopologyError;

/// Wanted residual relative to the eigenvalue at the low end, and to the largest eigenvalue at the high end.
const RESIDUAL: f64 = 1e-6;

/// Wanted error of the eigenvalue itself, estimated by residual² over the distance to the next one.
const VALUE_ERROR: f64 = 1e-10;

/// Residual that is enough once [`MUCH_WORK`] has been done. The edge of the spectrum of a large random graph is
/// dense: full precision would take a number of steps that grows with the cube root of its size.
const ROUGH_RESIDUAL: f64 = 1e-3;

/// Multiplications after which [`ROUGH_RESIDUAL`] is enough.
const MUCH_WORK: usize = 2_000_000_000;

/// A residual relative to the largest eigenvalue that rounding does not let fall further.
const ROUNDING: f64 = 2e-14;

/// Worst residual, relative to the value, that is still an answer.
const USELESS: f64 = 0.05;

/// Steps after which an end that has not converged is called hard.
const HARD_AFTER: usize = 400;

/// Entries per node up to which elimination is tried on a hard end.
const SPARSE: usize = 6;

/// Numbers of the basis that may be kept, so that no second run is needed (64 MiB).
const BASIS_NUMBERS: usize = 8 << 20;

/// Multiplications after which the search is given up.
const PATIENCE: usize = 400_000_000_000;

/// An eigenvalue and the bound on its distance to a true one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eigenvalue {
    pub(super) value: f64,
    pub(super) residual: f64,
}

/// Both ends of a spectrum without the kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes {
    pub(super) low: Eigenvalue,
    pub(super) high: Eigenvalue,
    pub(super) iterations: usize,
}

/// The smallest (if `low_wanted`; else it may be rough) and the largest eigenvalue beside the kernel.
///
/// # Errors
/// A smallest eigenvalue that did not converge to a useful precision.
pub(super) fn extremes(operator: &Operator<'_>, low_wanted: bool) -> Result<Extremes, TopologyError> {
    let mut search = Search::new(operator, low_wanted);
    recur(operator, |q, alpha, beta| search.advance(q, alpha, beta));
    let iterations = search.diagonal.len();
    let (low, high) = search.eigenvalues();
    if low_wanted && low.residual > USELESS * low.value {
        return Err(TopologyError::NotConverged { iterations, residual: low.residual });
    }
    Ok(Extremes { low, high, iterations })
}

/// How an end of the spectrum was found.
#[derive(Debug, Clone)]
enum Found {
    /// By the recurrence: coefficients of the eigenvector in the basis.
    Coefficients(Vec<f64>),
    /// By elimination.
    Directly(Eigenvalue),
}

impl Found {
    fn coefficients(&self) -> &[f64] {
        match self {
            Self::Coefficients(coefficients) => coefficients,
            Self::Directly(_) => &[],
        }
    }
}

struct Search<'a> {
    operator: &'a Operator<'a>,
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// The basis so far, while it fits.
    basis: Option<Vec<f64>>,
    low: Option<Found>,
    high: Option<Found>,
    low_wanted: bool,
    /// Whether elimination may still be tried.
    try_elimination: bool,
    next_check: usize,
    rough_from: usize,
    most_steps: usize,
}

impl<'a> Search<'a> {
    fn new(operator: &'a Operator<'a>, low_wanted: bool) -> Self {
        Self {
            operator,
            diagonal: Vec::new(),
            beside: Vec::new(),
            basis: Some(Vec::new()),
            low: None,
            high: None,
            low_wanted,
            try_elimination: operator.entries() <= SPARSE * operator.len(),
            next_check: 1,
            rough_from: MUCH_WORK / operator.entries().max(1),
            most_steps: (PATIENCE / (operator.entries() + 10 * operator.len())).max(300),
        }
    }

    /// Takes in one step of the recurrence; returns whether to go on.
    fn advance(&mut self, q: &[f64], alpha: f64, beta: f64) -> bool {
        self.diagonal.push(alpha);
        self.beside.push(beta);
        match &mut self.basis {
            Some(basis) if basis.len() + q.len() <= BASIS_NUMBERS => basis.extend_from_slice(q),
            basis => *basis = None,
        }
        let steps = self.diagonal.len();
        let last = beta == 0.0 || steps >= self.most_steps;
        if steps >= self.next_check || last {
            self.next_check = steps + (steps / 8).max(4);
            let largest = Tridiagonal::new(&self.diagonal, &self.beside).eigenvalue(End::High, 0);
            for end in [End::Low, End::High] {
                self.check(end, largest, last);
            }
        }
        self.low.is_none() || self.high.is_none()
    }

    /// Finds out whether one end has converged, and if so (or if this is the last step) keeps it.
    fn check(&mut self, end: End, largest: f64, last: bool) {
        if self.slot(end).is_some() {
            return;
        }
        let matrix = Tridiagonal::new(&self.diagonal, &self.beside);
        let steps = self.diagonal.len();
        let value = if end == End::High { largest } else { matrix.eigenvalue(end, 0) };
        let coefficients = matrix.eigenvector(value);
        let residual = self.beside[steps - 1] * coefficients[steps - 1].abs();
        let scale = if end == End::Low { value } else { largest };
        let precise = || {
            let distance = if steps > 1 { (matrix.eigenvalue(end, 1) - value).abs() } else { 0.0 };
            residual * residual <= VALUE_ERROR * scale * distance
        };
        let close = residual <= RESIDUAL * scale && precise();
        let unwanted = end == End::Low && !self.low_wanted;
        let enough = steps >= self.rough_from && residual <= ROUGH_RESIDUAL * scale;
        if last || unwanted || close || enough || residual <= ROUNDING * largest {
            *self.slot(end) = Some(Found::Coefficients(coefficients));
        } else if steps >= HARD_AFTER && self.try_elimination {
            let wanted = (RESIDUAL * scale).min(1e-10 * largest).max(ROUNDING * largest);
            let found = inverse::extreme(self.operator, end, Eigenvalue { value, residual }, wanted);
            self.try_elimination = found.is_some();
            *self.slot(end) = found.map(Found::Directly);
        }
    }

    fn slot(&mut self, end: End) -> &mut Option<Found> {
        match end {
            End::Low => &mut self.low,
            End::High => &mut self.high,
        }
    }

    /// The two eigenvalues, with vectors from the basis or from a second run of the recurrence.
    fn eigenvalues(self) -> (Eigenvalue, Eigenvalue) {
        let operator = self.operator;
        let none = Found::Coefficients(Vec::new());
        let ends = [self.low.unwrap_or(none.clone()), self.high.unwrap_or(none)];
        let longest = ends.iter().map(|end| end.coefficients().len()).max().unwrap_or(0);
        let mut vectors = [vec![0.0; operator.len()], vec![0.0; operator.len()]];
        let mut step = 0;
        let mut add = |q: &[f64]| {
            for (end, vector) in ends.iter().zip(&mut vectors) {
                if let Some(&factor) = end.coefficients().get(step) {
                    reduce(vector, operator.parallel(), |start, chunk| {
                        chunk.iter_mut().zip(&q[start..]).for_each(|(x, q)| *x += factor * q);
                        [0.0; 2]
                    });
                }
            }
            step += 1;
            step < longest
        };
        match self.basis {
            _ if longest == 0 => {}
            Some(basis) => basis.chunks_exact(operator.len()).take(longest).for_each(|q| {
                add(q);
            }),
            None => recur(operator, |q, _, _| add(q)),
        }
        let [low, high] = ends;
        let [low_vector, high_vector] = vectors;
        let value = |found: Found, vector: Vec<f64>| match found {
            Found::Directly(eigenvalue) => eigenvalue,
            Found::Coefficients(_) => measure(operator, vector),
        };
        (value(low, low_vector), value(high, high_vector))
    }
}

/// Runs the recurrence and calls `observe(q_j, α_j, β_j)` until that returns false or the space is exhausted, which
/// the last call is told by `β = 0`.
fn recur(operator: &Operator<'_>, mut observe: impl FnMut(&[f64], f64, f64) -> bool) {
    let size = operator.len();
    let mut q = start_vector(operator);
    let mut before = vec![0.0; size];
    let mut next = vec![0.0; size];
    let (mut beta, mut largest) = (0.0f64, 0.0f64);
    loop {
        let alpha = operator.apply(&q, &mut next);
        let [along, squared] = reduce(&mut next, operator.parallel(), |start, chunk| {
            for ((x, q), before) in chunk.iter_mut().zip(&q[start..]).zip(&before[start..]) {
                *x -= alpha * q + beta * before;
            }
            [operator.along_kernel(start, chunk), dot(chunk, chunk)]
        });
        beta = (squared - along * along).max(0.0).sqrt();
        largest = largest.max(alpha.abs()).max(beta);
        if beta <= 1e-12 * largest {
            observe(&q, alpha, 0.0);
            return;
        }
        remove_and_scale(operator, &mut next, along, 1.0 / beta);
        if beta < 1e-3 * largest {
            // What was left is small, so the rounding of the first projection is not.
            let along = project(operator, &next);
            remove_and_scale(operator, &mut next, along, 1.0);
        }
        if !observe(&q, alpha, beta) {
            return;
        }
        std::mem::swap(&mut before, &mut q);
        std::mem::swap(&mut q, &mut next);
    }
}

/// A random unit vector without a part along the kernel, the same every time.
pub(super) fn start_vector(operator: &Operator<'_>) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(0x5eed);
    let uniform = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut vector: Vec<f64> = (0..operator.len()).map(|_| uniform(rng.next_u64())).collect();
    for _ in 0..2 {
        let along = project(operator, &vector);
        remove_and_scale(operator, &mut vector, along, 1.0);
        let scale = 1.0 / norm(&vector);
        vector.iter_mut().for_each(|x| *x *= scale);
    }
    vector
}

pub(super) fn project(operator: &Operator<'_>, vector: &[f64]) -> f64 {
    const CHUNK: usize = 1024;
    let parts = vector.chunks(CHUNK).enumerate();
    parts.map(|(chunk, slice)| operator.along_kernel(chunk * CHUNK, slice)).sum()
}

/// `vector = (vector − along · kernel) · scale`.
pub(super) fn remove_and_scale(operator: &Operator<'_>, vector: &mut [f64], along: f64, scale: f64) {
    reduce(vector, operator.parallel(), |start, chunk| {
        for (i, x) in (start..).zip(chunk.iter_mut()) {
            *x = (*x - along * operator.kernel(i)) * scale;
        }
        [0.0; 2]
    });
}

/// The Rayleigh quotient of a vector and the norm of its residual.
pub(super) fn measure(operator: &Operator<'_>, mut vector: Vec<f64>) -> Eigenvalue {
    let along = project(operator, &vector);
    remove_and_scale(operator, &mut vector, along, 1.0);
    let scale = 1.0 / norm(&vector);
    vector.iter_mut().for_each(|x| *x *= scale);
    let value = operator.energy(&vector);
    let mut image = vec![0.0; vector.len()];
    operator.apply(&vector, &mut image);
    image.iter_mut().zip(&vector).for_each(|(image, x)| *image -= value * x);
    Eigenvalue { value, residual: norm(&image) }
}
