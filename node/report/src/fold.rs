//! From a run that was read to its report.

use std::collections::BTreeMap;

use privacy::event::DpEvent;
use protocol::account::{Account, FoldError, Shape, Summary, Table, mu2_through};
use protocol::config::{Config, Masking};
use protocol::log::Declared;
use protocol::{RunEvent, Scope, SetupError};
use thiserror::Error;
use topology::Graph;
use topology::Hint;

use crate::belief::Protection;
use crate::document::{Budget, Colluding, Figure, NodeReport, PeerFigure, Report, Rounds, WorstFigure};
use crate::source::Source;
use crate::{coalitions, compare, curve, faults, head, lost, nist, own, watchers, words};

/// Nodes up to which a report about all has a row for every pair.
const MOST_LISTED: usize = 256;

/// Nodes up to which a picture of everybody with everybody is readable.
const MOST_COMPLETE: usize = 48;

/// What to report.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// One node only.
    pub node: Option<usize>,
    /// Nodes that pool what they saw; without any, the worst small coalition is looked for.
    pub coalition: Vec<usize>,
    /// Show training losses of a real run, and how good nodes' own models are. They are computed on private data without noise.
    pub with_loss: bool,
}

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A comparison of the simulator.
    #[error(
        "`{kind}` is a comparison of the simulator: it has no participants that could learn about each other"
    )]
    Comparison {
        /// Which.
        kind: &'static str,
    },
    /// A node that is not there.
    #[error("there is no node {node}: the run has nodes 0 to {last}")]
    NoSuchNode {
        /// Asked for.
        node: usize,
        /// The last.
        last: usize,
    },
    /// A node of which the log does not tell.
    #[error("the log does not tell what node {node} did; it has the lines of {told}")]
    Untold {
        /// Asked for.
        node: usize,
        /// Of whom it tells.
        told: String,
    },
    /// A run that cannot be made again from its configuration.
    #[error("cannot find out what the run was")]
    Setup(#[from] SetupError),
    /// What the accountant refused.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl Hint for ReportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Comparison { .. } => {
                Some("its figures are in `result.json` and `metrics.csv` of the run folder".into())
            }
            Self::NoSuchNode { .. } => None,
            Self::Untold { .. } => {
                Some("only a node itself, or the folder of a whole swarm, can tell".into())
            }
            Self::Setup(error) => error.hint(),
            Self::Fold(_) => None,
        }
    }
}

impl Report {
    /// Folds over a run.
    ///
    /// # Guarantee
    /// Every figure bounds what the log and the ledgers tell of, by the analysis that it names. A contribution that only a ledger knows is charged in full, and
    /// so is a line that cannot be read where no ledger says what it told of.
    ///
    /// # Assumes
    /// As [`Account`]; a log without ledgers is taken to be whole, and the report says so.
    ///
    /// # Errors
    /// As [`ReportError`] says.
    pub fn new(source: &Source, options: &Options) -> Result<Self, ReportError> {
        let config = &source.config;
        if config.algorithm.kind.is_comparison() {
            return Err(ReportError::Comparison { kind: config.algorithm.kind.name() });
        }
        let subjects = subjects(source, options)?;
        let (mut account, unlogged) = accounted(source)?;
        let (summary, table) = (account.summary(), account.pairs());
        let drawn = drawn(config);
        let graph = drawn.as_ref().filter(|_| config.uses_graph()).map(|drawn| &drawn.0);
        let nodes = About::new(source, (&table, graph), &summary, &subjects).nodes(&subjects);
        let together = account.epsilons_towards_any(config.privacy.colluders);
        let nodes = own::beside(with_masked_budgets(nodes, together.as_deref()), source, options.with_loss);
        let head = head::of(source, &subjects);
        let coalitions = coalitions::found(&mut account, &subjects, &options.coalition, config.nodes)?;
        let whole = unlogged.is_empty() && !lost::may_tell(source);
        let curve = curve::of(source, options, (account.shape(), whole))?;
        let RunEvent::Run { version, config_digest, driver, config: toml, .. } = &source.first else {
            unreachable!("a source has a first line")
        };
        let mut report = Self {
            run: config.name.clone(),
            algorithm: config.algorithm.kind.name().into(),
            driver: driver.clone(),
            participants: config.nodes,
            adjacency: summary.adjacency,
            delta: summary.delta,
            private: summary.private,
            head,
            protection: Protection::None,
            quote: String::new(),
            meaning: Vec::new(),
            persons: String::new(),
            warnings: Vec::new(),
            watchers: Vec::new(),
            renewals: source.renewals().into_iter().cloned().collect(),
            counted: Vec::new(),
            nist: Vec::new(),
            guarantee: String::new(),
            assumes: Vec::new(),
            not_protected: Vec::new(),
            worst: worst_of(&nodes, &summary, config.nodes),
            mean: mean_of(&nodes, &summary, config.nodes),
            colluding: colluding(&nodes, together.as_deref(), &summary),
            local: local_of(&nodes, &summary),
            nodes,
            coalitions,
            rounds: rounds(source, &summary, curve),
            faults: faults::found(source, unlogged),
            config_digest: config_digest.clone(),
            config: toml.clone(),
            seed: config.seed,
            version: version.clone(),
            reported_by: env!("CARGO_PKG_VERSION").into(),
            compare: None,
            drawn,
        };
        words::fill(&mut report, source, &table);
        report.watchers = watchers::table(&report, source, &mut account, &subjects)?;
        report.nist = nist::points(&report, config);
        Ok(report)
    }

