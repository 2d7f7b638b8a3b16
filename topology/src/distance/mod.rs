//! Distances in hops: from one node, their mean over all pairs, and the largest (the diameter).
//!
//! Exact wherever that is cheap: trees in linear time, graphs with nodes × arcs ≤ [`EXACT_WORK`] by breadth-first
//! search from every node, 256 sources at once. Above that the mean is estimated from sources drawn with a
//! fixed seed, and the diameter is found by iFUB (Crescenzi et al., 2013) where its bound can be closed with few
//! searches, else given as a lower and an upper bound. [`DistanceSummary`] says which of these it is.

mod bounds;
mod many;
mod tree;

use rayon::prelude::*;

use crate::graph::Graph;
use crate::stream::Stream;

/// Nodes × arcs (an edge is two arcs) up to which distances between all pairs are computed.
pub const EXACT_WORK: u64 = 1_000_000_000;

/// Nodes and arcs that the searches of an estimate may visit together.
const ESTIMATE_WORK: usize = 100_000_000;

/// The distance of nodes that cannot reach each other.
pub const UNREACHABLE: u32 = u32::MAX;

/// Mean and largest distance of a connected graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceSummary {
    /// The largest distance; a lower bound where `diameter_at_most` is greater.
    pub diameter: u32,
    /// An upper bound of the diameter, equal to it where the diameter is exact.
    pub diameter_at_most: u32,
    /// Mean over all pairs of different nodes; 0 for a single node.
    pub mean: f64,
    /// Standard error of the mean where it is an estimate, none where it is exact.
    pub mean_standard_error: Option<f64>,
}

impl DistanceSummary {
    /// Whether `diameter` is the diameter and not a lower bound.
    pub fn is_diameter_exact(&self) -> bool {
        self.diameter == self.diameter_at_most
    }

    /// Whether `mean` is the mean over all pairs and not an estimate.
    pub fn is_mean_exact(&self) -> bool {
        self.mean_standard_error.is_none()
    }

    fn exact(diameter: u32, sum: u128, nodes: usize) -> Self {
        let pairs = (nodes as u128) * (nodes as u128).saturating_sub(1);
        let mean = if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 };
        Self { diameter, diameter_at_most: diameter, mean, mean_standard_error: None }
    }
}

impl Graph {
    /// Distance in hops of every node from `source`; [`UNREACHABLE`] where there is no path.
    ///
    /// Complexity: O(nodes + edges).
    ///
    /// # Panics
    /// Where `source` is not a node.
    pub fn distances_from(&self, source: usize) -> Vec<u32> {
        let mut distances = vec![UNREACHABLE; self.nodes()];
        let mut queue = Vec::with_capacity(self.nodes());
        distances[source] = 0;
        queue.push(source as u32);
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let next = distances[node as usize] + 1;
            for &other in self.neighbours(node as usize) {
                if distances[other as usize] == UNREACHABLE {
                    distances[other as usize] = next;
                    queue.push(other);
                }
            }
        }
        distances
    }

    /// Mean and largest distance, or `None` for a graph that is not connected.
    ///
    /// Complexity: O(nodes + edges) for trees; up to [`EXACT_WORK`] elementary steps, shared by all cores, for
    /// small graphs; a bounded number of searches, O(nodes + edges) each, for large ones.
    pub fn distance_summary(&self) -> Option<DistanceSummary> {
        if !self.is_connected() {
            return None;
        }
        if self.edges() + 1 == self.nodes() {
            return Some(tree::summary(self));
        }
        let work = self.nodes() as u64 * (2 * self.edges()) as u64;
        if work <= EXACT_WORK {
            let (diameter, sum) = many::all_pairs(self);
            return Some(DistanceSummary::exact(diameter, sum, self.nodes()));
        }
        Some(estimate(self))
    }

    /// The same for a connected graph that looks alike from every node (ring, torus, hypercube …): one search is
    /// exact for all. The caller vouches for the symmetry; [`crate::Family::is_vertex_transitive`] knows it.
    ///
    /// Complexity: O(nodes + edges).
    pub fn distance_summary_by_symmetry(&self) -> Option<DistanceSummary> {
        let distances = self.distances_from(0);
        let (farthest, sum) = farthest_and_sum(&distances);
        let nodes = self.nodes();
        (farthest != UNREACHABLE)
            .then(|| DistanceSummary::exact(farthest, u128::from(sum) * nodes as u128, nodes))
    }
}

fn farthest_and_sum(distances: &[u32]) -> (u32, u64) {
    distances.iter().fold((0, 0), |(farthest, sum), &d| (farthest.max(d), sum + u64::from(d)))
}

