//! Every node picks k others: the overlay that a peer sampling service gives.

use super::Edges;
use crate::stream::Stream;

/// Each node picks `k` different others uniformly by R. Floyd's method, in O(k); mutual picks become one edge.
pub(super) fn k_out(nodes: usize, k: usize, stream: &mut Stream) -> Edges {
    let mut edges = Vec::with_capacity(nodes * k);
    let mut picked_by = vec![u32::MAX; nodes];
    let others = nodes as u32 - 1;
    for node in 0..nodes as u32 {
        // Floyd: for j = n−k … n−1 pick below j + 1, and j itself where that was picked before.
        for last in others - k as u32..others {
            let draw = stream.below(last + 1);
            let choice = if picked_by[draw as usize] == node { last } else { draw };
            picked_by[choice as usize] = node;
            // The others are numbered 0..others with the node itself left out.
            edges.push((node, if choice < node { choice } else { choice + 1 }));
        }
    }
    edges
}
