//! A linear score, learnt from runs of which the truth is known: the likelihood ratio of two Gaussians with one covariance.

/// Added to the diagonal, relative to its largest entry: copies of one message make the covariance singular.
const RIDGE: f64 = 1e-9;

/// Most features that enter; more would be more than the trials can tell about.
const MOST_FEATURES: usize = 256;

/// Weights w = Σ⁻¹(m₁ − m₀) on the features that differ most.
///
/// # Guarantee
/// For views that are Gaussian with the same covariance with and without the change, the weights tend to those of the likelihood ratio, the most powerful
/// test (Neyman and Pearson 1933). For all others the score is only a score: bounds made with it stay bounds.
#[derive(Debug, Clone)]
pub struct Score {
    chosen: Vec<usize>,
    weights: Vec<f64>,
}

impl Score {
    /// Learns from features of runs with and without the change. All rows have the same length.
    pub fn learn(with: &[Vec<f64>], without: &[Vec<f64>]) -> Self {
        let length = with.iter().chain(without).map(Vec::len).min().unwrap_or(0);
        let (one, zero) = (mean(with, length), mean(without, length));
        let chosen = choose(with, without, &one, &zero);
        let size = chosen.len();
        let mut covariance = vec![0.0; size * size];
        let mut count = 0.0;
        for (rows, mean) in [(with, &one), (without, &zero)] {
            for row in rows {
                let off: Vec<f64> = chosen.iter().map(|&at| row[at] - mean[at]).collect();
                for i in 0..size {
                    let line = &mut covariance[i * size..=i * size + i];
                    line.iter_mut().zip(&off).for_each(|(entry, other)| *entry += off[i] * other);
                }
            }
            count += rows.len() as f64;
        }
        let freedom = (count - 2.0).max(1.0);
        covariance.iter_mut().for_each(|entry| *entry /= freedom);
        let largest = (0..size).map(|i| covariance[i * size + i]).fold(0.0, f64::max);
        (0..size).for_each(|i| covariance[i * size + i] += RIDGE * largest + f64::MIN_POSITIVE);
        let apart: Vec<f64> = chosen.iter().map(|&at| one[at] - zero[at]).collect();
        let weights = solve(&mut covariance, apart);
        Self { chosen, weights }
    }

    /// The score of one run: larger speaks for the change.
    pub fn of(&self, features: &[f64]) -> f64 {
        self.chosen.iter().zip(&self.weights).map(|(&at, weight)| weight * features[at]).sum()
    }
}

/// Features by how far the means lie apart, and those that explain the noise: all where there are few.
fn choose(with: &[Vec<f64>], without: &[Vec<f64>], one: &[f64], zero: &[f64]) -> Vec<usize> {
    let most = MOST_FEATURES.min((with.len() + without.len()) / 8).max(1);
    let mut all: Vec<usize> = (0..one.len()).collect();
    if all.len() > most {
        let apart: Vec<f64> = all.iter().map(|&at| (one[at] - zero[at]).abs()).collect();
        all.sort_by(|&a, &b| apart[b].total_cmp(&apart[a]));
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

fn mean(rows: &[Vec<f64>], length: usize) -> Vec<f64> {
    let mut sum = vec![0.0; length];
    for row in rows {
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sum.iter().map(|sum| sum / rows.len().max(1) as f64).collect()
}

/// Solves a symmetric positive definite system whose lower triangle is given, by Cholesky; a pivot that is not positive is left out.
pub(crate) fn solve(lower: &mut [f64], mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
            let rest = lower[i * size + j] - dot;
            lower[i * size + j] = match (i == j, lower[j * size + j]) {
                (true, _) => {
                    if rest > 0.0 {
                        libm::sqrt(rest)
                    } else {
                        f64::INFINITY
                    }
                }
                (false, pivot) => rest / pivot,
            };
        }
    }
    for i in 0..size {
        let dot: f64 = (0..i).map(|k| lower[i * size + k] * right[k]).sum();
        right[i] = (right[i] - dot) / lower[i * size + i];
    }
    for i in (0..size).rev() {
        let dot: f64 = (i + 1..size).map(|k| lower[k * size + i] * right[k]).sum();
        right[i] = (right[i] - dot) / lower[i * size + i];
    }
    right
}

#[cfg(test)]
mod tests {
    use privacy::noise::{NoiseSource, danger_from_seed};

    use super::*;

    #[test]
    fn a_small_system_is_solved() {
        // [[4, 2], [2, 3]] x = [2, 5] has x = [−0.5, 2].
        let found = solve(&mut [4.0, 0.0, 2.0, 3.0], vec![2.0, 5.0]);
        assert!((found[0] + 0.5).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn noise_that_another_message_shows_is_taken_off() {
        // Feature 0 is signal plus a + b, feature 1 is a alone: the best score is feature 0 minus feature 1.
        let mut normals = vec![0.0; 4_000];
        danger_from_seed(1, "score").standard_normals(&mut normals);
        let rows = |signal: f64, part: &[f64]| -> Vec<Vec<f64>> {
            part.chunks(2).map(|pair| vec![signal + pair[0] + pair[1], pair[0]]).collect()
        };
        let score = Score::learn(&rows(1.0, &normals[..2_000]), &rows(0.0, &normals[2_000..]));
        // Standard deviation of an estimated weight is about √(2/1000).
        assert!((score.weights[0] - 1.0).abs() < 0.25 && (score.weights[1] + 1.0).abs() < 0.25, "{score:?}");
    }

    #[test]
    fn copies_of_a_message_do_no_harm() {
        let rows = |signal: f64| -> Vec<Vec<f64>> {
            (0..100).map(|i| vec![signal + f64::from(i % 10), signal + f64::from(i % 10)]).collect()
        };
        let score = Score::learn(&rows(1.0), &rows(0.0));
        assert!(score.of(&[1.0, 1.0]).is_finite() && score.of(&[1.0, 1.0]) > score.of(&[0.0, 0.0]));
    }
}
