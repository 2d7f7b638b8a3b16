//! Connected components and the largest of them.

use petgraph::unionfind::UnionFind;

use crate::graph::Graph;

/// Which component each node is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    of_node: Vec<u32>,
    sizes: Vec<usize>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The component of `node`; components are numbered in the order of their first node.
    pub fn of(&self, node: usize) -> usize {
        self.of_node[node] as usize
    }

    /// Sizes in the order of the numbering.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Sizes from the largest to the smallest.
    pub fn sorted_sizes(&self) -> Vec<usize> {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    /// Number of the largest component; among equals, the one that holds the lowest node.
    pub fn largest(&self) -> usize {
        let mut best = 0;
        for (component, &size) in self.sizes.iter().enumerate() {
            if size > self.sizes[best] {
                best = component;
            }
        }
        best
    }

    /// Nodes of one component, in increasing order.
    pub fn members(&self, component: usize) -> Vec<u32> {
        (0..self.of_node.len() as u32).filter(|&v| self.of_node[v as usize] as usize == component).collect()
    }
}

impl Graph {
    /// The connected components.
    ///
    /// Complexity: O(nodes + edges), petgraph's union-find.
    pub fn components(&self) -> Components {
        let mut sets = UnionFind::<u32>::new(self.nodes());
        for (u, v) in self.iter_edges() {
            sets.union(u, v);
        }
        let representatives = sets.into_labeling();
        let mut number_of = vec![u32::MAX; self.nodes()];
        let mut of_node = Vec::with_capacity(self.nodes());
        let mut sizes = Vec::new();
        for representative in representatives {
            let number = &mut number_of[representative as usize];
            if *number == u32::MAX {
                *number = sizes.len() as u32;
                sizes.push(0);
            }
            sizes[*number as usize] += 1;
            of_node.push(*number);
        }
        Components { of_node, sizes }
    }

    /// Whether every node can reach every other.
    pub fn is_connected(&self) -> bool {
        self.edges() + 1 >= self.nodes() && self.components().count() == 1
    }

    /// The largest component as a graph of its own. Its nodes keep their order and their names: where the graph
    /// has no labels, the old positions become the labels, unless the graph is connected and nothing changes.
    ///
    /// Complexity: O(nodes + edges).
    pub fn largest_component(&self) -> Self {
        let components = self.components();
        if components.count() == 1 {
            return self.clone();
        }
        self.induced(&components.members(components.largest()))
    }

    /// The graph that `members` (strictly increasing) have among themselves, labels kept as above.
    fn induced(&self, members: &[u32]) -> Self {
        let mut new_position = vec![u32::MAX; self.nodes()];
        for (new, &old) in members.iter().enumerate() {
            new_position[old as usize] = new as u32;
        }
        let edges: Vec<(u32, u32)> = self
            .iter_edges()
            .map(|(u, v)| (new_position[u as usize], new_position[v as usize]))
            .filter(|&(u, v)| u != u32::MAX && v != u32::MAX)
            .collect();
        let labels = members.iter().map(|&old| self.label(old as usize)).collect();
        Self::from_edges(members.len(), &edges)
            .and_then(|(graph, _)| graph.with_labels(labels))
            .expect("positions below the number of members, one label each")
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;

    fn triangle_edge_and_loner() -> Graph {
        Graph::from_edges(6, &[(4, 5), (0, 2), (2, 3), (3, 0)]).unwrap().0
    }

    #[test]
    fn component_sizes_are_counted_in_order_of_first_node() {
        let components = triangle_edge_and_loner().components();
        assert_eq!(components.sizes(), [3, 1, 2]);
        assert_eq!(components.sorted_sizes(), [3, 2, 1]);
        assert_eq!(components.members(2), [4, 5]);
        assert_eq!((components.of(1), components.of(5)), (1, 2));
    }

    #[test]
    fn the_largest_component_keeps_the_old_positions_as_labels() {
        let largest = triangle_edge_and_loner().largest_component();
        assert_eq!((largest.nodes(), largest.edges()), (3, 3));
        assert_eq!(largest.labels().unwrap(), ["0", "2", "3"]);
    }

    #[test]
    fn the_largest_component_keeps_names() {
        let named =
            triangle_edge_and_loner().with_labels("a b c d e f".split(' ').map(str::to_owned).collect());
        assert_eq!(named.unwrap().largest_component().labels().unwrap(), ["a", "c", "d"]);
    }

    #[test]
    fn a_connected_graph_is_its_own_largest_component() {
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap().0;
        assert!(path.is_connected());
        assert_eq!(path.largest_component(), path);
        assert!(!triangle_edge_and_loner().is_connected());
    }
}
