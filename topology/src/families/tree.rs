//! Complete trees.

use super::Edges;

/// The complete tree in which inner nodes have `branch` children, filled level by level.
pub(super) fn tree(nodes: usize, branch: usize) -> Edges {
    (1..nodes).map(|i| (((i - 1) / branch) as u32, i as u32)).collect()
}
