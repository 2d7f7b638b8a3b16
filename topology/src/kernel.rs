//! Random walks on a graph: transition laws, their stationary laws, and paths.
//!
//! Invariant: a kernel is a [`MixingMatrix`] without negative entries, read by rows: from `i` the token moves to `j`
//! with probability `P_ij`. All three kernels are reversible: `π_i P_ij = π_j P_ji`.
//! Metropolis–Hastings: Levin, Peres and Wilmer, "Markov Chains and Mixing Times", section 3.2.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::error::TopologyError;
use crate::graph::Graph;
use crate::matrix::MixingMatrix;
use crate::weights::rest_on_diagonal;

/// The names that [`WalkKernel::from_str`] takes.
pub const KERNEL_NAMES: &[&str] = &["simple", "lazy", "metropolis"];

/// A rule by which a token moves along the edges of a graph. On a node without neighbours it stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WalkKernel {
    /// To each neighbour with equal probability. Periodic on bipartite graphs.
    Simple,
    /// Stays with probability one half, else as `Simple`. Never periodic.
    Lazy,
    /// To `v` with probability `1/max(d_u, d_v)`, else stays: every node is visited equally often.
    #[default]
    Metropolis,
}

impl WalkKernel {
    /// The transition matrix. Complexity: O(nodes + edges).
    ///
    /// # Errors
    /// None for a valid graph; the checks of [`MixingMatrix::new`] are passed on.
    pub fn matrix(self, graph: &Graph) -> Result<MixingMatrix, TopologyError> {
        let degree = |node: usize| graph.degree(node) as f64;
        match self {
            Self::Simple => rest_on_diagonal(graph, |u, _| 1.0 / degree(u), MixingMatrix::new),
            Self::Lazy => rest_on_diagonal(graph, |u, _| 0.5 / degree(u), MixingMatrix::new),
            Self::Metropolis => {
                rest_on_diagonal(graph, |u, v| 1.0 / degree(u).max(degree(v)), MixingMatrix::new)
            }
        }
    }

    /// The law that the walk leaves unchanged: the part of its time that it spends at each node of a connected
    /// graph in the long run.
    pub fn stationary(self, graph: &Graph) -> Vec<f64> {
        let (nodes, ends) = (graph.nodes(), 2 * graph.edges());
        if self == Self::Metropolis || ends == 0 {
            return vec![1.0 / nodes as f64; nodes];
        }
        (0..nodes).map(|node| graph.degree(node) as f64 / ends as f64).collect()
    }
}

impl FromStr for WalkKernel {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text {
            "simple" => Ok(Self::Simple),
            "lazy" => Ok(Self::Lazy),
            "metropolis" => Ok(Self::Metropolis),
            _ => Err(TopologyError::UnknownName {
                what: "walk kernel",
                name: text.into(),
                known: KERNEL_NAMES,
            }),
        }
    }
}

impl fmt::Display for WalkKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::Lazy => "lazy",
            Self::Metropolis => "metropolis",
        })
    }
}

/// The path of a token, without end: first its start, then one node per step. The same seed gives the same path
/// on every machine.
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    kernel: &'a MixingMatrix,
    next: usize,
    rng: ChaCha20Rng,
}

impl<'a> Walk<'a> {
    /// A walk by `kernel` from `start`.
    ///
    /// # Errors
    /// A start outside the graph, or a matrix with negative entries, which is no law of a walk.
    pub fn new(kernel: &'a MixingMatrix, start: usize, seed: u64) -> Result<Self, TopologyError> {
        if start >= kernel.nodes() {
            return Err(TopologyError::NodeOutside { node: start as u64, nodes: kernel.nodes() });
        }
        if !kernel.is_nonnegative() {
            let entries =
                (0..kernel.nodes()).flat_map(|row| kernel.row(row).1.iter().map(move |&v| (row, v)));
            let (row, value) =
                entries.fold((0, 0.0), |least, entry| if entry.1 < least.1 { entry } else { least });
            return Err(TopologyError::BadWeight { row, value });
        }
        Ok(Self { kernel, next: start, rng: ChaCha20Rng::seed_from_u64(seed) })
    }

    /// One draw from row `from`: the first entry at which the running sum passes a uniform number.
    fn step(&mut self, from: usize) -> usize {
        let draw = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (columns, values) = self.kernel.row(from);
        let mut passed = 0.0;
        let mut last = from;
        for (&column, &value) in columns.iter().zip(values).filter(|(_, value)| **value > 0.0) {
            passed += value;
            last = column as usize;
            if draw < passed {
                break;
            }
        }
        // Where rounding keeps the sum below the draw, the last possible move is made.
        last
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.next;
        self.next = self.step(at);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KERNELS: [WalkKernel; 3] = [WalkKernel::Simple, WalkKernel::Lazy, WalkKernel::Metropolis];

    /// A triangle with a tail and a hub: degrees from 1 to 4.
    fn uneven() -> Graph {
        Graph::from_edges(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (2, 5), (3, 6)]).unwrap().0
    }

