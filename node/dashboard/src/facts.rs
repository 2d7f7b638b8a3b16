//! What is known of a run before the first line of its log.

use protocol::account::Shape;
use protocol::config::{Config, Masking};
use protocol::{PeerIx, Scope, Setup};

use crate::scene::Scene;

/// The run as its configuration tells it: enough for a page that says what is about to begin.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Name of the run.
    pub run: String,
    /// `rounds`, `gossip`, `walk` or `mean`.
    pub algorithm: &'static str,
    /// Number of participants.
    pub nodes: usize,
    /// Rounds planned.
    pub rounds: u32,
    /// ε that the run was planned for, if it was.
    pub budget: Option<f64>,
    /// Whose view the budget is about.
    pub scope: Scope,
    /// Towards how many members together, where masks make it a matter of how many pool what they know.
    pub together: Option<usize>,
    /// δ of every ε.
    pub delta: f64,
    /// Version of the program.
    pub version: &'static str,
    /// The only node whose log is read; `None` where all are.
    pub only: Only,
}

/// Whose logs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Those of all nodes.
    Everybody,
    /// That of one node, which finds its position when the run begins: what others spent is not known.
    Myself,
}

impl Outline {
    /// The outline of a configuration.
    pub fn of(config: &Config, only: Only) -> Self {
        Self {
            run: config.name.clone(),
            algorithm: config.algorithm.kind.name(),
            nodes: config.nodes,
            rounds: config.rounds,
            budget: config.privacy.epsilon.filter(|epsilon| epsilon.is_finite()),
            scope: config.privacy.target,
            together: (config.privacy.masking == Masking::Pairwise).then_some(config.privacy.colluders),
            delta: config.privacy.delta,
            version: env!("CARGO_PKG_VERSION"),
            only,
        }
    }
}

/// What follows from configuration and data together, which takes a moment to work out.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What the lines of the log are about.
    pub shape: Shape,
    /// The graph, and where its nodes stand.
    pub scene: Scene,
}

impl Facts {
    /// The facts of a run.
    pub fn of(setup: &Setup) -> Self {
        Self { shape: setup.shape(), scene: Scene::of(&setup.config) }
    }
}

/// Every position of a run.
pub(crate) fn positions(nodes: usize) -> impl Iterator<Item = PeerIx> {
    (0..nodes).map(|node| node as PeerIx)
}
