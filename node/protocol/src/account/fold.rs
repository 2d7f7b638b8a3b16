//! The account of a run: a fold over the lines of its log.

use privacy::event::DpEvent;
use privacy::network::{NetworkError, Watchers};
use thiserror::Error;

use super::Shape;
use super::convert::{Binned, mu2_through};
use super::rows::Table;
use super::summary::{Coalition, Figure, Interim, Summary};
use super::tally::Tally;
use crate::algorithm::Fold;
use crate::event::{LogLine, RunEvent};

/// Why all pairs of a run are `local` where contributions depend on own noise.
const OWN_NOISE: &str = "own noise comes back";

/// Pairs up to which [`Account::interim`] gives a mean.
const INTERIM_PAIRS: usize = 1 << 23;

/// A question that an account does not answer.
#[derive(Debug, Error)]
pub enum FoldError {
    /// Numbers that are no run.
    #[error("an account needs at least one node and a δ between 0 and 1: {nodes} nodes, δ = {delta}")]
    Shape {
        /// Nodes.
        nodes: usize,
        /// δ.
        delta: f64,
    },
    /// What the network accountant refused.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// What really happened, priced pair by pair.
///
/// # Guarantee
/// At any time the figures bound what the lines folded so far can have revealed; what is not settled counts in full, and so does what no
/// analysis covers.
///
/// # Assumes
/// The log has a [`RunEvent::Released`] for every contribution that left its node; watchers that follow the protocol; independent Gaussian noise as the
/// events say; ρ as certified.
#[derive(Debug, Clone)]
pub struct Account {
    shape: Shape,
    tally: Tally,
    fold: Box<dyn Fold>,
    binned: Binned,
}

impl Account {
    /// An empty account.
    ///
    /// # Errors
    /// No nodes, or a δ outside (0, 1).
    pub fn new(shape: Shape) -> Result<Self, FoldError> {
        if shape.nodes == 0 || !(shape.delta > 0.0 && shape.delta < 1.0) {
            return Err(FoldError::Shape { nodes: shape.nodes, delta: shape.delta });
        }
        let (fold, tally) = (shape.algorithm.fold(), Tally::new(&shape, shape.algorithm.settles_by_round()));
        Ok(Self { binned: Binned::new(shape.delta), shape, tally, fold })
    }

    /// Takes the next line. Lines of one node must come in their order; lines of different nodes may be mixed.
    pub fn push(&mut self, line: &LogLine) {
        if let RunEvent::Run { private_noise, .. } | RunEvent::Resumed { private_noise } = &line.event {
            self.shape.private_noise &= *private_noise;
        }
        if matches!(line.event, RunEvent::LostLines { .. }) {
            self.lose_line();
        }
        let Some(node) = line.node.map(|node| node as usize).filter(|&node| node < self.shape.nodes) else {
            self.of_nobody(&line.event);
            return;
        };
        self.fold.on(&self.shape, &mut self.tally, node, &line.event);
    }

    /// A line of which no node of the run is known to be the writer may be of any of them.
    fn of_nobody(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Run { .. } | RunEvent::LostLines { .. } => {}
            RunEvent::Released { release, .. } => {
                let release = release.clone().unwrap_or_else(|| self.shape.release.clone());
                (0..self.shape.nodes).for_each(|node| self.charge_record(node, &release, None));
            }
            _ => self.lose_line(),
        }
    }

