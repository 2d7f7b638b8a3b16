//! The linear map from contributions to messages, as it was measured, and the space that a view spans.

use protocol::PeerIx;

use crate::score::solve;
use crate::stage::{Place, Played};

/// Rows that differ from the others by less, relative to their length, count as known. Messages are singles, so smaller differences are rounding.
const TOLERANCE: f64 = 1e-4;

/// What the messages are written as a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Whole contributions: right where they do not depend on hidden states.
    Contribution,
    /// The noise in them: right for every protocol that is linear in it, SGD on quadratic losses included.
    Noise,
}

/// The rows of a view over the contributions of all nodes.
pub(crate) struct View {
    /// Node and count of each contribution.
    pub(crate) columns: Vec<(PeerIx, u32)>,
    places: Vec<Place>,
    /// One per message: its coefficients.
    rows: Vec<Vec<f64>>,
    watcher: PeerIx,
    /// Largest part of a message that the rows do not explain, relative to the message.
    pub(crate) residue: f64,
}

impl View {
    /// Least squares over all coordinates of all runs, each coordinate's mean over runs taken off.
    pub(crate) fn of_runs(runs: &[Played], unknown: Unknown, watcher: PeerIx) -> Self {
        // What is not in every run cannot be compared between them.
        let in_all = |column: &&(PeerIx, u32)| runs.iter().all(|run| run.contributions.contains_key(*column));
        let columns: Vec<(PeerIx, u32)> = runs[0].contributions.keys().filter(in_all).copied().collect();
        let seen_in_all = |place: &&Place| runs.iter().all(|run| run.view.contains_key(*place));
        let places: Vec<Place> = runs[0].view.keys().filter(seen_in_all).copied().collect();
        let inputs: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                centred(runs, |run| {
                    let (whole, clean) = &run.contributions[column];
                    match unknown {
                        Unknown::Contribution => whole.iter().map(|&x| f64::from(x)).collect(),
                        Unknown::Noise => {
                            whole.iter().zip(clean).map(|(&x, &c)| f64::from(x) - f64::from(c)).collect()
                        }
                    }
                })
            })
            .collect();
        let size = columns.len();
        let mut gram = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                gram[i * size + j] = dot(&inputs[i], &inputs[j]);
            }
        }
        let (mut rows, mut residue) = (Vec::new(), 0.0_f64);
        for place in &places {
            let output = centred(runs, |run| run.view[place].iter().map(|&x| f64::from(x)).collect());
            let right: Vec<f64> = inputs.iter().map(|input| dot(input, &output)).collect();
            let row = solve(&mut gram.clone(), right);
            let mut rest = output.clone();
            for (weight, input) in row.iter().zip(&inputs) {
                rest.iter_mut().zip(input).for_each(|(rest, x)| *rest -= weight * x);
            }
            residue = residue.max((dot(&rest, &rest) / dot(&output, &output).max(f64::MIN_POSITIVE)).sqrt());
            rows.push(row);
        }
        Self { columns, places, rows, watcher, residue }
    }

    /// Columns of one node.
    pub(crate) fn columns_of(&self, node: PeerIx) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.columns[at].0 == node).collect()
    }

    /// What the watcher knows: its messages and its own contributions.
    pub(crate) fn space(&self) -> Space {
        let mut space = Space::new(self.columns.len());
        for own in self.columns_of(self.watcher) {
            let mut row = vec![0.0; self.columns.len()];
            row[own] = 1.0;
            space.add(&row);
        }
        self.rows.iter().for_each(|row| space.add(row));
        space
    }

    /// Root mean squared error of the best linear estimate of one contribution without its noise, measured on runs and by theory, relative to the prior.
    pub(crate) fn error_of(&self, space: &Space, column: usize, runs: &[Played]) -> (f64, f64) {
        let (mut square, mut prior, mut noise) = (0.0, 0.0, 0.0);
        for run in runs {
            let (whole, clean) = &run.contributions[&self.columns[column]];
            prior += clean.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
            noise += whole.iter().zip(clean).map(|(&x, &c)| f64::from(x - c).powi(2)).sum::<f64>();
        }
        let shrink = prior / (prior + noise);
        for run in runs {
            let clean = &run.contributions[&self.columns[column]].1;
            let seen = self.estimate(space, column, run);
            square += seen.iter().zip(clean).map(|(&s, &c)| (shrink * s - f64::from(c)).powi(2)).sum::<f64>();
        }
        let theory = (1.0 - space.leverage(column) * shrink).max(0.0);
        ((square / prior).sqrt(), theory.sqrt())
    }

    /// The projection of a contribution on the view, from messages alone: Σ over orthonormal rows, each a known combination of messages.
    fn estimate(&self, space: &Space, column: usize, run: &Played) -> Vec<f64> {
        let width = run.contributions[&self.columns[column]].0.len();
        let own = self.columns_of(self.watcher);
        let single = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let mut sources: Vec<Vec<f64>> =
            own.iter().map(|&at| single(&run.contributions[&self.columns[at]].0)).collect();
        let message = |place: &Place| run.view.get(place).map_or_else(Vec::new, |values| single(values));
        sources.extend(self.places.iter().map(message));
        let mut estimate = vec![0.0; width];
        for (basis, made_of) in space.basis.iter().zip(&space.made_of) {
            for (source, weight) in sources.iter().zip(made_of) {
                let part = basis[column] * weight;
                estimate.iter_mut().zip(source).for_each(|(sum, x)| *sum += part * x);
            }
        }
        estimate
    }
}