    #[test]
    fn metropolis_walks_have_the_probabilities_of_their_definition() {
        let kernel = WalkKernel::Metropolis.matrix(&uneven()).unwrap();
        // Node 4 has degree 1 and its neighbour 3 degree 3; node 2 has degree 4.
        assert_eq!((kernel.weight(4, 3), kernel.weight(3, 4)), (1.0 / 3.0, 1.0 / 3.0));
        assert_eq!((kernel.weight(3, 2), kernel.weight(2, 3)), (0.25, 0.25));
        assert!((kernel.weight(4, 4) - 2.0 / 3.0).abs() < 1e-15);
        assert!(kernel.is_doubly_stochastic());
    }

    #[test]
    fn a_token_without_neighbours_stays() {
        let graph = Graph::from_edges(3, &[(0, 1)]).unwrap().0;
        for kernel in KERNELS {
            let matrix = kernel.matrix(&graph).unwrap();
            assert!(Walk::new(&matrix, 2, 1).unwrap().take(5).all(|node| node == 2), "{kernel}");
        }
    }

    #[test]
    fn paths_follow_edges_and_repeat_with_their_seed() {
        let graph = uneven();
        let matrix = WalkKernel::Simple.matrix(&graph).unwrap();
        let path = |seed| Walk::new(&matrix, 4, seed).unwrap().take(200).collect::<Vec<_>>();
        assert_eq!(path(1)[0], 4);
        assert!(path(1).windows(2).all(|step| graph.has_edge(step[0], step[1])));
        assert_eq!(path(1), path(1));
        assert_ne!(path(1), path(2));
    }

    #[test]
    fn a_start_outside_and_a_matrix_that_is_no_law_are_refused() {
        let matrix = WalkKernel::Lazy.matrix(&uneven()).unwrap();
        assert!(matches!(Walk::new(&matrix, 7, 0), Err(TopologyError::NodeOutside { node: 7, nodes: 7 })));
        let signed =
            MixingMatrix::with_negative_weights(vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.5, -0.5, -0.5, 1.5]);
        assert!(matches!(Walk::new(&signed.unwrap(), 0, 0), Err(TopologyError::BadWeight { .. })));
    }

    /// Moves out of a node are independent draws from its row, so Pearson's statistic summed over the nodes has a χ²
    /// law with Σ(moves − 1) = 7, 14 and 13 degrees of freedom. The bound 60 has a false-alarm rate below 1.2e-7 for
    /// each of the three, and the seed is fixed.
    #[test]
    fn moves_are_as_frequent_as_their_probabilities() {
        let steps = 40_000;
        for kernel in KERNELS {
            let matrix = kernel.matrix(&uneven()).unwrap();
            let path: Vec<usize> = Walk::new(&matrix, 0, 11).unwrap().take(steps + 1).collect();
            let mut counts = [[0.0f64; 7]; 7];
            path.windows(2).for_each(|step| counts[step[0]][step[1]] += 1.0);
            let mut statistic = 0.0;
            for (from, row) in counts.iter().enumerate() {
                let left: f64 = row.iter().sum();
                for (to, count) in row.iter().enumerate() {
                    let expected = left * matrix.weight(from, to);
                    assert!(expected > 0.0 || *count == 0.0, "{kernel}: {from} to {to}");
                    if expected > 0.0 {
                        statistic += (count - expected).powi(2) / expected;
                    }
                }
            }
            assert!(statistic < 60.0, "{kernel}: χ² = {statistic}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for kernel in KERNELS {
            assert_eq!(kernel.to_string().parse::<WalkKernel>().unwrap(), kernel);
        }
        assert!(crate::Hint::hint(&"lasy".parse::<WalkKernel>().unwrap_err()).unwrap().contains("`lazy`"));
    }

    proptest! {
        #[test]
        fn the_law_is_stationary_and_every_pair_is_balanced(
            nodes in 1usize..30,
            edges in proptest::collection::vec((0u32..30, 0u32..30), 0..80),
        ) {
            let edges: Vec<_> = edges.into_iter().map(|(u, v)| (u % nodes as u32, v % nodes as u32)).collect();
            let graph = Graph::from_edges(nodes, &edges).unwrap().0;
            for kernel in KERNELS {
                let (matrix, law) = (kernel.matrix(&graph).unwrap(), kernel.stationary(&graph));
                prop_assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for to in 0..nodes {
                    let arriving: f64 = (0..nodes).map(|from| law[from] * matrix.weight(from, to)).sum();
                    prop_assert!((arriving - law[to]).abs() < 1e-12, "{} at {}", kernel, to);
                    for from in 0..nodes {
                        let flow = law[from] * matrix.weight(from, to) - law[to] * matrix.weight(to, from);
                        prop_assert!(flow.abs() < 1e-14, "{}: {} and {}", kernel, from, to);
                    }
                }
            }
        }
    }
}
