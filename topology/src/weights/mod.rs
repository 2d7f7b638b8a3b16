//! Gossip weights on a graph: how much each node takes of each neighbour.
//!
//! Invariant: the rows of every matrix made here sum to one. All kinds but [`Weights::Uniform`] and
//! [`Weights::File`] are symmetric, hence doubly stochastic: they preserve the mean.
//! Metropolis and best-constant weights: Xiao and Boyd, "Fast linear iterations for distributed averaging"
//! (2004), sections 4.1 and 4.3.

mod file;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::TopologyError;
use crate::graph::Graph;
use crate::matrix::MixingMatrix;

/// The names that [`Weights::from_str`] takes.
pub const WEIGHTS_NAMES: &[&str] =
    &["metropolis", "lazy-metropolis", "max-degree", "best-constant", "uniform", "file:PATH"];

/// A rule that turns a graph into a gossip matrix.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Weights {
    /// `W_uv = 1/(1 + max(d_u, d_v))`, the rest on the diagonal. Needs only the degrees of neighbours.
    #[default]
    Metropolis,
    /// `(I + W)/2` of Metropolis: no negative eigenvalue, about half the speed.
    LazyMetropolis,
    /// `W_uv = 1/(1 + d_max)`, the rest on the diagonal.
    MaxDegree,
    /// `I − αL` with `α = 2/(λ_2 + λ_n)` of the Laplacian `L`: the fastest matrix with one weight for all edges.
    /// The diagonal of a node of high degree may be negative.
    BestConstant,
    /// The plain mean over oneself and one's neighbours (row-normalised `A + I`). Not doubly stochastic unless
    /// all degrees are equal: it converges to a mean weighted by `1 + d_u`.
    Uniform,
    /// Weights from a text file of triples `i j w`.
    File(PathBuf),
}

impl Weights {
    /// The gossip matrix of `graph`.
    ///
    /// Complexity: O(nodes + edges) but for [`Weights::BestConstant`], which needs two eigenvalues.
    ///
    /// # Errors
    /// A file that cannot be read or does not fit the graph; best-constant weights on a graph that is not
    /// connected or whose spectrum does not converge.
    pub fn matrix(&self, graph: &Graph) -> Result<MixingMatrix, TopologyError> {
        match self {
            Self::Metropolis => metropolis(graph, 1.0),
            Self::LazyMetropolis => metropolis(graph, 0.5),
            Self::MaxDegree => {
                let most = (0..graph.nodes()).map(|node| graph.degree(node)).max().unwrap_or(0);
                rest_on_diagonal(graph, |_, _| 1.0 / (1.0 + most as f64), MixingMatrix::new)
            }
            Self::BestConstant => best_constant(graph),
            Self::Uniform => uniform(graph),
            Self::File(path) => file::read(path, graph),
        }
    }

    /// Whether the matrix of every graph preserves the mean; [`MixingMatrix::is_doubly_stochastic`] tells it of
    /// one matrix.
    pub fn always_preserves_mean(&self) -> bool {
        !matches!(self, Self::Uniform | Self::File(_))
    }
}

impl FromStr for Weights {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text {
            "metropolis" => Ok(Self::Metropolis),
            "lazy-metropolis" => Ok(Self::LazyMetropolis),
            "max-degree" => Ok(Self::MaxDegree),
            "best-constant" => Ok(Self::BestConstant),
            "uniform" => Ok(Self::Uniform),
            "file" | "file:" => Err(TopologyError::MissingArgument { name: "file", needs: "a path" }),
            _ => text.strip_prefix("file:").map(|path| Self::File(path.into())).ok_or_else(|| {
                TopologyError::UnknownName { what: "weights", name: text.into(), known: WEIGHTS_NAMES }
            }),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metropolis => f.write_str("metropolis"),
            Self::LazyMetropolis => f.write_str("lazy-metropolis"),
            Self::MaxDegree => f.write_str("max-degree"),
            Self::BestConstant => f.write_str("best-constant"),
            Self::Uniform => f.write_str("uniform"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

fn metropolis(graph: &Graph, share: f64) -> Result<MixingMatrix, TopologyError> {
    let weight = |u: usize, v: usize| share / (1.0 + graph.degree(u).max(graph.degree(v)) as f64);
    rest_on_diagonal(graph, weight, MixingMatrix::new)
}

fn best_constant(graph: &Graph) -> Result<MixingMatrix, TopologyError> {
    if graph.nodes() == 1 {
        return Ok(MixingMatrix::identity(1));
    }
    let (smallest, largest) = crate::spectrum::laplacian_extremes(graph)?;
    if smallest <= 0.0 {
        return Err(TopologyError::BestConstantDisconnected);
    }
    let step = 2.0 / (smallest + largest);
    rest_on_diagonal(graph, |_, _| step, MixingMatrix::with_negative_weights)
}

fn uniform(graph: &Graph) -> Result<MixingMatrix, TopologyError> {
    let (offsets, columns) = pattern_with_diagonal(graph);
    let mut values = Vec::with_capacity(columns.len());
    for node in 0..graph.nodes() {
        let entries = graph.degree(node) + 1;
        values.resize(values.len() + entries, 1.0 / entries as f64);
    }
    MixingMatrix::new(offsets, columns, values)
}

pub(crate) type Constructor = fn(Vec<usize>, Vec<u32>, Vec<f64>) -> Result<MixingMatrix, TopologyError>;

/// `weight(u, v)` on every edge and what is left of one on the diagonal.
pub(crate) fn rest_on_diagonal(
    graph: &Graph,
    weight: impl Fn(usize, usize) -> f64,
    check: Constructor,
) -> Result<MixingMatrix, TopologyError> {
    let (offsets, columns) = pattern_with_diagonal(graph);
    let mut values = Vec::with_capacity(columns.len());
    for node in 0..graph.nodes() {
        let row = &columns[offsets[node]..offsets[node + 1]];
        let (mut given, mut diagonal) = (0.0, values.len());
        for &column in row {
            if column as usize == node {
                diagonal = values.len();
                values.push(0.0);
            } else {
                let share = weight(node, column as usize);
                given += share;
                values.push(share);
            }
        }
        values[diagonal] = without_rounding_below_zero(1.0 - given);
    }
    check(offsets, columns, values)
}

/// Rounding in a sum of weights must not turn a diagonal entry that is zero into one that is negative.
fn without_rounding_below_zero(rest: f64) -> f64 {
    if rest.abs() < 1e-12 { 0.0 } else { rest }
}

/// Row offsets and columns of `A + I`.
fn pattern_with_diagonal(graph: &Graph) -> (Vec<usize>, Vec<u32>) {
    let nodes = graph.nodes();
    let mut offsets = Vec::with_capacity(nodes + 1);
    let mut columns = Vec::with_capacity(2 * graph.edges() + nodes);
    offsets.push(0);
    for node in 0..nodes {
        let neighbours = graph.neighbours(node);
        let before = neighbours.partition_point(|&other| (other as usize) < node);
        columns.extend_from_slice(&neighbours[..before]);
        columns.push(node as u32);
        columns.extend_from_slice(&neighbours[before..]);
        offsets.push(columns.len());
    }
    (offsets, columns)
}

#[cfg(test)]
mod tests;
