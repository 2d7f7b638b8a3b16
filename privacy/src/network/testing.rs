//! Graphs for the tests of this module.

use topology::{Graph, MixingMatrix};

/// Metropolis weights 1/(1 + max degree), written out independently of the topology crate.
pub(crate) fn matrix_of(graph: &Graph) -> MixingMatrix {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for u in 0..graph.nodes() {
        let weight = |v: usize| 1.0 / (1.0 + graph.degree(u).max(graph.degree(v)) as f64);
        let own = 1.0 - graph.neighbours(u).iter().map(|&v| weight(v as usize)).sum::<f64>();
        let mut row: Vec<(u32, f64)> = graph.neighbours(u).iter().map(|&v| (v, weight(v as usize))).collect();
        row.push((u as u32, own));
        row.sort_by_key(|entry| entry.0);
        columns.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(columns.len());
    }
    MixingMatrix::new(offsets, columns, values).unwrap()
}

pub(crate) fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges).unwrap().0
}

pub(crate) fn hypercube(dimensions: u32) -> Graph {
    let nodes = 1u32 << dimensions;
    let edges: Vec<_> = (0..nodes).flat_map(|u| (0..dimensions).map(move |k| (u, u ^ (1 << k)))).collect();
    graph(nodes as usize, &edges)
}

pub(crate) fn path(nodes: u32) -> Graph {
    graph(nodes as usize, &(1..nodes).map(|i| (i - 1, i)).collect::<Vec<_>>())
}

pub(crate) fn ring(nodes: u32) -> Graph {
    graph(nodes as usize, &(0..nodes).map(|i| (i, (i + 1) % nodes)).collect::<Vec<_>>())
}
