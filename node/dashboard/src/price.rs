//! ε of every node while the run goes on.
//!
//! Contributions are counted, which gives the local loss in constant memory. Where it can be afforded, an [`Account`] beside it prices pairs: it remembers every
//! round, so a swarm that is too large or a run that is too long is left to the local figure, which is never below.

use std::collections::BTreeMap;

use protocol::account::{Account, PeerLoss, Prices, ReleaseKind, Shape, Units};
use protocol::{LogLine, RunEvent};

use crate::facts::Only;

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
    whose: Whose,
}

/// Whose lines come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Everybodys,
    /// Those of one node, once its first line has said which.
    Of(Option<usize>),
}

/// ε of all nodes, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Priced {
    /// `None` for nodes of which the logs do not tell.
    pub(crate) peers: Vec<Option<PeerLoss>>,
    /// The analysis behind `worst` and `mean`.
    pub(crate) analysis: &'static str,
}

impl Pricer {
    pub(crate) fn new(shape: Shape, only: Only) -> Self {
        let kind = ReleaseKind::of(&shape.release);
        let seen = (u64::from(shape.rounds.max(1)), 1.0 / shape.nodes.max(2) as f64);
        Self {
            units: Units::for_kind(kind, seen, shape.delta, ORDERS),
            kinds: Vec::new(),
            counts: vec![BTreeMap::new(); shape.nodes],
            contributions: 0,
            account: if only == Only::Everybody { account(&shape) } else { None },
            whose: if only == Only::Everybody { Whose::Everybodys } else { Whose::Of(None) },
            shape,
        }
    }

    /// Takes the next line; as [`Account::push`].
    pub(crate) fn push(&mut self, line: &LogLine) {
        if let (Whose::Of(None), Some(me)) = (self.whose, line.node) {
            let me = me as usize;
            self.whose = Whose::Of(Some(me));
            self.account = account(&self.shape.clone().with_witnesses([me]));
        }
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
        let most = peers.iter().flatten().map(|peer| peer.local).fold(0.0, f64::max);
        let analysis = if most == f64::INFINITY {
            "none (no noise)"
        } else if self.account.is_some() {
            "rounds"
        } else {
            "local"
        };
        Priced { peers, analysis }
    }

    fn local(&mut self) -> Vec<Option<PeerLoss>> {
        // Most nodes made the same contributions.
        let mut known: BTreeMap<&BTreeMap<usize, u64>, f64> = BTreeMap::new();
        let mut peers = Vec::with_capacity(self.counts.len());
        for (node, counts) in self.counts.iter().enumerate() {
            let told = matches!(self.whose, Whose::Everybodys) || self.whose == Whose::Of(Some(node));
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
            peers.push(told.then_some(PeerLoss { worst: epsilon, mean: None, local: epsilon }));
        }
        peers
    }
}

/// An account that prices pairs, where that can be afforded.
fn account(shape: &Shape) -> Option<Account> {
    let affordable = shape.nodes <= MOST_NODES && shape.algorithm.settles_by_round();
    affordable.then(|| Account::new(shape.clone()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Swarm, setup};

    #[test]
    fn the_local_figure_is_that_of_the_account_and_never_below_that_of_pairs() {
        for settings in [&["nodes=5", "rounds=6"][..], &["nodes=5", "rounds=6", "batch_size=8"]] {
            let shape = setup(settings).shape();
            let mut pairs = Pricer::new(shape.clone(), Only::Everybody);
            let mut local = Pricer { account: None, ..Pricer::new(shape, Only::Everybody) };
            for line in Swarm::new(5).rounds(4) {
                pairs.push(&line);
                local.push(&line);
            }
            let (pairs, local) = (pairs.price(), local.price());
            assert_eq!((pairs.analysis, local.analysis), ("rounds", "local"));
            for (with, without) in pairs.peers.iter().flatten().zip(local.peers.iter().flatten()) {
                assert!(with.worst <= without.worst * (1.0 + 1e-9), "{with:?} {without:?}");
                assert!((with.local / without.local - 1.0).abs() < 1e-6, "{with:?} {without:?}");
                assert!(with.worst > 0.0);
            }
        }
    }

    #[test]
    fn a_node_alone_prices_itself_no_lower_than_all_logs_together_do() {
        let shape = setup(&["nodes=5", "rounds=6"]).shape();
        let (mut all, mut mine) =
            (Pricer::new(shape.clone(), Only::Everybody), Pricer::new(shape, Only::Myself));
        for line in Swarm::new(5).rounds(4) {
            all.push(&line);
            if line.node == Some(2) {
                mine.push(&line);
            }
        }
        let (all, mine) = (all.price().peers[2].unwrap(), mine.price());
        assert_eq!((mine.analysis, mine.peers.iter().flatten().count()), ("rounds", 1));
        let mine = mine.peers[2].unwrap();
        assert!(mine.worst >= all.worst * (1.0 - 1e-12) && mine.worst < mine.local, "{mine:?} {all:?}");
    }

    #[test]
    fn without_noise_nothing_is_finite_and_the_analysis_says_so() {
        let mut pricer =
            Pricer::new(setup(&["nodes=3", "privacy.noise_multiplier=0"]).shape(), Only::Everybody);
        Swarm::new(3).rounds(2).iter().for_each(|line| pricer.push(line));
        let priced = pricer.price();
        assert_eq!(priced.analysis, "none (no noise)");
        assert!(priced.peers.iter().flatten().all(|peer| peer.worst == f64::INFINITY));
    }
}
