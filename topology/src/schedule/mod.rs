//! Schedules: which gossip matrix is applied in each step of each round.
//!
//! A [`Schedule`] is public knowledge of all nodes: given the round number and the number of nodes in the roster
//! it yields a [`Round`], whose [`Step`]s say who hears whom with which coefficient ([`Step::matrix`]) and, in
//! pairwise schedules, what each node does ([`Role`]). Invariant: the same schedule, round and roster give the
//! same steps on every machine.

pub mod doubling;
mod key;
mod matching;
mod name;
mod shuffled;

use std::sync::Arc;

pub use doubling::Plan;
pub use key::RunKey;
pub use matching::random_matching;
pub use name::{SCHEDULE_NAMES, ScheduleSpec, Setting};
pub use shuffled::{first_meetings, shuffled_order};

use crate::error::TopologyError;
use crate::graph::Graph;
use crate::matrix::MixingMatrix;
use crate::spec::Spec;
use crate::weights::Weights;

/// What one node does in one step of a pairwise schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Idle,
    /// Folds in: sends its value to the named node and hears nothing.
    SendTo(usize),
    /// Takes in the value of a node that folds in.
    ReceiveFrom(usize),
    /// Sends its value to the named node and takes in that node's value.
    Exchange(usize),
    /// Folds out: replaces its value by the one that the named node gives.
    Adopt(usize),
    /// Gives the result to a node that folded in.
    GiveTo(usize),
}

impl Role {
    /// The other node of the step.
    pub fn partner(self) -> Option<usize> {
        match self {
            Self::Idle => None,
            Self::SendTo(node)
            | Self::ReceiveFrom(node)
            | Self::Exchange(node)
            | Self::Adopt(node)
            | Self::GiveTo(node) => Some(node),
        }
    }

    /// The node whose message is received, if any.
    pub fn hears(self) -> Option<usize> {
        match self {
            Self::ReceiveFrom(node) | Self::Exchange(node) | Self::Adopt(node) => Some(node),
            Self::Idle | Self::SendTo(_) | Self::GiveTo(_) => None,
        }
    }
}

/// One step of a round: the matrix that is applied and the graph along which messages travel.
#[derive(Debug, Clone)]
pub struct Step {
    /// Who hears whom, and the coefficients.
    pub matrix: Arc<MixingMatrix>,
    /// An edge wherever a message travels, in one direction or both.
    pub graph: Arc<Graph>,
    /// What each node does, in pairwise schedules; `None` where each node sends to all its neighbours.
    pub roles: Option<Vec<Role>>,
}

/// How the nodes mix, round after round.
#[derive(Debug, Clone)]
pub enum Schedule {
    /// The same matrix in each of `steps` steps.
    Fixed {
        /// The graph.
        graph: Arc<Graph>,
        /// Its gossip matrix.
        matrix: Arc<MixingMatrix>,
        /// Steps per round.
        steps: usize,
    },
    /// Pairwise exchange along the dimensions of a hypercube: in step `t` with the node `i XOR 2^t`. The number
    /// of nodes must be a power of two.
    OnePeerExponential,
    /// Recursive doubling for any number of nodes; see [`doubling`].
    Doubling,
    /// Recursive doubling over a fresh public permutation each round; see [`shuffled_order`].
    ShuffledDoubling {
        /// Hash of the run id.
        key: RunKey,
    },
    /// A fresh random maximal matching in each step: matched nodes take their mean.
    RandomMatching {
        /// The graph whose edges may be matched; `None` means that any two nodes may meet.
        graph: Option<Arc<Graph>>,
        /// Hash of the run id.
        key: RunKey,
        /// Steps per round.
        steps: usize,
    },
    /// A fresh graph each round.
    Resampled {
        /// The random family; its seed is replaced in each round.
        spec: Spec,
        /// The weights on each graph.
        weights: Weights,
        /// Hash of the run id.
        key: RunKey,
        /// Steps per round.
        steps: usize,
    },
}

impl Schedule {
    /// The same graph and weights in each of `steps` steps.
    ///
    /// # Errors
    /// As [`Weights::matrix`].
    pub fn fixed(graph: Arc<Graph>, weights: &Weights, steps: usize) -> Result<Self, TopologyError> {
        let matrix = Arc::new(weights.matrix(&graph)?);
        Ok(Self::Fixed { graph, matrix, steps })
    }

