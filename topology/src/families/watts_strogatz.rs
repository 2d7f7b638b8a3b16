//! Small worlds: D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393 (1998).

use super::Edges;
use crate::stream::Stream;

/// Ring with k neighbours each (k even); the edge from i to i + j is, with probability `beta`, sent from i to a
/// node drawn uniformly among those that i is not joined to. The number of edges stays n k / 2.
pub(super) fn watts_strogatz(nodes: usize, k: usize, beta: f64, stream: &mut Stream) -> Edges {
    let mut adjacency: Vec<Vec<u32>> = vec![Vec::with_capacity(k + 2); nodes];
    for i in 0..nodes {
        for jump in 1..=k / 2 {
            let j = (i + jump) % nodes;
            adjacency[i].push(j as u32);
            adjacency[j].push(i as u32);
        }
    }
    for jump in 1..=k / 2 {
        for i in 0..nodes {
            if stream.chance(beta) {
                rewire(&mut adjacency, i, (i + jump) % nodes, stream);
            }
        }
    }
    let upward = |(u, list): (usize, &Vec<u32>)| {
        list.iter().filter(|&&v| u < v as usize).map(|&v| (u as u32, v)).collect::<Vec<_>>()
    };
    adjacency.iter().enumerate().flat_map(upward).collect()
}

fn rewire(adjacency: &mut [Vec<u32>], from: usize, to: usize, stream: &mut Stream) {
    let nodes = adjacency.len();
    if adjacency[from].len() + 1 >= nodes {
        return;
    }
    let target = loop {
        let target = stream.below(nodes as u32);
        if target as usize != from && !adjacency[from].contains(&target) {
            break target;
        }
    };
    for (list, gone) in [(from, to as u32), (to, from as u32)] {
        adjacency[list].retain(|&v| v != gone);
    }
    adjacency[from].push(target);
    adjacency[target as usize].push(from as u32);
}