    /// Puts the figures of another run beside these.
    ///
    /// # Errors
    /// As [`Report::new`].
    pub fn compare_with(&mut self, own: &Source, other: &Source) -> Result<(), ReportError> {
        let theirs = Self::new(other, &Options::default())?;
        self.compare = Some(compare::comparison(self, &own.config, &theirs, &other.config));
        Ok(())
    }
}

/// About whom the report is.
fn subjects(source: &Source, options: &Options) -> Result<Vec<usize>, ReportError> {
    let told = source.told();
    let last = source.config.nodes - 1;
    let absent = options.node.into_iter().chain(options.coalition.iter().copied()).find(|&node| node > last);
    if let Some(node) = absent {
        return Err(ReportError::NoSuchNode { node, last });
    }
    match options.node {
        None if source.driver() == "sim" => Ok((0..=last).collect()),
        None => Ok(told.into_iter().collect()),
        Some(node) if told.contains(&node) || source.driver() == "sim" => Ok(vec![node]),
        Some(node) => {
            let names: Vec<String> = told.iter().map(|node| format!("node {node}")).collect();
            Err(ReportError::Untold { node, told: names.join(", ") })
        }
    }
}

/// The shape of the run; of a real one, only those nodes are told of that wrote lines.
pub(crate) fn shape(source: &Source) -> Result<Shape, ReportError> {
    let shape = source.shape()?;
    let told = source.told();
    let partial = source.driver() != "sim" && told.len() < source.config.nodes;
    Ok(if partial { shape.with_witnesses(told) } else { shape })
}

fn account(source: &Source) -> Result<Account, ReportError> {
    let mut account = Account::new(shape(source)?)?;
    source.lines.iter().for_each(|line| account.push(line));
    Ok(account)
}

/// The account of everything that is known of the run, and how many contributions only ledgers tell of.
fn accounted(source: &Source) -> Result<(Account, BTreeMap<usize, u64>), ReportError> {
    let mut account = account(source)?;
    let unlogged = charge_ledgers(source, &mut account);
    lost::charge(source, &mut account);
    account.settle_final();
    Ok((account, unlogged))
}

/// Charges what only the ledgers know; how many contributions that were.
fn charge_ledgers(source: &Source, account: &mut Account) -> BTreeMap<usize, u64> {
    let mut lost = BTreeMap::new();
    for (&node, ledger) in &source.ledgers {
        let mut told: BTreeMap<u32, i64> = BTreeMap::new();
        for line in source.lines.iter().filter(|line| line.node == Some(node as u32)) {
            if let RunEvent::Released { round, .. } = line.event {
                *told.entry(round).or_default() += 1;
            }
        }
        for record in &ledger.records {
            let left = told.entry(record.round).or_default();
            *left -= 1;
            if *left < 0 {
                account.charge_record(node, &record.release, record.among);
                *lost.entry(node).or_default() += 1;
            }
        }
    }
    lost
}

