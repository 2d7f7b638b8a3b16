//! petgraph's visitor traits on the compressed form, so that its algorithms run on a [`Graph`] without a copy.
//!
//! Nodes are `u32` positions; an edge is known by its ends `(u, v)` with `u < v`, and weighs nothing.

use petgraph::visit::{
    Data, EdgeCount, GraphBase, GraphProp, IntoEdgeReferences, IntoEdges, IntoNeighbors,
    IntoNeighborsDirected, IntoNodeIdentifiers, NodeCompactIndexable, NodeCount, NodeIndexable, VisitMap,
    Visitable,
};
use petgraph::{Direction, Undirected};

use crate::graph::Graph;

/// The edge type that petgraph sees: both ends and an empty weight.
pub type EdgeReference = (u32, u32, &'static ());

/// One bit for each node: which have been visited.
#[derive(Debug, Clone)]
pub struct Visited {
    words: Vec<u64>,
}

impl Visited {
    fn none_of(nodes: usize) -> Self {
        Self { words: vec![0; nodes.div_ceil(64)] }
    }

    fn locate(node: u32) -> (usize, u64) {
        (node as usize / 64, 1 << (node % 64))
    }
}

impl VisitMap<u32> for Visited {
    fn visit(&mut self, node: u32) -> bool {
        let (word, bit) = Self::locate(node);
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    fn is_visited(&self, node: &u32) -> bool {
        let (word, bit) = Self::locate(*node);
        self.words[word] & bit != 0
    }

    fn unvisit(&mut self, node: u32) -> bool {
        let (word, bit) = Self::locate(node);
        let was_visited = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        was_visited
    }
}

impl GraphBase for Graph {
    type NodeId = u32;
    type EdgeId = (u32, u32);
}

impl GraphProp for Graph {
    type EdgeType = Undirected;
}

impl Data for Graph {
    type NodeWeight = ();
    type EdgeWeight = ();
}

impl NodeCount for Graph {
    fn node_count(&self) -> usize {
        self.nodes()
    }
}

impl EdgeCount for Graph {
    fn edge_count(&self) -> usize {
        self.edges()
    }
}

impl NodeIndexable for Graph {
    fn node_bound(&self) -> usize {
        self.nodes()
    }

    fn to_index(&self, node: u32) -> usize {
        node as usize
    }

    fn from_index(&self, index: usize) -> u32 {
        index as u32
    }
}

impl NodeCompactIndexable for Graph {}

impl Visitable for Graph {
    type Map = Visited;

    fn visit_map(&self) -> Visited {
        Visited::none_of(self.nodes())
    }

    fn reset_map(&self, map: &mut Visited) {
        *map = self.visit_map();
    }
}

impl<'a> IntoNeighbors for &'a Graph {
    type Neighbors = std::iter::Copied<std::slice::Iter<'a, u32>>;

    fn neighbors(self, node: u32) -> Self::Neighbors {
        self.neighbours(node as usize).iter().copied()
    }
}

impl IntoNeighborsDirected for &Graph {
    type NeighborsDirected = Self::Neighbors;

    fn neighbors_directed(self, node: u32, _: Direction) -> Self::Neighbors {
        self.neighbors(node)
    }
}

impl IntoNodeIdentifiers for &Graph {
    type NodeIdentifiers = std::ops::Range<u32>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        0..self.nodes() as u32
    }
}

impl<'a> IntoEdgeReferences for &'a Graph {
    type EdgeRef = EdgeReference;
    type EdgeReferences = EdgeReferences<'a>;

    fn edge_references(self) -> Self::EdgeReferences {
        EdgeReferences { graph: self, node: 0, at: 0 }
    }
}

impl<'a> IntoEdges for &'a Graph {
    type Edges = EdgesOf<'a>;

    fn edges(self, node: u32) -> Self::Edges {
        EdgesOf { node, neighbours: self.neighbours(node as usize).iter() }
    }
}

/// Every edge once, smaller end first.
#[derive(Debug, Clone)]
pub struct EdgeReferences<'a> {
    graph: &'a Graph,
    node: usize,
    at: usize,
}

impl Iterator for EdgeReferences<'_> {
    type Item = EdgeReference;

    fn next(&mut self) -> Option<EdgeReference> {
        while self.node < self.graph.nodes() {
            let neighbours = self.graph.neighbours(self.node);
            while let Some(&other) = neighbours.get(self.at) {
                self.at += 1;
                if other as usize > self.node {
                    return Some((self.node as u32, other, &()));
                }
            }
            self.node += 1;
            self.at = 0;
        }
        None
    }
}

/// The edges at one node, each with that node as its source.
#[derive(Debug, Clone)]
pub struct EdgesOf<'a> {
    node: u32,
    neighbours: std::slice::Iter<'a, u32>,
}

impl Iterator for EdgesOf<'_> {
    type Item = EdgeReference;

    fn next(&mut self) -> Option<EdgeReference> {
        self.neighbours.next().map(|&other| (self.node, other, &()))
    }
}

#[cfg(test)]
mod tests {
    use petgraph::algo::{connected_components, dijkstra, is_bipartite_undirected};
    use petgraph::visit::{Bfs, Dfs, IntoEdgeReferences};

    use crate::Graph;

    fn two_triangles() -> Graph {
        Graph::from_edges(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]).unwrap().0
    }

    #[test]
    fn petgraph_counts_two_components_of_two_triangles() {
        assert_eq!(connected_components(&two_triangles()), 2);
    }

    #[test]
    fn petgraph_walks_reach_exactly_the_component_of_their_start() {
        let graph = two_triangles();
        let mut bfs = Bfs::new(&graph, 3);
        let mut reached: Vec<u32> = std::iter::from_fn(|| bfs.next(&graph)).collect();
        reached.sort_unstable();
        assert_eq!(reached, [3, 4, 5]);
        let mut dfs = Dfs::new(&graph, 0);
        assert_eq!(std::iter::from_fn(|| dfs.next(&graph)).count(), 3);
    }

    #[test]
    fn petgraph_sees_every_edge_once() {
        let graph = two_triangles();
        let seen: Vec<_> = (&graph).edge_references().map(|(u, v, _)| (u, v)).collect();
        assert_eq!(seen, graph.iter_edges().collect::<Vec<_>>());
    }

    #[test]
    fn petgraph_distances_equal_ours() {
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]).unwrap().0;
        let ours = graph.distances_from(1);
        for (node, distance) in dijkstra(&graph, 1, None, |_| 1u32) {
            assert_eq!(ours[node as usize], distance, "node {node}");
        }
        assert!(!is_bipartite_undirected(&graph, 0), "a pentagon has an odd cycle");
    }
}
