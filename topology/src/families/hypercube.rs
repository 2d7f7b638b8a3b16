//! The hypercube: the graph of recursive doubling.

use super::Edges;

/// Nodes whose numbers differ in one bit; `nodes` is a power of two.
pub(super) fn hypercube(nodes: usize) -> Edges {
    let nodes = nodes as u32;
    let bits = nodes.trailing_zeros();
    let upward = |u: u32| (0..bits).map(move |bit| (u, u ^ (1 << bit))).filter(|(u, v)| u < v);
    (0..nodes).flat_map(upward).collect()
}