/// The graph that participants spoke along, with the places of its nodes; for `rounds` everybody may meet everybody.
fn drawn(config: &Config) -> Option<(Graph, Vec<(f64, f64)>)> {
    let spec = match config.uses_graph() {
        true => config.graph_spec().ok()?,
        false if config.nodes <= MOST_COMPLETE => format!("complete:{}", config.nodes).parse().ok()?,
        false => return None,
    };
    let built = spec.build().ok()?;
    let places = topology::layout::of_spec(&spec, &built);
    Some((built.graph, places))
}

/// What all nodes' reports need.
struct About<'a> {
    source: &'a Source,
    table: &'a Table,
    graph: Option<&'a Graph>,
    delta: f64,
    listed: bool,
    declared: BTreeMap<usize, Declared>,
}

impl<'a> About<'a> {
    fn new(
        source: &'a Source,
        (table, graph): (&'a Table, Option<&'a Graph>),
        summary: &Summary,
        subjects: &[usize],
    ) -> Self {
        let listed = subjects.len() == 1 || source.config.nodes <= MOST_LISTED;
        Self { source, table, graph, delta: summary.delta, listed, declared: head::declared(source) }
    }

    fn nodes(&self, subjects: &[usize]) -> Vec<NodeReport> {
        subjects.iter().map(|&node| self.node(node)).collect()
    }

    fn figure(&self, epsilon: f64, analysis: &str) -> Figure {
        figure(epsilon, self.delta, analysis)
    }

    fn node(&self, node: usize) -> NodeReport {
        let mut peers = self.peers(node);
        peers.sort_by(|a, b| b.figure.epsilon.total_cmp(&a.figure.epsilon).then(a.index.cmp(&b.index)));
        let local = self.table.local_epsilon(node).unwrap_or(f64::INFINITY);
        let local = self.figure(local, if local.is_finite() { "local" } else { "none (no noise)" });
        let worst = match peers.first() {
            // Where not every watcher was priced, another may have seen more: nobody sees more than everything.
            _ if !self.table.is_complete() => WorstFigure { peer: None, node: None, figure: local.clone() },
            Some(first) => WorstFigure { peer: Some(first.index), node: None, figure: first.figure.clone() },
            None => WorstFigure { peer: None, node: None, figure: self.figure(0.0, "local") },
        };
        let sum: f64 = peers.iter().map(|peer| peer.figure.epsilon).sum();
        let name = if self.table.is_complete() {
            self.table.analysis().to_owned()
        } else {
            format!("{}, mean over {} watchers", self.table.analysis(), peers.len())
        };
        let mean = self.figure(sum / peers.len().max(1) as f64, &name);
        let budget = self.budget(&local, &worst.figure, &mean);
        let contributions =
            self.source.lines.iter().filter(|line| {
                line.node == Some(node as u32) && matches!(line.event, RunEvent::Released { .. })
            });
        let declared = self.declared.get(&node);
        NodeReport {
            index: node,
            label: self.label(node),
            name: declared.and_then(|declared| declared.name.clone()),
            records: declared.map(|declared| declared.records),
            kept_apart: declared.map(|declared| declared.kept_apart),
            persons: declared.and_then(|declared| declared.persons),
            most_of_person: declared.and_then(|declared| declared.most_of_person),
            data: declared.map(|declared| declared.data.clone()),
            data_digest: declared.map(|declared| declared.data_digest.clone()),
            earlier: declared.and_then(|declared| declared.earlier),
            personal: None,
            contributions: contributions.count() as u64,
            local,
            worst,
            mean,
            budget,
            peers: if self.listed { peers } else { Vec::new() },
        }
    }

    fn peers(&self, node: usize) -> Vec<PeerFigure> {
        let distances = self.graph.map(|graph| graph.distances_from(node));
        let others = (0..self.source.config.nodes).filter(|&other| other != node);
        others
            .filter_map(|other| {
                let (epsilon, analysis) = self.table.epsilon(node, other)?;
                let distance = match &distances {
                    None => Some(1),
                    Some(distances) => Some(distances[other]).filter(|&distance| distance != u32::MAX),
                };
                Some(PeerFigure { index: other, distance, figure: self.figure(epsilon, analysis) })
            })
            .collect()
    }

    fn budget(&self, local: &Figure, worst: &Figure, mean: &Figure) -> Budget {
        let privacy = &self.source.config.privacy;
        let (of, figure) = match privacy.target {
            Scope::Local => ("local", local),
            Scope::Worst => ("worst", worst),
            Scope::Mean => ("mean", mean),
        };
        Budget { epsilon: privacy.epsilon.filter(|epsilon| epsilon.is_finite()), spent: figure.epsilon, of }
    }

