//! Trees drawn outwards from the root: depth is the radius, and every subtree gets an angle in proportion to its
//! leaves.

use std::f64::consts::TAU;

use super::Point;
use crate::graph::Graph;

/// Places of a tree with root 0 whose parents have lower numbers than their children.
pub(super) fn radial(graph: &Graph) -> Vec<Point> {
    let nodes = graph.nodes();
    let parent = |node: usize| graph.neighbours(node).first().map(|&p| p as usize).filter(|&p| p < node);
    let mut leaves = vec![0.0f64; nodes];
    for node in (0..nodes).rev() {
        if leaves[node] == 0.0 {
            leaves[node] = 1.0;
        }
        if let Some(parent) = parent(node) {
            leaves[parent] += leaves[node];
        }
    }
    let depth = graph.distances_from(0);
    // The first angle of each subtree that is not given away yet.
    let mut free = vec![0.0f64; nodes];
    let mut places = vec![(0.0, 0.0); nodes];
    let unit = TAU / leaves[0];
    for node in 1..nodes {
        if let Some(parent) = parent(node) {
            let first = free[parent];
            free[parent] += leaves[node] * unit;
            free[node] = first;
            let angle = first + leaves[node] * unit / 2.0;
            let radius = f64::from(depth[node]);
            places[node] = (radius * libm::cos(angle), radius * libm::sin(angle));
        }
    }
    places
}
