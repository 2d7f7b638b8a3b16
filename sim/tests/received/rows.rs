//! The span of what somebody knows.

/// What is this much smaller than its row is rounding of single precision; dropping it makes the loss smaller, so it can hide a fault and never invent one.
const NEW: f64 = 1e-4;

/// An orthonormal basis that grows by what is new.
#[derive(Default)]
pub(crate) struct Rows(Vec<Vec<f64>>);

impl Rows {
    pub(crate) fn add(&mut self, row: &[f64]) {
        let norm = dot(row, row).sqrt();
        let mut rest = row.to_vec();
        // Twice: once leaves what rounding made of the first time.
        for _ in 0..2 {
            for known in &self.0 {
                let share = dot(known, &rest);
                rest.iter_mut().zip(known).for_each(|(x, k)| *x -= share * k);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if norm > 0.0 && left > NEW * norm {
            self.0.push(rest.into_iter().map(|x| x / left).collect());
        }
    }

    /// The projection on the span, restricted to some coordinates.
    pub(crate) fn restricted(&self, coordinates: &[usize]) -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| self.0.iter().map(|row| row[i] * row[j]).sum();
        coordinates.iter().map(|&i| coordinates.iter().map(|&j| entry(i, j)).collect()).collect()
    }
}

/// The largest sᵀPs over changes with entries of at most one that are tried: all alike, alternating, each alone, and random signs improved until they
/// stay.
pub(crate) fn worst(projection: &[Vec<f64>], mut coin: impl FnMut() -> bool) -> f64 {
    let size = projection.len();
    let mut starts = vec![vec![1.0; size], (0..size).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect()];
    for _ in 0..4 {
        starts.push((0..size).map(|_| if coin() { 1.0 } else { -1.0 }).collect());
    }
    let value =
        |change: &[f64]| -> f64 { projection.iter().zip(change).map(|(row, x)| x * dot(row, change)).sum() };
    let mut best: f64 = (0..size).map(|i| projection[i][i]).fold(0.0, f64::max);
    for mut change in starts {
        for _ in 0..8 {
            best = best.max(value(&change));
            change = projection.iter().map(|row| if dot(row, &change) < 0.0 { -1.0 } else { 1.0 }).collect();
        }
    }
    best
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
