//! Losses of all pairs, added up: the memory of an account.

use std::collections::BTreeMap;

use learn::calibrate;
use privacy::event::DpEvent;
use privacy::network::doubling::Blocks;

use super::convert::{Units, epsilon_of};
use super::{Kept, Prices, ReleaseKind, Shape};

/// Most numbers that a tally keeps for pairs: 256 MB.
const MOST_ENTRIES: usize = 1 << 25;
/// Rényi orders kept for each pair: in a small swarm, in a large one, and at least.
const ORDERS: (usize, usize, usize) = (48, 12, 4);
/// Nodes up to which a swarm is small: its figures are the same however long the run was planned to be.
const SMALL: usize = 128;
/// Watchers that stand for all where there is no room for all.
pub(crate) const SAMPLED_WATCHERS: usize = 64;
/// Kinds of local loss that are each composed by privacy-loss distribution; beyond, one that dominates all stands for them.
const MOST_DISTRIBUTIONS: usize = 32;

/// What each node lost towards each watcher, in the units that add up.
///
/// Invariant: never less than what the watcher can have learnt by the charges made.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    nodes: usize,
    delta: f64,
    pub(crate) units: Units,
    /// Watchers with a row of their own, in increasing order.
    watchers: Vec<usize>,
    row_of: Vec<Option<u32>>,
    /// `sums[(row * nodes + source) * units + unit]`.
    sums: Vec<f64>,
    /// What is charged towards everybody: `full[source * units + unit]`.
    full: Vec<f64>,
    kinds: Vec<(ReleaseKind, Prices)>,
    /// How many releases of each kind a node made.
    counts: Vec<BTreeMap<usize, u64>>,
    /// How many of them every node keeps, which are no contributions.
    kept: u64,
}

impl Tally {
    /// An empty tally; `pairs` says whether there are to be rows for pairs.
    pub(crate) fn new(shape: &Shape, pairs: bool) -> Self {
        let nodes = shape.nodes;
        let kind = ReleaseKind::of(&shape.release);
        let most = (MOST_ENTRIES / (nodes * nodes).max(1))
            .clamp(ORDERS.2, if nodes <= SMALL { ORDERS.0 } else { ORDERS.1 });
        let seen = (u64::from(shape.rounds.max(1)), 1.0 / nodes.max(2) as f64);
        let units = Units::for_any_length(kind, seen, shape.delta, most);
        let watchers = match pairs {
            true if nodes * nodes * units.len() <= MOST_ENTRIES => (0..nodes).collect(),
            true => sampled_watchers(nodes),
            false => Vec::new(),
        };
        let mut row_of = vec![None; nodes];
        watchers.iter().enumerate().for_each(|(row, &watcher)| row_of[watcher] = Some(row as u32));
        let mut tally = Self {
            nodes,
            delta: shape.delta,
            sums: vec![0.0; watchers.len() * nodes * units.len()],
            full: vec![0.0; nodes * units.len()],
            watchers,
            row_of,
            units,
            kinds: Vec::new(),
            counts: vec![BTreeMap::new(); nodes],
            kept: 0,
        };
        if let Some(kept) = &shape.kept {
            tally.keep(kept);
        }
        tally
    }

    /// Charges what every node keeps, in full and towards everybody.
    fn keep(&mut self, kept: &Kept) {
        let kind = self.kind(&kept.event());
        for source in 0..self.nodes {
            self.counts[source].insert(kind, kept.count);
            (0..kept.count).for_each(|_| self.charge_in_full(source, kind));
        }
        self.kept = kept.count;
    }

