//! The graph of a case, with weights that are written out independently of the topology crate.

use std::error::Error;

use topology::{Graph, MixingMatrix};

use super::harness::Case;

/// `n` and `edges`, with Metropolis weights 1/(1 + max degree).
pub(crate) fn matrix(case: &Case<'_>) -> Result<MixingMatrix, Box<dyn Error>> {
    let edges: Vec<(u32, u32)> = case.get("edges")?;
    let (graph, _) = Graph::from_edges(case.get("n")?, &edges)?;
    let weight = |u: usize, v: u32| 1.0 / (1.0 + graph.degree(u).max(graph.degree(v as usize)) as f64);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for u in 0..graph.nodes() {
        let mut row: Vec<(u32, f64)> = graph.neighbours(u).iter().map(|&v| (v, weight(u, v))).collect();
        row.push((u as u32, 1.0 - row.iter().map(|entry| entry.1).sum::<f64>()));
        row.sort_by_key(|entry| entry.0);
        columns.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(columns.len());
    }
    Ok(MixingMatrix::new(offsets, columns, values)?)
}
