//! Preferential attachment: A.-L. Barabási, R. Albert, "Emergence of scaling in random networks", Science 286 (1999).

use super::Edges;
use crate::stream::Stream;

/// The first newcomer, node m, joins the m nodes before it; each later one joins m different nodes, chosen in
/// proportion to their degree. m (n − m) edges, always connected.
pub(super) fn barabasi_albert(nodes: usize, m: usize, stream: &mut Stream) -> Edges {
    let mut edges: Edges = Vec::with_capacity(m * (nodes - m));
    // Every end of every edge: a uniform draw from it is a draw by degree.
    let mut ends: Vec<u32> = Vec::with_capacity(2 * m * (nodes - m));
    let mut chosen_by = vec![u32::MAX; nodes];
    for newcomer in m as u32..nodes as u32 {
        let first_end = ends.len() as u32;
        for i in 0..m as u32 {
            let target = if first_end == 0 { i } else { distinct(&ends, newcomer, &mut chosen_by, stream) };
            edges.push((target, newcomer));
        }
        for _ in 0..m {
            ends.push(newcomer);
        }
        let joined = &edges[edges.len() - m..];
        ends.extend(joined.iter().map(|&(target, _)| target));
    }
    edges
}

/// Draws until the end of an edge comes up that this newcomer has not chosen yet.
fn distinct(ends: &[u32], newcomer: u32, chosen_by: &mut [u32], stream: &mut Stream) -> u32 {
    loop {
        let target = ends[stream.below(ends.len() as u32) as usize];
        if chosen_by[target as usize] != newcomer {
            chosen_by[target as usize] = newcomer;
            return target;
        }
    }
}
