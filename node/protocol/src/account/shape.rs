//! What an account must know of a run besides its log.

use std::collections::BTreeSet;

use privacy::event::DpEvent;
use topology::schedule::RunKey;

use super::Kept;
use crate::algorithm::Algorithm;
use crate::settings::Settings;
use crate::work::Adjacency;

/// The run as it was agreed on: what the lines of its log are lines about.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Number of participants.
    pub nodes: usize,
    /// Rounds planned; for a walk, hops of each token.
    pub rounds: u32,
    /// All public randomness follows from it.
    pub key: RunKey,
    /// What they do.
    pub algorithm: Algorithm,
    /// What one contribution is, where a line does not say otherwise.
    pub release: DpEvent,
    /// Whose data may change.
    pub adjacency: Adjacency,
    /// δ of all figures.
    pub delta: f64,
    /// ρ of the local update, where it is certified.
    pub rho: Option<f64>,
    /// Whether the noise came from a private source.
    pub private_noise: bool,
    /// Standard deviation of each node's noise relative to the others'; empty where all are equal.
    ///
    /// At record level a contribution is divided by the node's expected batch, so its noise is in proportion to one over that: equal only where all
    /// batches have the same size.
    pub noise: Vec<f64>,
    /// `mean`: noise on each message divided by the noise of a contribution.
    pub message_noise: f64,
    /// c: members that may pool what they saw, where a figure about any so many is wanted.
    pub colluders: Option<usize>,
    /// The nodes whose lines the log has; `None`: those of all.
    ///
    /// With the lines of some only, nothing is said about the others, and what theirs would have to prove is charged in full.
    pub witnesses: Option<BTreeSet<usize>>,
    /// What every node releases and keeps, besides its contributions.
    pub kept: Option<Kept>,
    /// Whether contributions depend on a node's own earlier noise: then no analysis that counts on the noise of others holds, and all pairs are `local`.
    pub own_noise_returns: bool,
    /// What every contribution to a masked round costs beside its part of the total, as if its round were looked into; 0 where looks are records of their own.
    pub looked: f64,
}

impl Shape {
    /// The shape of a run by these settings; equal noise at all nodes, a private source, no certified ρ.
    pub fn new(settings: &Settings, adjacency: Adjacency, delta: f64) -> Self {
        Self {
            nodes: settings.nodes,
            rounds: settings.rounds,
            key: settings.key,
            algorithm: settings.algorithm.clone(),
            release: settings.release.clone(),
            adjacency,
            delta,
            rho: None,
            private_noise: true,
            noise: Vec::new(),
            message_noise: 0.0,
            colluders: None,
            witnesses: None,
            kept: None,
            own_noise_returns: false,
            looked: settings.algorithm.looks().map_or(0.0, |looks| looks.part()),
        }
    }

    /// The same for a run that was renewed on the way: with the places of those who joined, and with at most so many rounds.
    #[must_use]
    pub fn renewed(mut self, nodes: usize, rounds: u32) -> Self {
        (self.nodes, self.rounds) = (self.nodes.max(nodes), self.rounds.max(rounds));
        self
    }

    /// Says that the local update is ρ-Lipschitz.
    #[must_use]
    pub fn with_rho(mut self, rho: Option<f64>) -> Self {
        self.rho = rho;
        self
    }

    /// Says whether the noise came from a private source.
    #[must_use]
    pub fn with_private_noise(mut self, private: bool) -> Self {
        self.private_noise = private;
        self
    }

    /// Asks for a figure about any so many members together.
    #[must_use]
    pub fn with_colluders(mut self, colluders: usize) -> Self {
        self.colluders = Some(colluders);
        self
    }

    /// Gives the standard deviation of each node's noise relative to the others'.
    #[must_use]
    pub fn with_noise(mut self, noise: Vec<f64>) -> Self {
        self.noise = noise;
        self
    }

    /// Says what every node releases and keeps, besides its contributions.
    #[must_use]
    pub fn with_kept(mut self, kept: Option<Kept>) -> Self {
        self.kept = kept;
        self
    }

    /// Says whether contributions depend on a node's own earlier noise.
    #[must_use]
    pub fn with_own_noise(mut self, returns: bool) -> Self {
        self.own_noise_returns = returns;
        self
    }

    /// Gives the noise on each message divided by the noise of a contribution.
    #[must_use]
    pub fn with_message_noise(mut self, ratio: f64) -> Self {
        self.message_noise = ratio;
        self
    }

    /// Says that the log has the lines of these nodes only, such as a node's own log.
    #[must_use]
    pub fn with_witnesses(mut self, nodes: impl IntoIterator<Item = usize>) -> Self {
        self.witnesses = Some(nodes.into_iter().collect());
        self
    }

    /// Whether the log says what this node did.
    pub fn is_told(&self, node: usize) -> bool {
        self.witnesses.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }

    /// σ² of a node's contribution, relative to the others'.
    pub(crate) fn variance(&self, node: usize) -> f64 {
        self.noise.get(node).map_or(1.0, |noise| noise * noise)
    }

    /// (σ_u/σ_min)²: how much larger a change of `node` is than the least noise that may have to hide it.
    pub(crate) fn exposure(&self, node: usize) -> f64 {
        let least = self.noise.iter().copied().fold(f64::INFINITY, f64::min);
        if least.is_finite() { self.variance(node) / (least * least) * (1.0 + 1e-14) } else { 1.0 }
    }
}
