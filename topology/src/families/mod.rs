//! The families of graphs, one file each or a small group. A family turns its parameters into a list of edges;
//! [`Family::generate`] sends it through [`Graph::from_edges`], which sorts and checks.
//!
//! Every generator takes time and memory linear in nodes + edges and draws only from its own named stream.

mod barabasi_albert;
mod circulant;
mod cliques;
mod complete;
mod erdos_renyi;
mod geometric;
mod hypercube;
mod k_out;
mod lattice;
mod pairs;
mod regular;
mod sbm;
mod tree;
mod watts_strogatz;

use crate::error::TopologyError;
use crate::graph::{Graph, MAX_EDGES, MAX_NODES, check_size};

/// A list of undirected edges.
pub(crate) type Edges = Vec<(u32, u32)>;

/// A family of graphs with its parameters. [`crate::Spec`] makes only those whose parameters fit together;
/// [`Family::generate`] assumes that they do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// A cycle.
    Ring {
        /// Nodes, at least 3.
        nodes: usize,
    },
    /// A line.
    Path {
        /// Nodes.
        nodes: usize,
    },
    /// Everyone knows everyone.
    Complete {
        /// Nodes.
        nodes: usize,
    },
    /// Node 0 knows everyone, and nobody else knows anybody.
    Star {
        /// Nodes, at least 2.
        nodes: usize,
    },
    /// A rectangular grid, row by row.
    Grid {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A grid whose opposite sides are joined; degree 4.
    Torus {
        /// Rows, at least 3.
        rows: usize,
        /// Columns, at least 3.
        columns: usize,
    },
    /// Nodes are joined where their numbers differ in one bit.
    Hypercube {
        /// Nodes, a power of two.
        nodes: usize,
    },
    /// A complete tree, filled level by level: the parent of `i` is `(i − 1) / branch`.
    Tree {
        /// Nodes.
        nodes: usize,
        /// Children of an inner node.
        branch: usize,
    },
    /// Node `i` knows `i ± 2^k mod n` for every 2^k below n.
    Exponential {
        /// Nodes, at least 2.
        nodes: usize,
    },
    /// A random graph in which all have the same degree.
    Regular {
        /// Nodes.
        nodes: usize,
        /// Degree of every node.
        degree: usize,
    },
    /// G(n, p): every pair is joined with probability p.
    ErdosRenyi {
        /// Nodes.
        nodes: usize,
        /// Probability of a pair.
        p: f64,
    },
    /// A small world: a ring with `k` neighbours each, a share `beta` of its edges sent elsewhere.
    WattsStrogatz {
        /// Nodes.
        nodes: usize,
        /// Neighbours on the ring, even.
        k: usize,
        /// Probability that an edge is sent elsewhere.
        beta: f64,
    },
    /// Preferential attachment: each newcomer joins `m` nodes, the popular ones more likely.
    BarabasiAlbert {
        /// Nodes.
        nodes: usize,
        /// Edges of a newcomer.
        m: usize,
    },
    /// Points in the unit square, joined where not farther apart than `radius`.
    Geometric {
        /// Nodes.
        nodes: usize,
        /// Largest length of an edge.
        radius: f64,
    },
    /// The stochastic block model: equal blocks, dense inside, sparse between.
    Sbm {
        /// Nodes.
        nodes: usize,
        /// Number of blocks.
        blocks: usize,
        /// Probability of a pair inside a block.
        p_in: f64,
        /// Probability of a pair across blocks.
        p_out: f64,
    },
    /// Cliques in a ring, each joined to the next by one edge.
    Cliques {
        /// Nodes.
        nodes: usize,
        /// Nodes of a clique, at most; the sizes differ by at most one.
        clique: usize,
    },
    /// Every node picks `k` others at random; an edge where either picked the other.
    KOut {
        /// Nodes.
        nodes: usize,
        /// Picks of each node.
        k: usize,
    },
    /// The k-connected graph with the fewest edges (F. Harary, 1962).
    Harary {
        /// Nodes.
        nodes: usize,
        /// Connectivity.
        k: usize,
    },
}

impl Family {
    /// Number of nodes, saturating where rows × columns is absurd.
    pub fn nodes(&self) -> usize {
        match *self {
            Self::Grid { rows, columns } | Self::Torus { rows, columns } => rows.saturating_mul(columns),
            Self::Ring { nodes }
            | Self::Path { nodes }
            | Self::Complete { nodes }
            | Self::Star { nodes }
            | Self::Hypercube { nodes }
            | Self::Tree { nodes, .. }
            | Self::Exponential { nodes }
            | Self::Regular { nodes, .. }
            | Self::ErdosRenyi { nodes, .. }
            | Self::WattsStrogatz { nodes, .. }
            | Self::BarabasiAlbert { nodes, .. }
            | Self::Geometric { nodes, .. }
            | Self::Sbm { nodes, .. }
            | Self::Cliques { nodes, .. }
            | Self::KOut { nodes, .. }
            | Self::Harary { nodes, .. } => nodes,
        }
    }

