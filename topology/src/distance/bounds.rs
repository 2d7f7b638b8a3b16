//! The diameter of a large graph by iFUB: P. Crescenzi, R. Grossi, M. Habib, L. Lanzi, A. Marino, "On computing
//! the diameter of real-world undirected graphs", Theoretical Computer Science 514 (2013).
//!
//! Every pair of nodes no farther than i from the centre u is no farther apart than 2i. So if the
//! eccentricities of all nodes beyond level i are known, and one of them is at least 2i, it is the diameter.

use super::UNREACHABLE;
use crate::graph::Graph;

/// What is known about a diameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) at_least: u32,
    pub(super) at_most: u32,
}

/// Narrows `known` with at most `searches` further breadth-first searches beside the seven of the start.
pub(super) fn diameter(graph: &Graph, mut known: Bounds, searches: usize) -> Bounds {
    let centre = centre(graph, &mut known);
    let levels = graph.distances_from(centre);
    let eccentricity = farthest(&levels).1;
    known.at_least = known.at_least.max(eccentricity);
    known.at_most = known.at_most.min(2 * eccentricity);
    // With fewer searches than nodes beyond level at_least / 2 the bound cannot close: do not begin.
    let beyond = levels.iter().filter(|&&level| level > known.at_least / 2).count();
    if beyond > searches {
        return known;
    }
    for level in (1..=eccentricity).rev() {
        if known.at_least >= known.at_most {
            break;
        }
        for node in (0..graph.nodes()).filter(|&v| levels[v] == level) {
            known.at_least = known.at_least.max(farthest(&graph.distances_from(node)).1);
        }
        known.at_most = known.at_most.min(known.at_least.max(2 * (level - 1)));
    }
    known
}

/// A node whose largest distance to the ends of two double sweeps is least. The middle of one long shortest path
/// would do for many graphs, but in a grid it may lie on the border.
fn centre(graph: &Graph, known: &mut Bounds) -> usize {
    let mut start = (0..graph.nodes()).max_by_key(|&v| (graph.degree(v), usize::MAX - v)).unwrap_or(0);
    let mut worst = vec![0; graph.nodes()];
    for _ in 0..2 {
        let (mut end, _) = farthest(&graph.distances_from(start));
        for _ in 0..2 {
            let distances = graph.distances_from(end);
            let (other_end, length) = farthest(&distances);
            known.at_least = known.at_least.max(length);
            worst.iter_mut().zip(&distances).for_each(|(worst, &d)| *worst = d.max(*worst));
            end = other_end;
        }
        start = (0..graph.nodes()).min_by_key(|&v| worst[v]).unwrap_or(0);
    }
    start
}

/// The first node at the largest finite distance.
fn farthest(distances: &[u32]) -> (usize, u32) {
    let mut best = (0, 0);
    for (node, &distance) in distances.iter().enumerate() {
        if distance != UNREACHABLE && distance > best.1 {
            best = (node, distance);
        }
    }
    best
}
