//! Distances in a tree, in linear time: the diameter by two sweeps, the sum because every edge is crossed by
//! exactly the pairs that it separates.

use super::DistanceSummary;
use crate::graph::Graph;

/// Exact summary of a connected graph with one edge less than nodes.
pub(super) fn summary(graph: &Graph) -> DistanceSummary {
    let nodes = graph.nodes();
    let from_root = graph.distances_from(0);
    let deepest = (0..nodes).max_by_key(|&v| from_root[v]).unwrap_or(0);
    let diameter = graph.distances_from(deepest).into_iter().max().unwrap_or(0);
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(from_root[v]));
    let mut below = vec![1u64; nodes];
    let mut sum = 0u128;
    for node in order {
        let parent = graph.neighbours(node).iter().find(|&&v| from_root[v as usize] < from_root[node]);
        if let Some(&parent) = parent {
            sum += 2 * u128::from(below[node]) * (nodes as u128 - u128::from(below[node]));
            below[parent as usize] += below[node];
        }
    }
    DistanceSummary::exact(diameter, sum, nodes)
}
