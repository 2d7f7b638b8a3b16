//! Graphs that look the same after turning: ring, exponential, Harary.

use super::Edges;

/// Node `i` is joined to `i + jump mod n` for every jump.
pub(super) fn circulant(nodes: usize, jumps: &[usize]) -> Edges {
    let joined = |i: usize, jump: usize| (i as u32, ((i + jump) % nodes) as u32);
    jumps.iter().flat_map(|&jump| (0..nodes).map(move |i| joined(i, jump))).collect()
}

/// Jumps of 1, 2, 4, … below n: the static exponential graph of B. Ying et al. (NeurIPS 2021), made undirected.
pub(super) fn exponential(nodes: usize) -> Edges {
    let jumps: Vec<usize> = (0..usize::BITS).map(|k| 1 << k).take_while(|&jump| jump < nodes).collect();
    circulant(nodes, &jumps)
}

/// H(k, n) of F. Harary, "The maximum connectivity of a graph" (1962): ⌈kn/2⌉ edges. For odd k an even ring gets
/// its diameters; an odd one nearly, and the node opposite to node 0 has degree k + 1.
pub(super) fn harary(nodes: usize, k: usize) -> Edges {
    let jumps: Vec<usize> = (1..=k / 2).collect();
    let mut edges = circulant(nodes, &jumps);
    if k % 2 == 1 {
        let half = nodes / 2;
        let starts = if nodes.is_multiple_of(2) { half } else { half + 1 };
        edges.extend((0..starts).map(|i| (i as u32, ((i + half) % nodes) as u32)));
    }
    edges
}
