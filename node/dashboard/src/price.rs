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
/// Nodes up to which they are priced to the last digit of a report; beyond, a little above it.
const MOST_EXACT: usize = 128;
/// Contributions up to which an account remembers them: some tens of megabytes.
const MOST_CONTRIBUTIONS: u64 = 1_000_000;
/// Rényi orders of the local figure.
const ORDERS: usize = 48;

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
    /// The last round that a line told of.
    reached: u32,
    /// Whether somebody wants to know at the end of this round.
    wanted: bool,
    ready: Option<Priced>,
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
    pub(crate) analysis: String,
    /// How many rounds are in it: a report says the same about them.
    pub(crate) round: u32,
}

impl Pricer {
    pub(crate) fn new(shape: Shape, only: Only) -> Self {
        let kind = ReleaseKind::of(&shape.release);
        let seen = (u64::from(shape.rounds.max(1)), 1.0 / shape.nodes.max(2) as f64);
        Self {
            units: Units::for_any_length(kind, seen, shape.delta, ORDERS),
            kinds: Vec::new(),
            counts: vec![BTreeMap::new(); shape.nodes],
            contributions: 0,
            account: if only == Only::Everybody { account(&shape) } else { None },
            whose: if only == Only::Everybody { Whose::Everybodys } else { Whose::Of(None) },
            reached: 0,
            wanted: false,
            ready: None,
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
        if let Some(round) = line.event.round().filter(|&round| round > self.reached) {
            // Logs go round by round: the first line of a later round closes the one before it, as in the curve of a report.
            if std::mem::take(&mut self.wanted) {
                self.ready = Some(self.price());
            }
            self.reached = round;
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

    /// Asks for prices at the end of the round that is under way.
    pub(crate) fn want(&mut self) {
        self.wanted = true;
    }

    /// Prices that were asked for, once their round is over.
    pub(crate) fn take(&mut self) -> Option<Priced> {
        self.ready.take()
    }

    /// What every node lost up to here, had the run ended.
    pub(crate) fn price(&mut self) -> Priced {
        let (peers, analysis) = match &mut self.account {
            Some(account) if account.shape().nodes <= MOST_EXACT => account.ended_here(),
            Some(account) => {
                let masked = account.shape().algorithm.is_masked();
                (account.peers(), if masked { "masked" } else { "rounds" }.to_owned())
            }
            None => (self.local(), "local".to_owned()),
        };
        let most = peers.iter().flatten().map(|peer| peer.local).fold(0.0, f64::max);
        let analysis = if most == f64::INFINITY { "none (no noise)".into() } else { analysis };
        Priced { peers, analysis, round: self.reached + 1 }
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
            assert_eq!((pairs.analysis.as_str(), local.analysis.as_str()), ("rounds", "local"));
            for (with, without) in pairs.peers.iter().flatten().zip(local.peers.iter().flatten()) {
                assert!(with.worst <= without.worst * (1.0 + 1e-9), "{with:?} {without:?}");
                // The counted one is by Rényi divergence with orders for runs of any length, above the distribution of losses.
                assert!(
                    with.local <= without.local * (1.0 + 1e-9) && with.local > 0.6 * without.local,
                    "{with:?} {without:?}"
                );
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
        assert_eq!((mine.analysis.as_str(), mine.peers.iter().flatten().count()), ("rounds", 1));
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
