//! Lines of a log that could not be read: what they may have told of, and what that costs.
//!
//! Where a ledger lies beside the log, it says what was sent. Without one, a line that was cut short counts as one whole contribution of every node that it may
//! have been about, unless what is left of it says that it was about nothing that costs. How many lines a damaged stretch has swallowed, nothing tells: it
//! counts as all contributions for which the run has room and of which no line is left.

use std::collections::BTreeSet;

use protocol::account::Account;
use protocol::log::{How, Log, Lost};
use protocol::{LogLine, RunEvent};

use crate::source::Source;

/// Lines of one log that are charged one by one; a claim of more changes nothing that is left to protect.
const MOST_CHARGED: u32 = 1 << 16;

/// Lines that could not be read.
#[derive(Debug, Clone)]
pub(crate) struct LostLines {
    /// How many.
    pub(crate) count: u32,
    /// What became of them.
    pub(crate) how: How,
    /// Number in the file, where it is one line of it.
    line: Option<u64>,
    /// Whose they were; of anybody where nothing tells.
    pub(crate) node: Option<usize>,
    event: Option<String>,
    may_cost: bool,
    may_tell: bool,
}

/// What is lost of one log. Of a log that one node wrote, every line was about that node.
pub(crate) fn of_log(log: &Log) -> Vec<LostLines> {
    let writers: BTreeSet<u32> = log.lines.iter().filter_map(|line| line.node).collect();
    let only = writers.first().copied().filter(|_| writers.len() == 1);
    let one = |lost: &Lost| LostLines {
        count: 1,
        how: lost.how,
        line: Some(lost.line),
        node: lost.node.or(only).map(|node| node as usize),
        event: lost.event.clone(),
        may_cost: lost.may_cost(),
        may_tell: lost.may_tell(),
    };
    log.lost.iter().map(one).collect()
}

/// What had been lost already when a log was put together from others.
pub(crate) fn told_of(lines: &[LogLine]) -> Vec<LostLines> {
    let one = |line: &LogLine| match line.event {
        RunEvent::LostLines { count } => Some(LostLines {
            count,
            how: How::Damaged,
            line: None,
            node: line.node.map(|node| node as usize),
            event: None,
            may_cost: true,
            may_tell: true,
        }),
        _ => None,
    };
    lines.iter().filter_map(one).collect()
}

/// What a lost line costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Nothing: what is left of it says that it was about nothing that costs.
    Harmless,
    /// No contribution: a ledger has them all, or it was about none.
    InLedger,
    /// A whole contribution.
    InFull,
}

impl LostLines {
    /// What they cost in this run.
    pub(crate) fn cost(&self, source: &Source) -> Cost {
        if !self.may_tell {
            return Cost::Harmless;
        }
        if !self.may_cost || self.about(source).all(|node| source.ledgers.contains_key(&node)) {
            Cost::InLedger
        } else {
            Cost::InFull
        }
    }

    /// The nodes whose contributions they may have told of.
    fn about(&self, source: &Source) -> impl Iterator<Item = usize> + use<> {
        let all = 0..source.config.nodes;
        let told = source.told();
        // A number that is no node's names nobody.
        let only = self.node.filter(|&node| node < source.config.nodes);
        let simulated = source.driver() == "sim";
        all.filter(move |node| only.map_or(simulated || told.contains(node), |only| only == *node))
    }

    /// `line 812 was cut short: a line of node 3 of the kind "released"`.
    fn words(&self) -> String {
        let place = match (self.line, self.count) {
            (Some(line), _) => format!("line {line} {}", self.how),
            (None, 1) => "one line of a node's own log could not be read".to_owned(),
            (None, count) => format!("{count} lines of a node's own log could not be read"),
        };
        match (self.node, &self.event) {
            (None, _) => place,
            (Some(node), None) => format!("{place} (of node {node})"),
            (Some(node), Some(event)) => format!("{place} (`{event}` of node {node})"),
        }
    }
}

/// Charges what no ledger knows.
///
/// # Guarantee
/// A contribution whose line is among the lost ones is not free, if it had the noise of the run's first line. Who was sent what is not taken from lines that are
/// not there: a ledger knows contributions only.
pub(crate) fn charge(source: &Source, account: &mut Account) {
    let RunEvent::Run { release, .. } = &source.first else { return };
    source.lost.iter().filter(|lost| lost.may_tell).for_each(|_| account.lose_line());
    for lost in source.lost.iter().filter(|lost| lost.cost(source) == Cost::InFull) {
        for node in lost.about(source).filter(|node| !source.ledgers.contains_key(node)) {
            match lost.how {
                How::Damaged => account.charge_unknown(node, release),
                How::Cut => {
                    (0..lost.count.min(MOST_CHARGED)).for_each(|_| account.charge_record(node, release, None))
                }
            }
        }
    }
}

/// Whether a line is lost that may have told of something that costs.
pub(crate) fn may_tell(source: &Source) -> bool {
    source.lost.iter().any(|lost| lost.may_tell)
}

/// Sentences about what is missing, for the list of assumptions.
pub(crate) fn sentences(source: &Source) -> Vec<String> {
    const MOST_NAMED: usize = 4;
    let mut all = Vec::new();
    let count: u64 = source.lost.iter().map(|lost| u64::from(lost.count)).sum();
    if count > 0 {
        let mut named: Vec<String> = source.lost.iter().take(MOST_NAMED).map(LostLines::words).collect();
        if source.lost.len() > MOST_NAMED {
            named.push(format!("{} more", source.lost.len() - MOST_NAMED));
        }
        let in_full = source.lost.iter().any(|lost| lost.cost(source) == Cost::InFull);
        let cost = if in_full {
            "where no ledger tells what was lost, a line that was cut counts as one whole contribution of every node that it may have been about, and damage as all contributions of which no line is left"
        } else {
            "no contribution was lost"
        };
        let lines = crate::words::counted(count, "line");
        all.push(format!("The log is whole but for {lines}: {}; {cost}.", named.join(", ")));
    }
    let finished = |line: &LogLine| matches!(line.event, RunEvent::Finished { .. }).then_some(line.node?);
    let finished: BTreeSet<usize> =
        source.lines.iter().filter_map(finished).map(|node| node as usize).collect();
    let (told, unfinished) = (source.told(), source.told().difference(&finished).count());
    if unfinished > 0 {
        all.push(format!(
            "The log ends before the run does: {unfinished} of {} had not finished; what came later, if anything, is not in these figures.",
            crate::words::counted(told.len() as u64, "node")
        ));
    }
    all
}