    /// The node's identity where a ledger names it.
    fn label(&self, node: usize) -> String {
        let known = self.source.ledgers.values().find_map(|ledger| ledger.members.get(node));
        known.map_or_else(|| format!("node {node}"), Clone::clone)
    }
}

/// Masked rounds are planned against colluders: their budget is about any so many together.
fn with_masked_budgets(mut nodes: Vec<NodeReport>, together: Option<&[f64]>) -> Vec<NodeReport> {
    for node in nodes.iter_mut().filter(|node| node.budget.of == "worst") {
        if let Some(together) = together {
            node.budget = Budget { spent: together[node.index], of: "colluders", ..node.budget.clone() };
        }
    }
    nodes
}

/// A loss and its analysis.
pub(crate) fn figure(epsilon: f64, delta: f64, analysis: &str) -> Figure {
    Figure { epsilon, mu2: mu2_through(epsilon, delta), analysis: analysis.to_owned() }
}

fn worst_of(nodes: &[NodeReport], summary: &Summary, all: usize) -> WorstFigure {
    let most = nodes
        .iter()
        .max_by(|a, b| a.worst.figure.epsilon.total_cmp(&b.worst.figure.epsilon).then(b.index.cmp(&a.index)));
    match most {
        Some(most) if nodes.len() < all || summary.worst.pair.is_some() => {
            WorstFigure { node: Some(most.index), ..most.worst.clone() }
        }
        _ => {
            let figure = figure(summary.worst.epsilon, summary.delta, &summary.worst.analysis);
            WorstFigure { peer: None, node: None, figure }
        }
    }
}

fn mean_of(nodes: &[NodeReport], summary: &Summary, all: usize) -> Figure {
    match nodes {
        [one] if all > 1 => one.mean.clone(),
        _ => figure(summary.mean.epsilon, summary.delta, &summary.mean.analysis),
    }
}

fn local_of(nodes: &[NodeReport], summary: &Summary) -> Figure {
    match nodes {
        [one] => one.local.clone(),
        _ => figure(summary.local.epsilon, summary.delta, &summary.local.analysis),
    }
}

/// Of masked rounds, about the nodes of this report: that of the others is not theirs.
fn colluding(nodes: &[NodeReport], together: Option<&[f64]>, summary: &Summary) -> Option<Colluding> {
    let (found, together) = summary.coalition.as_ref().zip(together)?;
    let epsilon = match nodes {
        [one] => together[one.index],
        _ => found.epsilon,
    };
    Some(Colluding { members: found.members, figure: figure(epsilon, summary.delta, &found.analysis) })
}

fn rounds(source: &Source, summary: &Summary, curve: crate::document::Curve) -> Rounds {
    let events = || source.lines.iter().map(|line| &line.event);
    let finished = events().filter_map(|event| match event {
        RunEvent::Finished { rounds, .. } => Some(*rounds),
        RunEvent::RoundDone { round, .. } | RunEvent::Mixed { round, .. } => Some(*round + 1),
        _ => None,
    });
    Rounds {
        planned: source.config.rounds,
        // A walk counts hops; rounds beyond the plan are none.
        finished: finished.max().unwrap_or(0).min(planned_steps(source)),
        // Under masks a broken round costs what any other costs.
        charged_as_local: if is_masked(source) { 0 } else { summary.broken_rounds },
        contributions: summary.releases,
        refused: events().filter(|event| matches!(event, RunEvent::Refused { .. })).count() as u64,
        curve,
    }
}

/// Rounds, or hops, that a run can have at most.
fn planned_steps(source: &Source) -> u32 {
    let first = source.shape();
    first.map_or(source.config.rounds, |shape| shape.rounds.max(source.config.rounds))
}

/// Whether contributions were masked.
pub(crate) fn is_masked(source: &Source) -> bool {
    source.config.privacy.masking == Masking::Pairwise
}

/// Whether a run's contributions carry noise at all.
pub(crate) fn has_noise(first: &RunEvent) -> bool {
    matches!(first, RunEvent::Run { release, .. } if !matches!(release, DpEvent::NonPrivate))
}
