//! ε of all pairs at once.

use privacy::network;

use super::convert::Binned;
use super::tally::Tally;
use super::{Shape, Units};

/// ε of every node towards each of some watchers; 0 for the watcher itself.
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) watchers: Vec<usize>,
    pub(crate) rows: Vec<Vec<f64>>,
    /// Whether every node is among the watchers.
    pub(crate) complete: bool,
    /// The analysis.
    pub(crate) name: String,
    /// Towards somebody who sees every message.
    pub(crate) local: Vec<f64>,
    /// Nodes about which the log says nothing.
    pub(crate) untold: Vec<bool>,
}

impl Table {
    fn new(watchers: Vec<usize>, rows: Vec<Vec<f64>>, local: &[f64], name: String) -> Self {
        let complete = watchers.len() == local.len();
        Self { complete, watchers, rows, name, local: local.to_vec(), untold: vec![false; local.len()] }
    }

    /// Leaves out what the log does not tell of.
    pub(crate) fn told_by(mut self, shape: &Shape) -> Self {
        self.untold = (0..self.local.len()).map(|node| !shape.is_told(node)).collect();
        self
    }

    /// ε of `source` towards `watcher`, with the analysis that gives it; `None` where it was not priced or the log does not tell.
    pub fn epsilon(&self, source: usize, watcher: usize) -> Option<(f64, &str)> {
        if source >= self.local.len() || self.untold[source] {
            return None;
        }
        let row = self.watchers.binary_search(&watcher).ok()?;
        let (epsilon, local) = (self.rows[row][source], self.local[source]);
        let shown = self.name.split(" (").next().unwrap_or(&self.name);
        Some(match epsilon {
            f64::INFINITY => (epsilon, "none (no noise)"),
            _ if source != watcher && epsilon >= local => (local, "local"),
            _ => (epsilon, shown),
        })
    }

    /// ε of a node towards somebody who sees every message; `None` where the log does not tell.
    pub fn local_epsilon(&self, source: usize) -> Option<f64> {
        self.local.get(source).copied().filter(|_| !self.untold[source])
    }

    /// The analysis of all pairs, with the reason where it is `local` for want of another.
    pub fn analysis(&self) -> &str {
        &self.name
    }

    /// Whether every pair was priced, not only those of some watchers.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// From μ² of all pairs, never more than `local`.
    pub(crate) fn of_mu2(
        watchers: Vec<usize>,
        mu2: &[Vec<f64>],
        (local, delta): (&[f64], f64),
        name: String,
    ) -> Self {
        // Infinite losses have no place in the tables of the conversion.
        let finite: Vec<Vec<f64>> = mu2
            .iter()
            .map(|row| row.iter().map(|mu2| if mu2.is_finite() { *mu2 } else { 0.0 }).collect())
            .collect();
        let mut rows = network::epsilons(&finite, delta)
            .unwrap_or_else(|_| mu2.iter().map(|row| vec![f64::INFINITY; row.len()]).collect());
        for ((row, mu2), &watcher) in rows.iter_mut().zip(mu2).zip(&watchers) {
            for (source, (epsilon, mu2)) in row.iter_mut().zip(mu2).enumerate() {
                let found = if mu2.is_finite() { *epsilon } else { f64::INFINITY };
                *epsilon = if source == watcher { 0.0 } else { found.min(local[source]) };
            }
        }
        Self::new(watchers, rows, local, name)
    }

    /// Every node has the same loss towards all others.
    pub(crate) fn alike(watchers: Vec<usize>, epsilons: &[f64], local: &[f64], name: &str) -> Self {
        let row = |&watcher: &usize| {
            let towards = |(source, &epsilon): (usize, &f64)| if source == watcher { 0.0 } else { epsilon };
            epsilons.iter().enumerate().map(towards).collect()
        };
        let rows = watchers.iter().map(row).collect();
        Self::new(watchers, rows, local, name.to_owned())
    }

    /// Everybody has the local loss.
    pub(crate) fn local(watchers: Vec<usize>, local: &[f64], why: &str) -> Self {
        let name = if why.is_empty() { "local".to_owned() } else { format!("local ({why})") };
        Self::alike(watchers, local, local, &name)
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.watchers.iter().zip(&self.rows).flat_map(move |(&watcher, row)| {
            let told = row.iter().zip(&self.untold).enumerate().filter(|(_, (_, untold))| !**untold);
            let others = told
                .map(|(source, (epsilon, _))| (source, epsilon))
                .filter(move |(source, _)| *source != watcher);
            others.map(move |(source, &epsilon)| (source, watcher, epsilon))
        })
    }

    /// The largest ε and its pair: source, watcher.
    pub(crate) fn worst(&self) -> (f64, Option<(u32, u32)>) {
        let mut worst = (0.0, None);
        for (source, watcher, epsilon) in self.pairs() {
            if worst.1.is_none() || epsilon > worst.0 {
                worst = (epsilon, Some((source as u32, watcher as u32)));
            }
        }
        worst
    }

    /// Mean over ordered pairs.
    pub(crate) fn mean(&self) -> f64 {
        let (sum, count) =
            self.pairs().fold((0.0, 0usize), |(sum, count), (_, _, epsilon)| (sum + epsilon, count + 1));
        sum / count.max(1) as f64
    }

    /// The analysis, and how many watchers stand for all.
    pub(crate) fn mean_name(&self) -> String {
        if self.complete {
            self.name.clone()
        } else {
            format!("{}, mean over {} watchers", self.name, self.watchers.len())
        }
    }
}

impl Tally {
    /// ε of all pairs with a row.
    pub(crate) fn table(&self, pending: &[f64], local: &[f64]) -> Table {
        let watchers = self.watchers().to_vec();
        let name = "rounds".to_owned();
        if self.units == Units::Gaussian {
            let mu2: Vec<Vec<f64>> =
                watchers.iter().map(|&watcher| self.row(watcher, pending).collect()).collect();
            return Table::of_mu2(watchers, &mu2, (local, self.delta()), name);
        }
        let convert = |&watcher: &usize| {
            let epsilon = |source: usize| {
                let spent = self.spent(source, watcher, pending).unwrap_or_default();
                self.units.epsilon(&spent, self.delta()).min(local[source])
            };
            (0..local.len()).map(epsilon).collect()
        };
        let rows = watchers.iter().map(convert).collect();
        Table::new(watchers, rows, local, name)
    }

    /// The largest and the mean ε of all pairs with a row, without keeping them: where μ² is the unit quickly, and up to a percent more.
    pub(super) fn worst_and_mean(&self, pending: &[f64], local: &[f64], binned: &mut Binned) -> (f64, f64) {
        if self.units != Units::Gaussian {
            let table = self.table(pending, local);
            return (table.worst().0, table.mean());
        }
        let (mut worst, mut sum) = (0.0f64, 0.0);
        for &watcher in self.watchers() {
            for (source, (mu2, &most)) in self.row(watcher, pending).zip(local).enumerate() {
                if source != watcher {
                    let epsilon = binned.epsilon(mu2).min(most);
                    worst = worst.max(epsilon);
                    sum += epsilon;
                }
            }
        }
        let pairs = self.watchers().len() * (local.len().max(2) - 1);
        (worst, sum / pairs.max(1) as f64)
    }
}
