//! The graph of a swarm: undirected, simple, in compressed sparse rows.
//!
//! Invariant: neighbour lists are sorted, without self-loops and duplicates, and symmetric.
//! petgraph's visitor traits are implemented on this form (`visit.rs`), so its algorithms run on it without
//! a copy; [`Graph::to_petgraph`] gives the adjacency-list form to those who want to edit.

use crate::error::TopologyError;

/// Most nodes that a graph may have: positions are `u32`, and a larger request is surely a typing error.
pub const MAX_NODES: usize = 100_000_000;

/// Most undirected edges that a graph may have, so that a wrong `p` is refused before memory runs out.
pub const MAX_EDGES: usize = 1_000_000_000;

/// An undirected simple graph with nodes `0..nodes()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    labels: Option<Vec<String>>,
}

/// What was left out while a list of edges became a simple graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Edges from a node to itself.
    pub self_loops: usize,
    /// Repetitions of an edge, in either direction.
    pub duplicates: usize,
}

impl Graph {
    /// Builds a graph from undirected edges; self-loops and repetitions are dropped and counted.
    ///
    /// Complexity: O(nodes + edges), two passes of counting sort.
    ///
    /// # Errors
    /// An end of an edge outside `0..nodes`, or more nodes or edges than [`MAX_NODES`] and [`MAX_EDGES`].
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)]) -> Result<(Self, Dropped), TopologyError> {
        check_size(nodes, edges.len())?;
        let mut dropped = Dropped::default();
        let mut degree = vec![0usize; nodes + 1];
        for &(u, v) in edges {
            let outside = [u, v].into_iter().find(|&w| w as usize >= nodes);
            if let Some(node) = outside {
                return Err(TopologyError::NodeOutside { node: node.into(), nodes });
            }
            if u == v {
                dropped.self_loops += 1;
            } else {
                degree[u as usize + 1] += 1;
                degree[v as usize + 1] += 1;
            }
        }
        for i in 0..nodes {
            degree[i + 1] += degree[i];
        }
        let mut cursor = degree.clone();
        let mut filled = vec![0u32; degree[nodes]];
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            for (from, to) in [(u, v), (v, u)] {
                filled[cursor[from as usize]] = to;
                cursor[from as usize] += 1;
            }
        }
        let mut graph = Self { offsets: degree, neighbours: filled, labels: None };
        dropped.duplicates = graph.sort_and_deduplicate() / 2;
        Ok((graph, dropped))
    }

    /// The same graph with a name for each node.
    ///
    /// # Errors
    /// A number of labels that differs from the number of nodes.
    pub fn with_labels(mut self, labels: Vec<String>) -> Result<Self, TopologyError> {
        if labels.len() != self.nodes() {
            return Err(TopologyError::LabelCount { labels: labels.len(), nodes: self.nodes() });
        }
        self.labels = Some(labels);
        Ok(self)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of undirected edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Number of neighbours of `node`.
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// The neighbours of `node`, in increasing order.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The compressed sparse rows themselves, `(offsets, neighbours)`: the neighbours of node `i` are
    /// `neighbours[offsets[i]..offsets[i + 1]]`.
    pub fn csr(&self) -> (&[usize], &[u32]) {
        (&self.offsets, &self.neighbours)
    }

    /// Whether `u` and `v` are joined by an edge.
    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        self.neighbours(u).binary_search(&(v as u32)).is_ok()
    }

    /// Every edge once, as `(u, v)` with `u < v`, in lexicographic order.
    pub fn iter_edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes()).flat_map(move |u| {
            let u32_u = u as u32;
            self.neighbours(u).iter().filter(move |&&v| u32_u < v).map(move |&v| (u32_u, v))
        })
    }

    /// Names of the nodes, where the source of the graph gave them names.
    pub fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    /// The name of `node`: its label, or its position.
    pub fn label(&self, node: usize) -> String {
        self.labels.as_ref().map_or_else(|| node.to_string(), |labels| labels[node].clone())
    }

    /// petgraph's adjacency-list form, with the labels as node weights.
    pub fn to_petgraph(&self) -> petgraph::graph::UnGraph<String, (), u32> {
        let mut graph = petgraph::graph::UnGraph::with_capacity(self.nodes(), self.edges());
        for node in 0..self.nodes() {
            graph.add_node(self.label(node));
        }
        for (u, v) in self.iter_edges() {
            graph.add_edge(u.into(), v.into(), ());
        }
        graph
    }

    /// Sorts each list, removes repetitions in place and returns how many entries went.
    fn sort_and_deduplicate(&mut self) -> usize {
        let before = self.neighbours.len();
        let mut kept = 0;
        let mut start = 0;
        for node in 0..self.nodes() {
            let end = self.offsets[node + 1];
            self.neighbours[start..end].sort_unstable();
            let row_start = kept;
            for i in start..end {
                let target = self.neighbours[i];
                if kept == row_start || self.neighbours[kept - 1] != target {
                    self.neighbours[kept] = target;
                    kept += 1;
                }
            }
            start = end;
            self.offsets[node + 1] = kept;
        }
        self.neighbours.truncate(kept);
        before - kept
    }
}

/// Refuses sizes that could not be meant, before anything is allocated.
///
/// # Errors
/// No nodes at all, or more than [`MAX_NODES`] nodes or [`MAX_EDGES`] edges.
pub(crate) fn check_size(nodes: usize, edges: usize) -> Result<(), TopologyError> {
    if nodes == 0 {
        return Err(TopologyError::Empty);
    }
    if nodes > MAX_NODES || edges > MAX_EDGES {
        return Err(TopologyError::TooLarge { nodes, edges });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_repetitions_are_dropped_and_counted() {
        let (graph, dropped) = Graph::from_edges(3, &[(0, 1), (1, 0), (1, 1), (2, 1), (0, 1)]).unwrap();
        assert_eq!(dropped, Dropped { self_loops: 1, duplicates: 2 });
        assert_eq!(graph.iter_edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(
            (graph.neighbours(0), graph.neighbours(1), graph.neighbours(2)),
            (&[1][..], &[0, 2][..], &[1][..])
        );
    }

    #[test]
    fn the_rows_of_a_path_lie_one_behind_the_other() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
        assert_eq!(graph.csr(), (&[0, 1, 3, 4][..], &[1, 0, 2, 1][..]));
    }

    #[test]
    fn an_edge_to_a_node_that_is_not_there_is_refused() {
        assert!(matches!(
            Graph::from_edges(3, &[(0, 3)]),
            Err(TopologyError::NodeOutside { node: 3, nodes: 3 })
        ));
    }
}
