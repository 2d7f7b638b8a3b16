//! ε of every node while the run goes on.
//!
//! Contributions are counted, which gives the local loss in constant memory. Where it can be afforded, an [`Account`] beside it prices pairs: it remembers every
//! round, so a swarm that is too large or a run that is too long is left to the local figure, which is never below.

use std::collections::BTreeMap;

use protocol::account::{Account, PeerLoss, Prices, ReleaseKind, Shape, Units};
use protocol::{Algorithm, LogLine, RunEvent};

/// Nodes up to which pairs are priced.
const MOST_NODES: usize = 512;
/// Contributions up to which an account remembers them: some tens of megabytes.
const MOST_CONTRIBUTIONS: u64 = 1_000_000;
/// Rényi orders of the local figure.
const ORDERS: usize = 12;

/// Counts and prices contributions.
#[derive(Debug)]
pub(crate) struct Pricer {
    shape: Shape,
    units: Units,
    kinds: Vec<(ReleaseKind, Prices)>,
    /// Contributions of each node, by kind.
    counts: Vec<BTreeMap<usize, u64>>,
    contributions: u64,
    account: Option<Account>,
}

/// ε of all nodes, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Priced {
    pub(crate) peers: Vec<PeerLoss>,
    /// The analysis behind `worst` and `mean`.
    pub(crate) analysis: &'static str,
}

impl Pricer {
    /// `pairs`: whether the logs of all nodes will come, without which nothing is known of pairs.
    pub(crate) fn new(shape: Shape, pairs: bool) -> Self {
        let affordable =
            pairs && shape.nodes <= MOST_NODES && matches!(shape.algorithm, Algorithm::Rounds(_));
        let kind = ReleaseKind::of(&shape.release);
        let seen = (u64::from(shape.rounds.max(1)), 1.0 / shape.nodes.max(2) as f64);
        Self {
            units: Units::for_kind(kind, seen, shape.delta, ORDERS),
            kinds: Vec::new(),
            counts: vec![BTreeMap::new(); shape.nodes],
            contributions: 0,
            account: affordable.then(|| Account::new(shape.clone()).ok()).flatten(),
            shape,
        }
    }

    /// Takes the next line; as [`Account::push`].
    pub(crate) fn push(&mut self, line: &LogLine) {
        if let (RunEvent::Released { release, .. }, Some(node)) = (&line.event, line.node)
            && let Some(counts) = self.counts.get_mut(node as usize)
        {
            let kind = ReleaseKind::of(release.as_ref().unwrap_or(&self.shape.release));
            let known = self.kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
                self.kinds.push((kind, self.units.prices(kind)));
                self.kinds.len() - 1
            });
            *counts.entry(known).or_insert(0) += 1;
            self.contributions += 1;
        }
        if self.contributions > MOST_CONTRIBUTIONS {
            self.account = None;
        }
        if let Some(account) = &mut self.account {
            account.push(line);
        }
    }

    /// The run is over.
    pub(crate) fn settle_final(&mut self) {
        if let Some(account) = &mut self.account {
            account.settle_final();
        }
    }

    /// What every node lost.
    pub(crate) fn price(&mut self) -> Priced {
        let peers = match &mut self.account {
            Some(account) => account.peers(),
            None => self.local(),
        };
        let most = peers.iter().map(|peer| peer.local).fold(0.0, f64::max);
        let analysis = if most == f64::INFINITY {
            "none (no noise)"
        } else if self.account.is_some() {
            "rounds"
        } else {
            "local"
        };
        Priced { peers, analysis }
    }

    fn local(&mut self) -> Vec<PeerLoss> {
        // Most nodes made the same contributions.
        let mut known: BTreeMap<&BTreeMap<usize, u64>, f64> = BTreeMap::new();
        let mut peers = Vec::with_capacity(self.counts.len());
        for counts in &self.counts {
            let epsilon = *known.entry(counts).or_insert_with(|| {
                let mut spent = vec![0.0; self.units.len()];
                for (&kind, &count) in counts {
                    let prices = self.kinds[kind].1.of(1.0);
                    spent.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price * count as f64);
                }
                // Sums and products round; a little more covers that.
                spent.iter_mut().for_each(|sum| *sum *= 1.0 + 1e-12);
                self.units.epsilon(&spent, self.shape.delta)
            });
            peers.push(PeerLoss { worst: epsilon, mean: None, local: epsilon });
        }
        peers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Swarm, setup};

    #[test]
    fn without_pairs_the_figure_is_the_local_one_and_never_below_that_of_pairs() {
        for settings in [&["nodes=5", "rounds=6"][..], &["nodes=5", "rounds=6", "batch_size=8"]] {
            let shape = setup(settings).shape();
            let (mut pairs, mut local) = (Pricer::new(shape.clone(), true), Pricer::new(shape, false));
            for line in Swarm::new(5).rounds(4) {
                pairs.push(&line);
                local.push(&line);
            }
            let (pairs, local) = (pairs.price(), local.price());
            assert_eq!((pairs.analysis, local.analysis), ("rounds", "local"));
            for (with, without) in pairs.peers.iter().zip(&local.peers) {
                assert!(with.worst <= without.worst * (1.0 + 1e-9), "{with:?} {without:?}");
                assert!((with.local / without.local - 1.0).abs() < 1e-6, "{with:?} {without:?}");
                assert!(with.worst > 0.0);
            }
        }
    }

    #[test]
    fn without_noise_nothing_is_finite_and_the_analysis_says_so() {
        let mut pricer = Pricer::new(setup(&["nodes=3", "privacy.noise_multiplier=0"]).shape(), true);
        Swarm::new(3).rounds(2).iter().for_each(|line| pricer.push(line));
        let priced = pricer.price();
        assert_eq!(priced.analysis, "none (no noise)");
        assert!(priced.peers.iter().all(|peer| peer.worst == f64::INFINITY));
    }
}