/// Mean from sampled sources; diameter from iFUB or from bounds.
fn estimate(graph: &Graph) -> DistanceSummary {
    let cost = graph.nodes() + 2 * graph.edges();
    let searches = (ESTIMATE_WORK / cost).clamp(16, 256);
    let mut stream = Stream::new("distance-sample", 0, 0);
    let sources: Vec<usize> = (0..searches).map(|_| stream.below(graph.nodes() as u32) as usize).collect();
    let seen: Vec<(u32, f64)> = sources
        .par_iter()
        .map(|&source| {
            let (farthest, sum) = farthest_and_sum(&graph.distances_from(source));
            (farthest, sum as f64 / (graph.nodes() - 1) as f64)
        })
        .collect();
    let count = seen.len() as f64;
    let mean = seen.iter().map(|(_, mean)| mean).sum::<f64>() / count;
    let variance = seen.iter().map(|(_, m)| (m - mean) * (m - mean)).sum::<f64>() / (count - 1.0);
    let known = bounds::Bounds {
        at_least: seen.iter().map(|(farthest, _)| *farthest).max().unwrap_or(0),
        at_most: seen.iter().map(|(farthest, _)| 2 * farthest).min().unwrap_or(UNREACHABLE),
    };
    let bounds = bounds::diameter(graph, known, searches);
    DistanceSummary {
        diameter: bounds.at_least,
        diameter_at_most: bounds.at_most,
        mean,
        mean_standard_error: Some((variance / count).sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(n: u32) -> Graph {
        let edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n)).collect();
        Graph::from_edges(n as usize, &edges).unwrap().0
    }

    #[test]
    fn distances_on_a_ring_go_the_shorter_way_round() {
        assert_eq!(ring(6).distances_from(1), [1, 0, 1, 2, 3, 2]);
    }

    #[test]
    fn unreachable_nodes_are_marked_and_the_summary_refuses_them() {
        let graph = Graph::from_edges(3, &[(0, 1)]).unwrap().0;
        assert_eq!(graph.distances_from(0), [0, 1, UNREACHABLE]);
        assert_eq!(graph.distance_summary(), None);
        assert_eq!(graph.distance_summary_by_symmetry(), None);
    }

    #[test]
    fn a_single_node_is_at_distance_zero_of_all() {
        let summary = Graph::from_edges(1, &[]).unwrap().0.distance_summary().unwrap();
        assert_eq!((summary.diameter, summary.mean), (0, 0.0));
    }

    /// An even ring has diameter n/2 and mean distance n²/(4(n−1)).
    #[test]
    fn a_ring_has_its_closed_form_by_every_method() {
        for n in [4, 10, 600] {
            let (graph, nodes) = (ring(n), f64::from(n));
            let summary = graph.distance_summary().unwrap();
            assert_eq!(summary.diameter, n / 2);
            assert!((summary.mean - nodes * nodes / (4.0 * (nodes - 1.0))).abs() < 1e-12);
            assert_eq!(graph.distance_summary_by_symmetry().unwrap(), summary);
            // Every source of a ring sees the same, so that the estimate is exact up to rounding.
            let estimated = estimate(&graph);
            assert!((estimated.mean - summary.mean).abs() < 1e-9);
            assert!(estimated.diameter <= n / 2 && n / 2 <= estimated.diameter_at_most);
        }
    }

    proptest! {
        #[test]
        fn summaries_equal_searches_from_every_node(
            n in 2usize..300,
            extra in proptest::collection::vec((0u32..300, 0u32..300), 0..600),
        ) {
            let spine = (1..n as u32).map(|i| (i / 2, i));
            let chords = extra.iter().map(|&(u, v)| (u % n as u32, v % n as u32));
            let graph = Graph::from_edges(n, &spine.chain(chords).collect::<Vec<_>>()).unwrap().0;
            let each: Vec<_> = (0..n).map(|v| farthest_and_sum(&graph.distances_from(v))).collect();
            let diameter = each.iter().map(|(farthest, _)| *farthest).max().unwrap();
            let sum: u64 = each.iter().map(|(_, sum)| sum).sum();
            let expected = DistanceSummary::exact(diameter, u128::from(sum), n);
            prop_assert_eq!(graph.distance_summary().unwrap(), expected);
            let bounds = bounds::diameter(&graph, bounds::Bounds { at_least: 0, at_most: UNREACHABLE }, n);
            prop_assert_eq!((bounds.at_least, bounds.at_most), (diameter, diameter));
        }
    }
}
