//! Weights from a text file: one triple `i j w` per line, "node i takes the value of node j with weight w".
//!
//! Nodes are named as the graph names them (labels, or positions from 0). Empty lines and lines that begin with
//! `#` or `%` are skipped. Invariant: each weight lies on an edge of the graph or on the diagonal, none is given
//! twice, and all weights of a node sum to one; what is left out is zero.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::TopologyError;
use crate::graph::Graph;
use crate::matrix::MixingMatrix;

/// Row sums of numbers written with a few digits only: they are checked to this and then made exact.
const WRITTEN_SUM_TOLERANCE: f64 = 1e-5;

/// Reads and checks the weights in `path` for `graph`.
pub(super) fn read(path: &Path, graph: &Graph) -> Result<MixingMatrix, TopologyError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| TopologyError::WeightsUnreadable { path: path.into(), source })?;
    let mut entries = Vec::new();
    let names = Names::of(graph);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let entry = triple(line, graph, &names).map_err(|why| TopologyError::WeightsLine {
            path: path.into(),
            line: at + 1,
            text: line.chars().take(80).collect(),
            why,
        })?;
        entries.push((entry, at + 1));
    }
    assemble(path, graph, entries)
}

/// Positions by label, where the graph has labels.
struct Names(Option<BTreeMap<String, u32>>);

impl Names {
    fn of(graph: &Graph) -> Self {
        let positions = |labels: &[String]| labels.iter().cloned().zip(0u32..).collect();
        Self(graph.labels().map(positions))
    }

    fn position(&self, name: &str, graph: &Graph) -> Result<u32, String> {
        let found = match &self.0 {
            Some(labels) => labels.get(name).copied(),
            None => name.parse().ok().filter(|&node: &u32| (node as usize) < graph.nodes()),
        };
        found.ok_or_else(|| format!("no node `{name}` in this graph of {} nodes", graph.nodes()))
    }
}

type Entry = (u32, u32, f64);

fn triple(line: &str, graph: &Graph, names: &Names) -> Result<Entry, String> {
    let separated = |c: char| c.is_whitespace() || c == ',';
    let fields: Vec<&str> = line.split(separated).filter(|field| !field.is_empty()).collect();
    let [row, column, weight] = fields[..] else {
        return Err(format!("expected three fields `i j w`, found {}", fields.len()));
    };
    let (row, column) = (names.position(row, graph)?, names.position(column, graph)?);
    let weight: f64 = weight.parse().map_err(|_| format!("`{weight}` is not a number"))?;
    if !weight.is_finite() || weight < 0.0 {
        return Err(format!("weights are finite and not negative, not {weight}"));
    }
    if weight > 0.0 && row != column && !graph.has_edge(row as usize, column as usize) {
        return Err("there is no edge between these nodes".into());
    }
    Ok((row, column, weight))
}

fn assemble(
    path: &Path,
    graph: &Graph,
    mut entries: Vec<(Entry, usize)>,
) -> Result<MixingMatrix, TopologyError> {
    entries.sort_by_key(|&((row, column, _), line)| (row, column, line));
    if let Some(pair) = entries.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        let ((row, column, weight), line) = pair[1];
        return Err(TopologyError::WeightsLine {
            path: path.into(),
            line,
            text: format!("{} {} {weight}", graph.label(row as usize), graph.label(column as usize)),
            why: format!("this weight was given in line {} already", pair[0].1),
        });
    }
    let nodes = graph.nodes();
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in entries_by_row(&entries, nodes) {
        let node = offsets.len() - 1;
        let sum = row.iter().fold(0.0, |sum, &((_, _, weight), _)| sum + weight);
        if (sum - 1.0).abs() > WRITTEN_SUM_TOLERANCE {
            return Err(TopologyError::WeightsRowSum { path: path.into(), node: graph.label(node), sum });
        }
        columns.extend(row.iter().map(|&((_, column, _), _)| column));
        values.extend(exact_row(row, node as u32, sum));
        offsets.push(columns.len());
    }
    MixingMatrix::new(offsets, columns, values)
}

/// The weights of a row with the rounding of their written form taken out: on the diagonal where there is one,
/// so that weights written symmetrically stay symmetric, else in proportion.
fn exact_row(row: &[(Entry, usize)], node: u32, sum: f64) -> impl Iterator<Item = f64> {
    let rest = 1.0 - sum;
    let on_diagonal = row.iter().any(|&((_, column, weight), _)| column == node && weight + rest >= 0.0);
    row.iter().map(move |&((_, column, weight), _)| match (on_diagonal, column == node) {
        (true, true) => weight + rest,
        (true, false) => weight,
        (false, _) => weight / sum,
    })
}

fn key(entry: &(Entry, usize)) -> (u32, u32) {
    (entry.0.0, entry.0.1)
}

/// The entries of each row in turn, rows without any included.
fn entries_by_row(entries: &[(Entry, usize)], nodes: usize) -> impl Iterator<Item = &[(Entry, usize)]> {
    let mut rest = entries;
    (0..nodes).map(move |node| {
        let (row, later) = rest.split_at(rest.partition_point(|entry| (entry.0.0 as usize) <= node));
        rest = later;
        row
    })
}