    /// Charges a node for every contribution that it can have made in this run and of which no line is left: how many lines a damaged stretch of a log has
    /// swallowed, nothing tells.
    ///
    /// # Guarantee
    /// Whatever was lost, the node is charged for as many contributions as the run has room for, if all had this noise.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn charge_unknown(&mut self, node: usize, event: &DpEvent) {
        let room = self.fold.room(&self.shape);
        let known = self.tally.contributions(node);
        for _ in known..room.max(known + 1) {
            self.charge_record(node, event, None);
        }
    }

    /// The run is over: the last round, which no later one confirms, counts as clean if all that ended it agree.
    pub fn settle_final(&mut self) {
        self.fold.end(&self.shape, &mut self.tally);
    }

    /// What the account is about.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Figures for a display while the run goes on; never below those that [`Self::summary`] would give.
    pub fn interim(&mut self) -> Interim {
        let local = self.tally.local_epsilons(false);
        let most = local.iter().copied().fold(0.0, f64::max);
        if self.shape.own_noise_returns {
            return Interim { worst: most, mean: Some(most), local: most };
        }
        if self.shape.witnesses.is_some() {
            let table = self.rows(&local);
            return Interim { worst: table.worst().0, mean: Some(table.mean()), local: most };
        }
        let pairs = self.shape.nodes * self.tally.watchers().len();
        if !self.shape.algorithm.settles_by_round() || pairs == 0 || pairs > INTERIM_PAIRS {
            return Interim { worst: most, mean: None, local: most };
        }
        let pending = self.tally.pending(self.fold.unsettled().into_iter());
        let (worst, mean) = self.tally.worst_and_mean(&pending, &local, &mut self.binned);
        let worst = if self.tally.is_complete() { worst } else { most };
        Interim { worst, mean: Some(mean), local: most }
    }

    /// ε of each node towards somebody who sees everything, and, where all pairs are priced, what is not settled.
    pub(super) fn local_and_pending(&mut self) -> (Vec<f64>, Option<Vec<f64>>) {
        let local = self.tally.local_epsilons(false);
        let by_pair = self.shape.algorithm.settles_by_round()
            && !self.shape.own_noise_returns
            && self.tally.is_complete();
        let pending = by_pair.then(|| self.tally.pending(self.fold.unsettled().into_iter()));
        (local, pending)
    }

    pub(super) fn tally_and_binned(&mut self) -> (&Tally, &mut Binned) {
        (&self.tally, &mut self.binned)
    }

    /// All figures of the run.
    pub fn summary(&mut self) -> Summary {
        let local = self.tally.local_epsilons(true);
        let table = self.rows(&local);
        let most = local.iter().copied().fold(0.0, f64::max);
        let delta = self.shape.delta;
        let name = |analysis: &str| {
            if most == f64::INFINITY { "none (no noise)".into() } else { analysis.to_owned() }
        };
        let mu2 = |epsilon: f64| mu2_through(epsilon, delta);
        let (worst, pair) = table.worst();
        let (worst, pair) = if table.complete { (worst, pair) } else { (most, None) };
        let local_name = if table.complete && worst < most { table.name.as_str() } else { "local" };
        // Adding up rounds, and a mean of equal numbers must not pass them.
        let mean = table.mean().min(worst);
        let coalition = self.towards_any(&local, most);
        Summary {
            adjacency: self.shape.adjacency,
            delta,
            private: self.shape.private_noise && most < f64::INFINITY,
            worst: Figure { epsilon: worst, mu2: mu2(worst), analysis: name(local_name), pair },
            mean: Figure { epsilon: mean, mu2: mu2(mean), analysis: name(&table.mean_name()), pair: None },
            coalition,
            local: Figure { epsilon: most, mu2: mu2(most), analysis: name("local"), pair: None },
            left_over: self.fold.left_over(&self.shape),
            releases: self.tally.releases(),
            broken_rounds: self.broken_rounds(),
        }
    }

    /// ε of every node towards any `count` others that pool what they saw, whoever they are; `None` where no analysis but `local` says.
    ///
    /// # Guarantee
    /// The joint view of any so many others is (ε, δ)-DP for each node.
    ///
    /// # Assumes
    /// As the account.
    pub fn epsilons_towards_any(&mut self, count: usize) -> Option<Vec<f64>> {
        let local = self.tally.local_epsilons(true);
        self.fold.towards_any(&self.shape, &mut self.tally, count, &local).map(|(all, _)| all)
    }

    /// Towards any so many members as may collude: `local` where nothing better holds for all of them.
    fn towards_any(&mut self, local: &[f64], most: f64) -> Option<Coalition> {
        let members = self.shape.colluders.filter(|_| self.shape.nodes > 1)?;
        let found = self.fold.towards_any(&self.shape, &mut self.tally, members, local);
        let told = |node: usize| self.shape.is_told(node);
        let largest = |all: Vec<f64>| {
            (0..all.len()).filter(|&node| told(node)).map(|node| all[node]).fold(0.0, f64::max)
        };
        let (epsilon, analysis) =
            found.map_or_else(|| (most, "local".to_owned()), |(all, name)| (largest(all), name.to_owned()));
        let analysis = if most == f64::INFINITY { "none (no noise)".to_owned() } else { analysis };
        Some(Coalition { epsilon, members, analysis })
    }

    /// Rounds that were charged in full.
    pub fn broken_rounds(&self) -> u64 {
        self.fold.broken()
    }

    /// ε of `source` towards `watcher`: the least of the analysis that applies and local. Zero towards oneself.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn epsilon(&mut self, source: usize, watcher: usize) -> f64 {
        assert!(source < self.shape.nodes && watcher < self.shape.nodes, "a pair of nodes of the run");
        if source == watcher {
            return 0.0;
        }
        let local = self.tally.local_epsilons(true);
        if self.shape.own_noise_returns {
            return local[source];
        }
        self.fold.epsilon(&self.shape, &mut self.tally, (source, watcher), &local)
    }

    /// μ² of `source` towards `watcher`; where contributions are on samples, that of the Gaussian whose curve passes through (ε, δ).
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn mu2(&mut self, source: usize, watcher: usize) -> f64 {
        mu2_through(self.epsilon(source, watcher), self.shape.delta)
    }

    /// ε of all pairs, or of those with some watchers where there are too many.
    ///
    /// # Guarantee
    /// That of the account, for each pair, by the analysis that the table names.
    ///
    /// # Assumes
    /// As the account.
    pub fn pairs(&mut self) -> Table {
        let local = self.tally.local_epsilons(true);
        self.rows(&local)
    }

    /// Charges a contribution that a ledger has and the log has not: in full, towards everybody, or, where masks hid it among so many, what that costs.
    ///
    /// # Guarantee
    /// A contribution that left the node before a crash took the line of it is not free.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn charge_record(&mut self, node: usize, event: &DpEvent, among: Option<u32>) {
        assert!(node < self.shape.nodes, "a node of the run");
        let kind = self.tally.kind(event);
        self.tally.count(node, kind);
        self.fold.on_record(&self.shape, &mut self.tally, (node, kind), among);
        self.lose_line();
    }

    /// A line of the log is lost. It may have told that somebody was sent something, which no ledger knows.
    ///
    /// # Guarantee
    /// Where figures depend on who was sent what, every pair is `local` from here on. Contributions are charged by [`Self::charge_record`].
    pub fn lose_line(&mut self) {
        self.fold.lost_line();
    }

    /// ε of every node towards nodes that pool what they saw, and the analysis; 0 for the members.
    ///
    /// # Guarantee
    /// The joint view of the members is (ε, δ)-DP for each node outside: by exact linear algebra for clean rounds, by the analysis of the algorithm with the
    /// members as one watcher for gossip and walks, local otherwise.
    ///
    /// # Assumes
    /// As the account.
    ///
    /// # Errors
    /// Nobody, everybody, or somebody who is not there.
    pub fn coalition(&mut self, members: &[usize]) -> Result<(Vec<f64>, String), FoldError> {
        let watchers = Watchers::new(members, self.shape.nodes)?;
        let mut found = self.tally.local_epsilons(true);
        if self.shape.own_noise_returns {
            watchers.members().iter().for_each(|&member| found[member] = 0.0);
            return Ok((found, format!("local ({OWN_NOISE})")));
        }
        let name = self.fold.coalition(&self.shape, &mut self.tally, &watchers, &mut found)?;
        watchers.members().iter().for_each(|&member| found[member] = 0.0);
        Ok((found, name))
    }

    /// ε of all priced pairs.
    fn rows(&mut self, local: &[f64]) -> Table {
        let watchers = super::priced_watchers(self.shape.nodes);
        if self.shape.own_noise_returns {
            return Table::local(watchers, local, OWN_NOISE).told_by(&self.shape);
        }
        self.fold.table(&self.shape, &mut self.tally, watchers, local).told_by(&self.shape)
    }
}
