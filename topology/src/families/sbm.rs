//! The stochastic block model (Holland, Laskey, Leinhardt, 1983) with equal blocks of consecutive nodes.

use super::Edges;
use super::pairs::{Triangle, count, picked};
use crate::stream::Stream;

/// A cut of `0..nodes` into consecutive blocks whose sizes differ by at most one.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) nodes: usize,
    pub(super) blocks: usize,
}

impl Blocks {
    fn start(self, block: usize) -> u32 {
        (block as u64 * self.nodes as u64 / self.blocks as u64) as u32
    }

    fn of(self, node: u32) -> u32 {
        // The inverse of `start`: the last block that begins at or before the node.
        (((u64::from(node) + 1) * self.blocks as u64 - 1) / self.nodes as u64) as u32
    }
}

/// Expected time O(nodes + edges): pairs across are drawn among all pairs and kept where the blocks differ, which
/// wastes at most about one in `blocks` (and nothing is drawn where there is only one block).
pub(super) fn sbm(blocks: Blocks, p_in: f64, p_out: f64, stream: &mut Stream) -> Edges {
    let mut edges = Vec::new();
    for block in 0..blocks.blocks {
        let (start, end) = (blocks.start(block), blocks.start(block + 1));
        let mut triangle = Triangle::default();
        let inside = picked(count((end - start) as usize), p_in, stream).map(|position| {
            let (u, v) = triangle.pair(position);
            (start + u, start + v)
        });
        edges.extend(inside);
    }
    if blocks.blocks > 1 {
        let mut triangle = Triangle::default();
        let across = picked(count(blocks.nodes), p_out, stream)
            .map(|position| triangle.pair(position))
            .filter(|&(u, v)| blocks.of(u) != blocks.of(v));
        edges.extend(across);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn every_node_is_in_the_block_that_its_bounds_say() {
        for nodes in 1..60 {
            for count in 1..=nodes {
                let blocks = Blocks { nodes, blocks: count };
                for block in 0..count {
                    for node in blocks.start(block)..blocks.start(block + 1) {
                        assert_eq!(blocks.of(node) as usize, block, "node {node} of {nodes} in {count}");
                    }
                }
            }
        }
    }
}