    /// The number by which charges name this kind of contribution.
    pub(crate) fn kind(&mut self, event: &DpEvent) -> usize {
        let kind = ReleaseKind::of(event);
        self.kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.kinds.push((kind, self.units.prices(kind)));
            self.kinds.len() - 1
        })
    }

    /// σ² of a kind of contribution relative to that of `usual`; `None` where only one has noise.
    pub(crate) fn relative_variance(&self, kind: usize, usual: &DpEvent) -> Option<f64> {
        match (self.kinds[kind].0.noise_multiplier(), ReleaseKind::of(usual).noise_multiplier()) {
            (Some(noise), Some(usual)) if noise != usual => Some((noise / usual) * (noise / usual)),
            // Where nobody has noise, everything costs everything.
            (Some(_), Some(_)) | (None, None) => Some(1.0),
            _ => None,
        }
    }

    /// Counts a contribution, for the local figure.
    pub(crate) fn count(&mut self, source: usize, kind: usize) {
        *self.counts[source].entry(kind).or_insert(0) += 1;
    }

    /// How many contributions of a node were counted.
    pub(crate) fn contributions(&self, source: usize) -> u64 {
        self.counts[source].values().sum()
    }

    /// Charges a contribution in full, towards everybody.
    pub(crate) fn charge_in_full(&mut self, source: usize, kind: usize) {
        self.charge_everybody(source, kind, 1.0);
    }

    /// Charges a contribution of which everybody sees the same part.
    pub(crate) fn charge_everybody(&mut self, source: usize, kind: usize, leverage: f64) {
        let width = self.units.len();
        let prices = self.kinds[kind].1.of(leverage);
        let full = &mut self.full[source * width..(source + 1) * width];
        full.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
    }

    /// What is charged towards everybody: `units` numbers per source.
    pub(crate) fn in_full(&self) -> Vec<f64> {
        self.full.clone()
    }

    /// Adds the price of a contribution, seen with this leverage, to sums like those of [`Self::in_full`].
    pub(crate) fn price_into(&mut self, sums: &mut [f64], (source, kind): (usize, usize), leverage: f64) {
        let width = self.units.len();
        let prices = self.kinds[kind].1.of(leverage);
        let mine = &mut sums[source * width..(source + 1) * width];
        mine.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
    }

    /// As [`Self::price_into`] for `count` contributions; rounded up.
    pub(crate) fn price_times(
        &mut self,
        sums: &mut [f64],
        (source, kind): (usize, usize),
        leverage: f64,
        count: u64,
    ) {
        let width = self.units.len();
        let prices = self.kinds[kind].1.of(leverage);
        let mine = &mut sums[source * width..(source + 1) * width];
        mine.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price * count as f64 * (1.0 + 1e-12));
    }

    /// Charges one contribution of which `watcher` saw `leverage`.
    pub(crate) fn charge(&mut self, (source, watcher): (usize, usize), kind: usize, leverage: f64) {
        let Some(row) = self.row_of[watcher] else { return };
        let width = self.units.len();
        let at = (row as usize * self.nodes + source) * width;
        let prices = self.kinds[kind].1.of(leverage);
        self.sums[at..at + width].iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
    }

    /// Charges a clean round among `members`: node `i` of the blocks is `members[i]`, and made a contribution of kind `kinds[i]`.
    pub(crate) fn charge_round(&mut self, blocks: &Blocks, members: &[usize], kinds: &[usize]) {
        let uniform = kinds.windows(2).all(|pair| pair[0] == pair[1]);
        for (position, &watcher) in members.iter().enumerate() {
            let Some(row) = self.row_of[watcher].map(|row| row as usize) else { continue };
            blocks.heard_by(position, |stretch, total| {
                if uniform && blocks.is_uniform() {
                    self.charge_stretch(
                        row,
                        stretch,
                        members,
                        (kinds[0], blocks.share(stretch[0] as usize, total)),
                    );
                } else {
                    for &source in stretch {
                        let leverage = blocks.share(source as usize, total);
                        self.charge((members[source as usize], watcher), kinds[source as usize], leverage);
                    }
                }
            });
        }
    }

    /// The same charge for many sources: the inner loop of an account.
    fn charge_stretch(
        &mut self,
        row: usize,
        stretch: &[u32],
        members: &[usize],
        (kind, leverage): (usize, f64),
    ) {
        let width = self.units.len();
        let prices = self.kinds[kind].1.of(leverage);
        let start = row * self.nodes * width;
        let row = &mut self.sums[start..start + self.nodes * width];
        if let [price] = *prices {
            stretch.iter().for_each(|&source| row[members[source as usize]] += price);
            return;
        }
        for &source in stretch {
            let at = members[source as usize] * width;
            row[at..at + width].iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
        }
    }

    /// Watchers that have a row.
    pub(crate) fn watchers(&self) -> &[usize] {
        &self.watchers
    }

    /// Whether every node has a row.
    pub(crate) fn is_complete(&self) -> bool {
        self.watchers.len() == self.nodes
    }

    /// The loss of a pair with `pending` on top (`units` numbers per source, or none); `None` where the watcher has no row.
    pub(crate) fn spent(&self, source: usize, watcher: usize, pending: &[f64]) -> Option<Vec<f64>> {
        let width = self.units.len();
        let at = (self.row_of[watcher]? as usize * self.nodes + source) * width;
        let mine = source * width..(source + 1) * width;
        let sums = self.sums[at..at + width].iter().zip(&self.full[mine.clone()]);
        let extra = pending.get(mine).unwrap_or(&[]);
        // Sums of up to 2^32 terms: their rounding stays below this share.
        let total = |(at, (sum, full)): (usize, (&f64, &f64))| {
            (sum + full + extra.get(at).copied().unwrap_or(0.0)) * (1.0 + 1e-12)
        };
        Some(sums.enumerate().map(total).collect())
    }

    /// μ² of every source towards a watcher with a row, where μ² is the unit; with `pending` on top.
    pub(crate) fn row<'a>(&'a self, watcher: usize, pending: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let start = self.row_of[watcher].map_or(0, |row| row as usize * self.nodes);
        let sums = &self.sums[start..start + self.nodes];
        let total = |((sum, full), pending): ((&f64, &f64), &f64)| (sum + full + pending) * (1.0 + 1e-12);
        sums.iter().zip(&self.full).zip(pending).map(total)
    }

    /// δ of all figures.
    pub(crate) fn delta(&self) -> f64 {
        self.delta
    }

    /// Full charges of contributions that are not settled yet: `units` numbers per source.
    pub(crate) fn pending(&mut self, releases: impl Iterator<Item = (usize, usize)>) -> Vec<f64> {
        let width = self.units.len();
        let mut pending = vec![0.0; self.nodes * width];
        for (source, kind) in releases {
            let prices = self.kinds[kind].1.of(1.0);
            let mine = &mut pending[source * width..(source + 1) * width];
            mine.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
        }
        pending
    }

    /// The kind of contribution with the least noise, among those that were made.
    pub(crate) fn dearest(&self) -> Option<ReleaseKind> {
        let noise = |kind: &ReleaseKind| kind.noise_multiplier().unwrap_or(0.0);
        self.kinds.iter().map(|(kind, _)| *kind).min_by(|a, b| noise(a).total_cmp(&noise(b)))
    }

    /// Contributions of all nodes.
    pub(crate) fn releases(&self) -> u64 {
        let all: u64 = self.counts.iter().flat_map(BTreeMap::values).sum();
        all - self.kept * self.nodes as u64
    }

    /// ε of each node towards somebody who sees every message.
    ///
    /// With `tight` by privacy-loss distribution; otherwise for samples by Rényi divergence, which costs microseconds and is a little more.
    pub(crate) fn local_epsilons(&self, tight: bool) -> Vec<f64> {
        let mut known: BTreeMap<Vec<(usize, u64)>, f64> = BTreeMap::new();
        let keys: Vec<Vec<(usize, u64)>> = self
            .counts
            .iter()
            .map(|counts| counts.iter().map(|(&kind, &count)| (kind, count)).collect())
            .collect();
        for key in &keys {
            known.entry(key.clone()).or_insert(f64::INFINITY);
        }
        let exact = tight && known.len() <= MOST_DISTRIBUTIONS;
        let ceiling = if tight && !exact { self.dominating_epsilon() } else { f64::INFINITY };
        for (key, epsilon) in &mut known {
            *epsilon = if exact { self.composed(key) } else { self.renyi(key).min(ceiling) };
        }
        keys.iter().map(|key| known[key]).collect()
    }

    /// By privacy-loss distribution, or exactly where nothing is sampled.
    fn composed(&self, key: &[(usize, u64)]) -> f64 {
        if let [(kind, count)] = *key {
            return epsilon_of(self.kinds[kind].0, &[(1.0, count)], self.delta).unwrap_or(f64::INFINITY);
        }
        let event = |&(kind, count): &(usize, u64)| DpEvent::Composed {
            event: Box::new(self.kinds[kind].0.event()),
            count,
        };
        let events = DpEvent::Sequence { events: key.iter().map(event).collect() };
        if key.is_empty() { 0.0 } else { calibrate::epsilon(&events, self.delta).unwrap_or(f64::INFINITY) }
    }

    fn renyi(&self, key: &[(usize, u64)]) -> f64 {
        let mut spent = vec![0.0; self.units.len()];
        for &(kind, count) in key {
            let mut prices = self.kinds[kind].1.clone();
            spent.iter_mut().zip(prices.of(1.0)).for_each(|(sum, price)| *sum += price * count as f64);
        }
        spent.iter_mut().for_each(|sum| *sum *= 1.0 + 1e-13);
        self.units.epsilon(&spent, self.delta)
    }

    /// ε of as many contributions as any node made, each with the largest rate and the least noise of any: no node has a larger loss.
    fn dominating_epsilon(&self) -> f64 {
        let count = self.counts.iter().map(|counts| counts.values().sum::<u64>()).max().unwrap_or(0);
        let used = || self.kinds.iter().map(|(kind, _)| *kind);
        let least = used().map(|kind| kind.noise_multiplier().unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
        let rate = used()
            .map(|kind| if let ReleaseKind::Sampled { rate, .. } = kind { rate } else { 1.0 })
            .fold(0.0, f64::max);
        let gaussian = DpEvent::Gaussian { noise_multiplier: least };
        let worst = DpEvent::PoissonSampled { rate, event: Box::new(gaussian) };
        epsilon_of(ReleaseKind::of(&worst), &[(1.0, count)], self.delta).unwrap_or(f64::INFINITY)
    }
}

/// Watchers that stand for all: evenly spread.
pub(crate) fn sampled_watchers(nodes: usize) -> Vec<usize> {
    let count = SAMPLED_WATCHERS.min(nodes);
    (0..count).map(|at| at * nodes / count).collect()
}
