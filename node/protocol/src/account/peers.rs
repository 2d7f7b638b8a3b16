//! What each node lost so far, for a display while the run goes on.

use serde::{Deserialize, Serialize};

use super::Units;
use super::convert::Binned;
use super::fold::Account;
use super::summary::finite;
use super::tally::Tally;

/// What one node lost towards the others.
///
/// # Guarantee
/// Bounds what the lines folded so far can have revealed about the node; what is not settled counts in full.
///
/// # Assumes
/// As the [`Account`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PeerLoss {
    /// ε towards the node that saw most; that of `local` where pairs are not priced.
    #[serde(with = "finite")]
    pub worst: f64,
    /// Mean ε over the other nodes, where pairs are priced.
    pub mean: Option<f64>,
    /// ε towards somebody who sees every message.
    #[serde(with = "finite")]
    pub local: f64,
}

impl Account {
    /// What each node lost so far; `None` where the log does not tell of it. Pairs are priced for `rounds` with a row for every node; elsewhere the local
    /// loss stands for them.
    ///
    /// Complexity: O(nodes²) where pairs are priced.
    pub fn peers(&mut self) -> Vec<Option<PeerLoss>> {
        let (local, pending) = self.local_and_pending();
        let losses = match pending {
            Some(pending) => {
                let (tally, binned) = self.tally_and_binned();
                tally.by_source(&pending, &local, binned)
            }
            None => local.iter().map(|&local| PeerLoss { worst: local, mean: None, local }).collect(),
        };
        let shape = self.shape();
        losses.into_iter().enumerate().map(|(node, loss)| shape.is_told(node).then_some(loss)).collect()
    }
}

impl Account {
    /// What each node would have lost had the run ended here, and the analysis behind pairs: the figures that a report gives for this place of the log, to the
    /// last digit. `None` where the log does not tell of a node.
    ///
    /// Complexity: that of [`pairs`](Self::pairs), and a copy of the account.
    pub fn ended_here(&self) -> (Vec<Option<PeerLoss>>, String) {
        let mut account = self.clone();
        account.settle_final();
        let (table, shape) = (account.pairs(), account.shape());
        let loss = |node: usize| {
            let others = (0..shape.nodes).filter(|&other| other != node);
            let losses: Vec<f64> = others.filter_map(|other| Some(table.epsilon(node, other)?.0)).collect();
            let local = table.local_epsilon(node).unwrap_or(f64::INFINITY);
            let most = losses.iter().copied().fold(0.0, f64::max);
            let mean = (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64);
            PeerLoss { worst: if table.is_complete() { most } else { local }, mean, local }
        };
        let losses = (0..shape.nodes).map(|node| shape.is_told(node).then(|| loss(node))).collect();
        (losses, table.analysis().to_owned())
    }
}

impl Tally {
    /// The largest and the mean ε of every node, over all others.
    fn by_source(&self, pending: &[f64], local: &[f64], binned: &mut Binned) -> Vec<PeerLoss> {
        let (mut worst, mut sums) = (vec![0.0f64; local.len()], vec![0.0; local.len()]);
        let mut add = |source: usize, epsilon: f64| {
            let epsilon = epsilon.min(local[source]);
            worst[source] = worst[source].max(epsilon);
            sums[source] += epsilon;
        };
        for &watcher in self.watchers() {
            let others = |source: &usize| *source != watcher;
            if self.units == Units::Gaussian {
                let row = self.row(watcher, pending).enumerate().filter(|(source, _)| others(source));
                row.for_each(|(source, mu2)| add(source, binned.epsilon(mu2)));
            } else {
                for source in (0..local.len()).filter(others) {
                    let spent = self.spent(source, watcher, pending).unwrap_or_default();
                    add(source, self.units.epsilon(&spent, self.delta()));
                }
            }
        }
        let count = (local.len().max(2) - 1) as f64;
        let losses = worst.into_iter().zip(sums).zip(local);
        losses.map(|((worst, sum), &local)| PeerLoss { worst, mean: Some(sum / count), local }).collect()
    }
}