    /// Number of edges, expected or at most, to refuse a graph that is too large before it is made.
    pub fn expected_edges(&self) -> f64 {
        let n = self.nodes() as f64;
        let pairs = n * (n - 1.0) / 2.0;
        let edges = match *self {
            Self::Ring { .. } | Self::Path { .. } | Self::Star { .. } | Self::Tree { .. } => n,
            Self::Complete { .. } => pairs,
            Self::Grid { .. } | Self::Torus { .. } => 2.0 * n,
            Self::Hypercube { .. } => n * libm::log2(n) / 2.0,
            Self::Exponential { .. } => n * libm::ceil(libm::log2(n)),
            Self::Regular { degree, .. } => n * degree as f64 / 2.0,
            Self::ErdosRenyi { p, .. } => p * pairs,
            Self::WattsStrogatz { k, .. } => n * k as f64 / 2.0,
            Self::BarabasiAlbert { m, .. } => n * m as f64,
            Self::Geometric { radius, .. } => (std::f64::consts::PI * radius * radius).min(1.0) * pairs,
            Self::Sbm { blocks, p_in, p_out, .. } => {
                let inside = pairs / blocks.max(1) as f64;
                p_in * inside + p_out * (pairs - inside)
            }
            Self::Cliques { clique, .. } => n * clique as f64 / 2.0 + n,
            Self::KOut { k, .. } => n * k as f64,
            Self::Harary { k, .. } => n * (k as f64 + 1.0) / 2.0,
        };
        edges.min(pairs)
    }

    /// Whether the graph depends on a seed.
    pub fn is_random(&self) -> bool {
        matches!(
            self,
            Self::Regular { .. }
                | Self::ErdosRenyi { .. }
                | Self::WattsStrogatz { .. }
                | Self::BarabasiAlbert { .. }
                | Self::Geometric { .. }
                | Self::Sbm { .. }
                | Self::KOut { .. }
        )
    }

    /// Whether the graph surely looks the same from every node.
    pub fn is_vertex_transitive(&self) -> bool {
        match *self {
            Self::Ring { .. }
            | Self::Complete { .. }
            | Self::Torus { .. }
            | Self::Hypercube { .. }
            | Self::Exponential { .. } => true,
            Self::Harary { nodes, k } => k % 2 == 0 || nodes % 2 == 0,
            _ => false,
        }
    }

    /// Refuses sizes that no machine of ours holds, before anything is allocated.
    ///
    /// # Errors
    /// No nodes, or more nodes or (expected) edges than [`MAX_NODES`] and [`MAX_EDGES`].
    pub fn check_size(&self) -> Result<(), TopologyError> {
        let edges = self.expected_edges();
        if self.nodes() > MAX_NODES || edges > MAX_EDGES as f64 {
            return Err(TopologyError::TooLarge { nodes: self.nodes(), edges: edges as usize });
        }
        check_size(self.nodes(), 0)
    }

    /// Makes the graph; for a random family the one of `seed` and `attempt`, connected or not.
    ///
    /// Complexity: O(nodes + edges), expected for the random families.
    ///
    /// # Errors
    /// A size beyond [`Family::check_size`].
    pub fn generate(&self, seed: u64, attempt: u64) -> Result<Graph, TopologyError> {
        self.check_size()?;
        let edges = self.edges(seed, attempt);
        Ok(Graph::from_edges(self.nodes(), &edges)?.0)
    }

    fn edges(&self, seed: u64, attempt: u64) -> Edges {
        let stream = |name| crate::stream::Stream::new(name, seed, attempt);
        match *self {
            Self::Ring { nodes } => circulant::circulant(nodes, &[1]),
            Self::Path { nodes } => lattice::grid(1, nodes),
            Self::Complete { nodes } => complete::complete(nodes),
            Self::Star { nodes } => complete::star(nodes),
            Self::Grid { rows, columns } => lattice::grid(rows, columns),
            Self::Torus { rows, columns } => lattice::torus(rows, columns),
            Self::Hypercube { nodes } => hypercube::hypercube(nodes),
            Self::Tree { nodes, branch } => tree::tree(nodes, branch),
            Self::Exponential { nodes } => circulant::exponential(nodes),
            Self::Regular { nodes, degree } => regular::regular(nodes, degree, &mut stream("regular")),
            Self::ErdosRenyi { nodes, p } => erdos_renyi::erdos_renyi(nodes, p, &mut stream("erdos-renyi")),
            Self::WattsStrogatz { nodes, k, beta } => {
                watts_strogatz::watts_strogatz(nodes, k, beta, &mut stream("watts-strogatz"))
            }
            Self::BarabasiAlbert { nodes, m } => {
                barabasi_albert::barabasi_albert(nodes, m, &mut stream("barabasi-albert"))
            }
            Self::Geometric { nodes, radius } => {
                geometric::geometric(nodes, radius, &mut stream("geometric"))
            }
            Self::Sbm { nodes, blocks, p_in, p_out } => {
                sbm::sbm(sbm::Blocks { nodes, blocks }, p_in, p_out, &mut stream("sbm"))
            }
            Self::Cliques { nodes, clique } => cliques::ring_of_cliques(nodes, clique),
            Self::KOut { nodes, k } => k_out::k_out(nodes, k, &mut stream("k-out")),
            Self::Harary { nodes, k } => circulant::harary(nodes, k),
        }
    }
}

/// The points of a geometric graph, for drawings.
pub(crate) fn geometric_points(nodes: usize, seed: u64, attempt: u64) -> Vec<(f64, f64)> {
    geometric::points(nodes, &mut crate::stream::Stream::new("geometric", seed, attempt))
}
