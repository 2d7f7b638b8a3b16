//! ε, and where it may be shown the training loss, over the rounds.

use std::collections::BTreeMap;

use protocol::RunEvent;
use protocol::account::{Account, Shape};

use crate::document::{Curve, CurvePoint};
use crate::fold::{Options, ReportError};
use crate::source::Source;

/// Points of a curve at most.
const MOST_POINTS: u32 = 60;

/// Pairs up to which every point of `rounds` is priced.
const MOST_PAIRS: usize = 1 << 18;

/// Points at which gossip and walks are priced: each costs a whole account.
const DEAR_POINTS: u32 = 8;

/// Pairs up to which gossip and walks are priced more than once.
const MOST_DEAR_PAIRS: usize = 1 << 12;

/// The curve of a run. Without ε where the log is not `whole`: when something happened of which no line is left, nothing tells.
pub(crate) fn of(
    source: &Source,
    options: &Options,
    (shape, whole): (&Shape, bool),
) -> Result<Curve, ReportError> {
    let last = source.lines.iter().filter_map(|line| line.event.round()).max().unwrap_or(0);
    let mut curve = Curve { points: Vec::new(), meaning: meaning(source, options, whole) };
    let stride = (last + 1).div_ceil(MOST_POINTS);
    let dear = stride.max((last + 1).div_ceil(DEAR_POINTS));
    let cheap = shape.algorithm.settles_by_round() && shape.nodes * shape.nodes <= MOST_PAIRS;
    let few = shape.nodes * shape.nodes <= MOST_DEAR_PAIRS;
    let due = |round: u32, stride: u32| round == last || (round + 1).is_multiple_of(stride);
    let priced = |round: u32| whole && (cheap || (few && due(round, dear)));
    let mut account = Account::new(shape.clone())?;
    let mut reached = 0;
    let mut close = |account: &Account, round: u32| {
        if due(round, stride) {
            let bare = CurvePoint { round, ..CurvePoint::default() };
            curve.points.push(if priced(round) { point(account, round, options) } else { bare });
        }
    };
    for line in &source.lines {
        // Logs go round by round: the first line of a later round closes the one before it.
        if let Some(round) = line.event.round().filter(|&round| round > reached) {
            close(&account, reached);
            reached = round;
        }
        account.push(line);
    }
    close(&account, reached);
    // What no ε covers: on real data it is nobody else's business unless the reader asks for it.
    if source.driver() == "sim" || options.with_loss {
        add_losses(&mut curve, source, options);
        add_metrics(&mut curve, source);
    }
    Ok(curve)
}

fn meaning(source: &Source, options: &Options, whole: bool) -> String {
    if !whole {
        return "no ε by round: lines are lost, and nothing tells of which round they were".into();
    }
    let who = match options.node {
        Some(node) => format!("node {node}"),
        None => "all nodes".into(),
    };
    let kind = source.config.algorithm.kind.name();
    format!("ε of {who} had the run ended after that round, by the analyses of the final figures ({kind})")
}

/// What would have been lost had the run ended here.
fn point(account: &Account, round: u32, options: &Options) -> CurvePoint {
    let mut account = account.clone();
    account.settle_final();
    let finite = |value: f64| value.is_finite().then_some(value);
    let Some(node) = options.node else {
        let summary = account.summary();
        return CurvePoint {
            round,
            worst: finite(summary.worst.epsilon),
            mean: finite(summary.mean.epsilon),
            local: finite(summary.local.epsilon),
            ..CurvePoint::default()
        };
    };
    let (table, nodes) = (account.pairs(), account.shape().nodes);
    let others = (0..nodes).filter(|&other| other != node);
    let losses: Vec<f64> = others.filter_map(|other| Some(table.epsilon(node, other)?.0)).collect();
    let local = table.local_epsilon(node).and_then(finite);
    let worst = if table.is_complete() { finite(losses.iter().copied().fold(0.0, f64::max)) } else { local };
    let mean = finite(losses.iter().sum::<f64>() / losses.len().max(1) as f64);
    CurvePoint { round, worst, mean, local, ..CurvePoint::default() }
}

/// Mean training loss by round.
fn add_losses(curve: &mut Curve, source: &Source, options: &Options) {
    let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for line in &source.lines {
        let mine = options.node.is_none_or(|node| line.node == Some(node as u32));
        if let (true, RunEvent::Released { round, loss: Some(loss), .. }) = (mine, &line.event) {
            let sum = sums.entry(*round).or_default();
            *sum = (sum.0 + loss, sum.1 + 1);
        }
    }
    for (round, (sum, count)) in sums {
        if let Some(point) = curve.points.iter_mut().find(|point| point.round == round) {
            point.train_loss = Some(sum / f64::from(count));
        }
    }
}

/// Test accuracy and loss from `metrics.csv`.
fn add_metrics(curve: &mut Curve, source: &Source) {
    let Some(text) = &source.metrics else { return };
    let mut lines = text.lines();
    let Some(header) = lines.next() else { return };
    let column = |name: &str| header.split(',').position(|column| column == name);
    let (Some(round), accuracy, loss) = (column("round"), column("test_acc"), column("test_loss")) else {
        return;
    };
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: Option<usize>| cells.get(at?)?.parse::<f64>().ok();
        let Some(at) = cells.get(round).and_then(|cell| cell.parse::<u32>().ok()) else { continue };
        if let Some(point) = curve.points.iter_mut().find(|point| point.round == at) {
            (point.test_acc, point.test_loss) = (number(accuracy), number(loss));
        }
    }
}
