//! What is found out about a graph: sizes, distances, and the speed of mixing under the chosen weights.

use topology::{Built, DistanceSummary, Graph, Spec, Spectrum, Weights};

use crate::failure::Result;

/// What is asked about every graph.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) weights: Weights,
    pub(super) tolerance: f64,
    largest_component: bool,
}

impl Question {
    pub(super) fn new(weights: &str, tolerance: f64, largest_component: bool) -> Result<Self> {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(topology::TopologyError::BadTolerance { value: tolerance }.into());
        }
        Ok(Self { weights: weights.parse()?, tolerance, largest_component })
    }

    /// Reads a spec and makes its graph.
    pub(super) fn build(&self, text: &str) -> Result<(Spec, Built)> {
        let spec: Spec = text.parse()?;
        let built = if self.largest_component { spec.build_largest_component() } else { spec.build() };
        Ok((spec, built?))
    }
}

/// The answer for one graph.
#[derive(Debug)]
pub(super) struct Analysis<'a> {
    pub(super) spec: &'a Spec,
    pub(super) built: &'a Built,
    pub(super) question: &'a Question,
    pub(super) degree: Degree,
    /// None where the graph falls into parts.
    pub(super) distances: Option<DistanceSummary>,
    pub(super) doubly_stochastic: bool,
    pub(super) spectrum: Spectrum,
    /// None where gossip never mixes.
    pub(super) mixing_rounds: Option<u64>,
    pub(super) chebyshev_rounds: Option<u64>,
}

/// Degrees of a graph.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Degree {
    pub(super) min: usize,
    pub(super) mean: f64,
    pub(super) max: usize,
}

impl<'a> Analysis<'a> {
    pub(super) fn of(spec: &'a Spec, built: &'a Built, question: &'a Question) -> Result<Self> {
        let matrix = question.weights.matrix(&built.graph)?;
        let spectrum = Spectrum::of(&matrix)?;
        let doubly_stochastic = matrix.is_doubly_stochastic();
        // The matrix is the largest thing in memory, and distances do not need it.
        drop(matrix);
        Ok(Self {
            spec,
            built,
            question,
            degree: Degree::of(&built.graph),
            distances: built.distance_summary(),
            doubly_stochastic,
            spectrum,
            mixing_rounds: rounds(spectrum.mixing_rounds(question.tolerance)?, &built.graph),
            chebyshev_rounds: rounds(spectrum.chebyshev_rounds(question.tolerance)?, &built.graph),
        })
    }

    /// Messages that a node sends on average until mixed: one to each neighbour in every round.
    pub(super) fn messages_per_node(&self) -> Option<f64> {
        self.mixing_rounds.map(|rounds| rounds as f64 * self.degree.mean)
    }
}

/// A single node is mixed from the start.
fn rounds(found: Option<u64>, graph: &Graph) -> Option<u64> {
    if graph.nodes() == 1 { Some(0) } else { found }
}

impl Degree {
    fn of(graph: &Graph) -> Self {
        let degrees = || (0..graph.nodes()).map(|node| graph.degree(node));
        Self {
            min: degrees().min().unwrap_or(0),
            mean: 2.0 * graph.edges() as f64 / graph.nodes() as f64,
            max: degrees().max().unwrap_or(0),
        }
    }
}
