//! Random pairwise gossip: in each step a random maximal matching, whose pairs take their mean.
//!
//! Maximal means that no two nodes that may meet are both left idle. Randomised gossip: Boyd, Ghosh, Prabhakar
//! and Shah, "Randomized gossip algorithms" (2006), here with many disjoint pairs at once.

use rand_chacha::rand_core::Rng;

use super::Role;
use super::key::shuffle;
use crate::graph::Graph;
use crate::matrix::MixingMatrix;

/// The roles of one step. Where `graph` is `None` any two of the `nodes` may meet.
///
/// Complexity: O(nodes + edges): the edges in random order, each taken if both its ends are free.
pub fn random_matching(graph: Option<&Graph>, nodes: usize, rng: &mut impl Rng) -> Vec<Role> {
    let mut roles = vec![Role::Idle; nodes];
    let mut meet = |u: u32, v: u32| {
        let (u, v) = (u as usize, v as usize);
        if roles[u] == Role::Idle && roles[v] == Role::Idle {
            (roles[u], roles[v]) = (Role::Exchange(v), Role::Exchange(u));
        }
    };
    if let Some(graph) = graph {
        let mut edges: Vec<(u32, u32)> = graph.iter_edges().collect();
        shuffle(&mut edges, rng);
        edges.into_iter().for_each(|(u, v)| meet(u, v));
    } else {
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        shuffle(&mut order, rng);
        order.chunks_exact(2).for_each(|pair| meet(pair[0], pair[1]));
    }
    roles
}

/// One half of each of two matched nodes; the others keep their values.
pub(super) fn matrix(roles: &[Role]) -> MixingMatrix {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (node, role) in roles.iter().enumerate() {
        match role.hears() {
            None => {
                columns.push(node as u32);
                values.push(1.0);
            }
            Some(partner) => {
                columns.extend([node.min(partner) as u32, node.max(partner) as u32]);
                values.extend([0.5, 0.5]);
            }
        }
        offsets.push(columns.len());
    }
    MixingMatrix::new(offsets, columns, values).expect("halves sum to one")
}
