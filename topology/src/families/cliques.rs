//! A ring of cliques: the standard example of a graph that mixes slowly although nearly all its edges are local.

use super::Edges;

/// ⌈nodes / clique⌉ cliques whose sizes differ by at most one; the last node of each is joined to the first of
/// the next, round the ring. One clique alone is the complete graph.
pub(super) fn ring_of_cliques(nodes: usize, clique: usize) -> Edges {
    let count = nodes.div_ceil(clique);
    // Multiplied in u64 so that the boundaries cannot overflow.
    let start = |i: usize| (i as u64 * nodes as u64 / count as u64) as u32;
    let mut edges = Vec::with_capacity(nodes * clique / 2 + count);
    for i in 0..count {
        let (first, end) = (start(i), start(i + 1));
        edges.extend((first..end).flat_map(|u| (u + 1..end).map(move |v| (u, v))));
        if count > 1 {
            edges.push((end - 1, end % nodes as u32));
        }
    }
    edges
}