/// Orthonormal rows, and how each was made of the rows that were added.
pub(crate) struct Space {
    width: usize,
    added: usize,
    basis: Vec<Vec<f64>>,
    made_of: Vec<Vec<f64>>,
}

impl Space {
    fn new(width: usize) -> Self {
        Self { width, added: 0, basis: Vec::new(), made_of: Vec::new() }
    }

    fn add(&mut self, row: &[f64]) {
        let at = self.added;
        self.added += 1;
        let length = dot(row, row).sqrt();
        let mut rest = row.to_vec();
        let mut made_of = vec![0.0; at + 1];
        made_of[at] = 1.0;
        // Twice is enough (Kahan, after Parlett 1980).
        for _ in 0..2 {
            for (basis, made) in self.basis.iter().zip(&self.made_of) {
                let along = dot(&rest, basis);
                rest.iter_mut().zip(basis).for_each(|(rest, x)| *rest -= along * x);
                made_of.iter_mut().zip(made).for_each(|(sum, x)| *sum -= along * x);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if left > TOLERANCE * length && left > 0.0 {
            rest.iter_mut().chain(made_of.iter_mut()).for_each(|x| *x /= left);
            self.basis.push(rest);
            self.made_of.push(made_of);
        }
    }

    /// Independent combinations that are known.
    pub(crate) fn rank(&self) -> usize {
        self.basis.len()
    }

    /// The leverage of one contribution: 1 where it is determined, 0 where nothing is known of it.
    pub(crate) fn leverage(&self, column: usize) -> f64 {
        self.basis.iter().map(|row| row[column] * row[column]).sum()
    }

    /// μ² for Δ = σ = 1 of a change of all these contributions in the same direction.
    pub(crate) fn joint(&self, columns: &[usize]) -> f64 {
        debug_assert!(columns.iter().all(|&column| column < self.width));
        self.basis.iter().map(|row| columns.iter().map(|&at| row[at]).sum::<f64>().powi(2)).sum()
    }
}

fn centred(runs: &[Played], of: impl Fn(&Played) -> Vec<f64>) -> Vec<f64> {
    let mut all: Vec<Vec<f64>> = runs.iter().map(of).collect();
    let count = all.len() as f64;
    for at in 0..all[0].len() {
        let mean = all.iter().map(|run| run[at]).sum::<f64>() / count;
        all.iter_mut().for_each(|run| run[at] -= mean);
    }
    all.concat()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_and_one_of_its_terms_determine_the_other() {
        let mut space = Space::new(3);
        space.add(&[1.0, 1.0, 0.0]);
        assert!((space.leverage(0) - 0.5).abs() < 1e-12 && space.leverage(2) == 0.0);
        space.add(&[0.0, 1.0, 0.0]);
        assert!((space.leverage(0) - 1.0).abs() < 1e-12);
        space.add(&[2.0, 3.0, 0.0]);
        assert_eq!(space.rank(), 2);
        // The first orthonormal row is (r₀)/√2, the second is made of both.
        assert!((space.made_of[1][0] + space.made_of[1][1] * 0.5).abs() < 1e-12);
        assert!((space.joint(&[0, 1]) - 2.0).abs() < 1e-12);
    }
}
