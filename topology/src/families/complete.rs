//! The two extremes of trust: all pairs, and all through one.

use super::Edges;

/// All pairs.
pub(super) fn complete(nodes: usize) -> Edges {
    let nodes = nodes as u32;
    (0..nodes).flat_map(|u| (u + 1..nodes).map(move |v| (u, v))).collect()
}

/// Node 0 and its spokes.
pub(super) fn star(nodes: usize) -> Edges {
    (1..nodes as u32).map(|v| (0, v)).collect()
}
