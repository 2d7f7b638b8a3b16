//! What the account of a run says: the upper bounds that an audit holds against its lower ones.

use protocol::account::{Account, FoldError, Shape, mu2_through};
use protocol::{LogLine, Setup};

use crate::AuditError;
use crate::finding::Upper;
use crate::logged::Logged;

/// Nodes up to which all pairs are compared.
const MOST_COMPARED: usize = 64;

/// The account of one run at one δ.
pub(crate) struct Claim {
    account: Account,
    delta: f64,
    analysis: String,
    local: f64,
    worst: Option<(u32, u32)>,
}

impl Claim {
    /// Folds over the log that was given, as `murmur report` does: with the noise and the ρ that this log states, whatever the configuration says.
    pub(crate) fn of_log(log: &Logged, delta: f64) -> Result<Self, FoldError> {
        Self::fold(log.shape.clone(), &log.lines, delta)
    }

    /// Folds over the log of a run of the audit itself.
    pub(crate) fn of_run(setup: &Setup, log: &[LogLine], delta: f64) -> Result<Self, FoldError> {
        Self::fold(setup.shape(), log, delta)
    }

    fn fold(shape: Shape, log: &[LogLine], delta: f64) -> Result<Self, FoldError> {
        let mut account = Account::new(Shape { delta, ..shape.with_private_noise(false) })?;
        log.iter().for_each(|line| account.push(line));
        account.settle_final();
        let summary = account.summary();
        let (analysis, local) = (summary.mean.analysis, summary.local.epsilon);
        Ok(Self { account, delta, analysis, local, worst: summary.worst.pair })
    }

    /// The pair that lost most: source, watcher; of those that lost the same, the one with the largest `weight`, then the first.
    pub(crate) fn worst_pair(&mut self, weight: impl Fn(usize, usize) -> u64) -> (usize, usize) {
        let nodes = self.account.shape().nodes;
        let named = self.worst.map_or((0, 1), |(source, watcher)| (source as usize, watcher as usize));
        if nodes > MOST_COMPARED {
            return named;
        }
        let most = self.account.epsilon(named.0, named.1) * (1.0 - 1e-9);
        let mut best = (weight(named.0, named.1), named);
        let table = self.account.pairs();
        for (source, watcher) in
            (0..nodes).flat_map(|source| (0..nodes).map(move |watcher| (source, watcher)))
        {
            let found = (weight(source, watcher), (source, watcher));
            let as_much = table.epsilon(source, watcher).is_some_and(|(epsilon, _)| epsilon >= most);
            if source != watcher && as_much && found.0 > best.0 {
                best = found;
            }
        }
        best.1
    }

    /// The bound on what `watcher` learns about `source`.
    ///
    /// # Guarantee
    /// That of [`Account::epsilon`], for a run whose noise is private; the figure is what such a run would cost.
    pub(crate) fn pair(&mut self, (source, watcher): (usize, usize)) -> Upper {
        let epsilon = self.account.epsilon(source, watcher);
        self.upper(epsilon)
    }

    /// The bound on what these watchers learn about `source` if they pool their views.
    ///
    /// # Guarantee
    /// That of [`Account::coalition`]; for one watcher that of [`Self::pair`].
    pub(crate) fn pooled(&mut self, source: usize, watchers: &[usize]) -> Result<Upper, AuditError> {
        if let [watcher] = *watchers {
            return Ok(self.pair((source, watcher)));
        }
        let (losses, analysis) = self.account.coalition(watchers)?;
        self.analysis = analysis;
        Ok(self.upper(losses[source]))
    }

    /// The node outside that loses most towards these watchers.
    pub(crate) fn worst_source(&mut self, watchers: &[usize]) -> Result<usize, AuditError> {
        let losses = self.account.coalition(watchers)?.0;
        let outside = (0..losses.len()).filter(|node| !watchers.contains(node));
        let worst = outside.max_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(b.cmp(&a)));
        Ok(worst.unwrap_or(0))
    }

    /// The bound on what `watcher` learns about the worst of all others.
    pub(crate) fn towards(&mut self, watcher: usize) -> Upper {
        let nodes = self.account.shape().nodes;
        let others = (0..nodes).filter(|&source| source != watcher);
        let epsilon = others.map(|source| self.account.epsilon(source, watcher)).fold(0.0, f64::max);
        self.upper(epsilon)
    }

    /// μ² of any pair, for comparisons; infinite where it is not priced.
    pub(crate) fn mu2_of_all(&mut self) -> impl Fn((usize, usize)) -> f64 + use<> {
        let (table, delta) = (self.account.pairs(), self.delta);
        move |(source, watcher)| {
            table.epsilon(source, watcher).map_or(f64::INFINITY, |(epsilon, _)| mu2_through(epsilon, delta))
        }
    }

    /// μ² of a pair.
    pub(crate) fn mu2(&mut self, (source, watcher): (usize, usize)) -> f64 {
        self.account.mu2(source, watcher)
    }

    fn upper(&self, epsilon: f64) -> Upper {
        let is_local =
            epsilon > 0.0 && epsilon >= self.local * (1.0 - 1e-9) && !self.analysis.starts_with("local");
        let analysis = if is_local { "local".to_owned() } else { self.analysis.clone() };
        Upper { epsilon: epsilon.is_finite().then_some(epsilon), delta: self.delta, analysis }
    }
}
