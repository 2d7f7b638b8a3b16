//! What the state machine needs to know, the same at all participants.

use std::fmt;

use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::event::DpEvent;
use serde::{Deserialize, Serialize};
use topology::schedule::RunKey;

use crate::account::Price;
use crate::algorithm::Algorithm;
use crate::values::Values;
use crate::work::Mechanism;

/// Identifies a run: messages of others are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Everything that participants agree on before a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The run.
    pub run: RunId,
    /// All public randomness follows from it.
    pub key: RunKey,
    /// Number of participants.
    pub nodes: usize,
    /// Number of rounds; for a walk, of hops of each token.
    pub rounds: u32,
    /// What they do.
    pub algorithm: Algorithm,
    /// The first model, or zeros for `mean`: public.
    pub initial: Values,
    /// How a mean contribution changes the model.
    pub step: StepRule,
    /// What one contribution is to the accountant.
    pub release: DpEvent,
    /// Largest norm of one honest contribution, noise included, that is believed; infinite where unknown.
    pub largest_norm: f64,
    /// How contributions are made private.
    pub mechanism: Mechanism,
    /// Limits on what a node may lose; contributions that would pass one are not made.
    pub budget: Vec<BudgetRule>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// f: at most so many of the participants are hostile, and decisions need as many signatures as that asks for.
    pub hostile: u32,
    /// Whether the end of the run is decided and proved too. A simulation in which nothing can go wrong has nobody to prove it to.
    pub certify: bool,
}

/// How a mean contribution (a gradient, or at node level the negative of an update) changes the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRule {
    /// Step sizes by round.
    pub sizes: StepSizes,
    /// The optimiser.
    pub optimiser: OptimiserSpec,
    /// λ of a penalty (λ/2)‖θ‖², which needs no noise.
    pub penalty: f64,
}

/// A limit on what may be lost.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetRule {
    /// Whose view is limited.
    pub scope: Scope,
    /// The most that may be spent, in the unit of `price`.
    pub limit: f64,
    /// What a contribution costs.
    pub price: Price,
    /// How a refusal names it: `ε = 4 at δ = 1e-5, worst pair`.
    pub name: String,
}

impl BudgetRule {
    /// In what the rule counts; spendings in different units cannot be compared.
    pub fn unit(&self) -> String {
        format!("{:?} {:?}", self.scope, self.price)
    }
}

/// Whose view a budget is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Somebody who sees every message.
    Local,
    /// The other node that sees most.
    #[default]
    Worst,
    /// The mean over the other nodes.
    Mean,
}

/// How long to wait, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Before a missing message is asked for again.
    pub resend: u64,
    /// Before a silent peer is given up.
    pub silence: u64,
    /// How long a round waits for a member whose contribution takes long; 0: five times `silence`.
    pub slow: u64,
    /// Before a node without a majority ends.
    pub give_up: u64,
}

impl Timeouts {
    /// Guesses for a LAN: a round trip is far below the first, a restart below the second.
    pub const LAN: Self = Self { resend: 250_000, silence: 10_000_000, slow: 0, give_up: 600_000_000 };
}

impl Timeouts {
    /// How long a contribution may take: then the round goes on without it.
    pub(crate) fn slowest(&self) -> u64 {
        if self.slow == 0 { self.silence.saturating_mul(5) } else { self.slow }
    }

    /// How long somebody is waited for who answers: whoever is slow has then told what it has, or that it has nothing.
    pub(crate) fn latest(&self) -> u64 {
        self.slowest().saturating_add(self.silence)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::LAN
    }
}
