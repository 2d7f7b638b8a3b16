//! All pairs in a few numbers: least, mean and greatest, at each distance and altogether.

use super::posed::Network;
use crate::network::Watchers;
use ndarray::ArrayView2;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Least, mean and greatest ε of some pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Of the pair that loses least.
    pub min: f64,
    /// Over all these pairs.
    pub mean: f64,
    /// Of the pair that loses most.
    pub max: f64,
}

/// The pairs at one distance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtDistance {
    /// Steps between the two on the graph; none where there is no such graph or no way.
    pub distance: Option<u32>,
    /// How many pairs.
    pub pairs: usize,
    /// Their losses.
    pub epsilon: Range,
    /// Mean of μ².
    #[serde(skip)]
    pub mu2_mean: f64,
}

/// The pair that loses most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worst {
    /// The row of who watches.
    pub row: usize,
    /// Whose data are at stake.
    pub source: usize,
    /// Its loss.
    pub epsilon: f64,
}

/// All pairs, and all pairs at each distance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// All pairs, as if at one distance.
    pub all: AtDistance,
    /// By distance, nearest first; unknown distances before all.
    pub by_distance: Vec<AtDistance>,
    /// The pair that loses most, where there is a pair.
    pub worst: Option<Worst>,
}

impl Summary {
    /// Of tables with one row per coalition.
    pub(super) fn of(
        coalitions: &[Watchers],
        network: Option<&Network>,
        mu2: ArrayView2<'_, f64>,
        epsilon: ArrayView2<'_, f64>,
    ) -> Self {
        let (mut all, mut worst) = (Spread::default(), None::<Worst>);
        let mut by_distance: BTreeMap<Option<u32>, Spread> = BTreeMap::new();
        for (row, watchers) in coalitions.iter().enumerate() {
            let distances = network.map(|network| distances(network, watchers));
            for source in (0..epsilon.ncols()).filter(|&node| !watchers.contains(node)) {
                let (epsilon, mu2) = (epsilon[[row, source]], mu2[[row, source]]);
                let distance = distances.as_ref().and_then(|distances| distances[source]);
                all.add(epsilon, mu2);
                by_distance.entry(distance).or_default().add(epsilon, mu2);
                if worst.is_none_or(|worst| epsilon > worst.epsilon) {
                    worst = Some(Worst { row, source, epsilon });
                }
            }
        }
        let by_distance = by_distance.into_iter().map(|(distance, spread)| spread.at(distance)).collect();
        Self { all: all.at(None), by_distance, worst }
    }
}

/// Steps between each node and the nearest member of the coalition.
pub(super) fn distances(network: &Network, watchers: &Watchers) -> Vec<Option<u32>> {
    let graph = network.graph();
    let mut distance = vec![None; graph.nodes()];
    let mut queue: VecDeque<usize> = watchers.members().iter().copied().collect();
    queue.iter().for_each(|&member| distance[member] = Some(0));
    while let Some(node) = queue.pop_front() {
        for &next in graph.neighbours(node) {
            if distance[next as usize].is_none() {
                distance[next as usize] = distance[node].map(|d| d + 1);
                queue.push_back(next as usize);
            }
        }
    }
    distance
}

/// Losses as they are counted.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    count: usize,
    least: f64,
    most: f64,
    sum: f64,
    sum_mu2: f64,
}

impl Spread {
    fn add(&mut self, epsilon: f64, mu2: f64) {
        self.least = if self.count == 0 { epsilon } else { self.least.min(epsilon) };
        self.most = self.most.max(epsilon);
        self.sum += epsilon;
        self.sum_mu2 += mu2;
        self.count += 1;
    }

    fn at(self, distance: Option<u32>) -> AtDistance {
        let mean = |sum: f64| sum / self.count.max(1) as f64;
        let epsilon = Range { min: self.least, mean: mean(self.sum), max: self.most };
        AtDistance { distance, pairs: self.count, epsilon, mu2_mean: mean(self.sum_mu2) }
    }
}