    /// The round with number `round` for a roster of `nodes` nodes.
    ///
    /// Complexity: O(nodes), and the cost of the graph where it is resampled.
    ///
    /// # Errors
    /// A number of nodes that the schedule does not take, or a graph that cannot be made.
    pub fn round(&self, round: u64, nodes: usize) -> Result<Round, TopologyError> {
        if nodes == 0 {
            return Err(TopologyError::Empty);
        }
        let kind = match self {
            Self::Fixed { graph, matrix, steps } => {
                check_roster(graph.nodes(), nodes)?;
                RoundKind::Repeated { graph: graph.clone(), matrix: matrix.clone(), steps: *steps }
            }
            Self::OnePeerExponential if !nodes.is_power_of_two() => {
                return Err(TopologyError::NotAPowerOfTwo { nodes });
            }
            Self::OnePeerExponential | Self::Doubling => RoundKind::Doubling(Plan::new(nodes)?),
            Self::ShuffledDoubling { key } => {
                RoundKind::Doubling(Plan::with_order(shuffled_order(key, round, nodes))?)
            }
            Self::RandomMatching { graph, key, steps } => {
                if let Some(graph) = graph {
                    check_roster(graph.nodes(), nodes)?;
                }
                RoundKind::Matching { graph: graph.clone(), key: *key, round, steps: *steps }
            }
            Self::Resampled { spec, weights, key, steps } => {
                let fresh = spec.clone().with_seed(key.seed("resampled", round)).build();
                let graph = Arc::new(fresh.map_err(|error| TopologyError::Spec(Box::new(error)))?.graph);
                check_roster(graph.nodes(), nodes)?;
                let matrix = Arc::new(weights.matrix(&graph)?);
                RoundKind::Repeated { graph, matrix, steps: *steps }
            }
        };
        Ok(Round { nodes, kind })
    }

    /// Whether each round ends with the same value, the exact mean, at all nodes.
    pub fn reaches_consensus(&self) -> bool {
        matches!(self, Self::OnePeerExponential | Self::Doubling | Self::ShuffledDoubling { .. })
    }
}

/// The steps of one round.
#[derive(Debug, Clone)]
pub struct Round {
    nodes: usize,
    kind: RoundKind,
}

#[derive(Debug, Clone)]
enum RoundKind {
    Repeated { graph: Arc<Graph>, matrix: Arc<MixingMatrix>, steps: usize },
    Doubling(Plan),
    Matching { graph: Option<Arc<Graph>>, key: RunKey, round: u64, steps: usize },
}

impl Round {
    /// Nodes in the roster.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        match &self.kind {
            RoundKind::Repeated { steps, .. } | RoundKind::Matching { steps, .. } => *steps,
            RoundKind::Doubling(plan) => plan.steps(),
        }
    }

    /// Step `step`, counted from zero.
    ///
    /// Complexity: O(nodes) for pairwise schedules, O(nodes + edges) for matchings on a graph, O(1) otherwise.
    ///
    /// # Panics
    /// Where the round has no such step.
    pub fn step(&self, step: usize) -> Step {
        assert!(step < self.steps(), "step {step} of a round of {} steps", self.steps());
        let (matrix, roles) = match &self.kind {
            RoundKind::Repeated { graph, matrix, .. } => {
                return Step { matrix: matrix.clone(), graph: graph.clone(), roles: None };
            }
            RoundKind::Doubling(plan) => (plan.matrix(step), plan.roles(step)),
            RoundKind::Matching { graph, key, round, .. } => {
                let mut rng = key.stream("random-matching", *round, step as u64);
                let roles = random_matching(graph.as_deref(), self.nodes, &mut rng);
                (matching::matrix(&roles), roles)
            }
        };
        let graph = Arc::new(graph_of_roles(&roles));
        Step { matrix: Arc::new(matrix), graph, roles: Some(roles) }
    }

    /// All steps in order, one at a time.
    pub fn iter(&self) -> impl Iterator<Item = Step> + '_ {
        (0..self.steps()).map(|step| self.step(step))
    }

    /// The matrices of all steps in order.
    pub fn matrices(&self) -> Vec<Arc<MixingMatrix>> {
        self.iter().map(|step| step.matrix).collect()
    }

    /// The recursive doubling behind the round, if it is one: partner and role of a node at cost O(1).
    pub fn plan(&self) -> Option<&Plan> {
        match &self.kind {
            RoundKind::Doubling(plan) => Some(plan),
            RoundKind::Repeated { .. } | RoundKind::Matching { .. } => None,
        }
    }
}

fn check_roster(expected: usize, nodes: usize) -> Result<(), TopologyError> {
    if expected == nodes { Ok(()) } else { Err(TopologyError::RosterSize { expected, nodes }) }
}

fn graph_of_roles(roles: &[Role]) -> Graph {
    let edge = |(node, role): (usize, &Role)| {
        role.partner().filter(|&partner| node < partner).map(|partner| (node as u32, partner as u32))
    };
    let edges: Vec<(u32, u32)> = roles.iter().enumerate().filter_map(edge).collect();
    Graph::from_edges(roles.len(), &edges).expect("partners are nodes of the round").0
}

#[cfg(test)]
mod tests;
