//! What the state machine needs to know, the same at all participants.

use std::fmt;
use std::sync::{Arc, OnceLock};

use learn::optimiser::{OptimiserSpec, Schedule as StepSizes};
use privacy::event::DpEvent;
use serde::{Deserialize, Serialize};
use topology::schedule::{Plan, RunKey};
use topology::{MixingMatrix, Schedule, TopologyError};

use crate::account::Price;
use crate::gossip::MixingPlan;
use crate::rounds::leverage::plan_of;
use crate::values::Values;

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
    /// Limits on what a node may lose; contributions that would pass one are not made.
    pub budget: Vec<BudgetRule>,
    /// How long to wait.
    pub timeouts: Timeouts,
}

/// Which algorithm, with its own settings.
#[derive(Debug, Clone)]
pub enum Algorithm {
    /// Averaging rounds that end in exact consensus.
    Rounds(RoundsSettings),
    /// Gossip SGD, or one-shot averaging where `train` is false.
    Gossip(GossipSettings),
    /// A token that walks.
    Walk(WalkSettings),
}

/// Settings of averaging rounds.
#[derive(Debug, Clone)]
pub struct RoundsSettings {
    plans: Arc<Plans>,
}

/// The plan of each round, made by whichever participant asks first: a simulation has thousands in one process. The plan follows from the
/// run, the round and the roster alone, so it does not matter who made it.
#[derive(Debug)]
struct Plans(Vec<OnceLock<MadePlan>>);

/// A plan, and the roster for which it was made.
type MadePlan = (Arc<[crate::PeerIx]>, Arc<Plan>);

impl RoundsSettings {
    /// For a run of so many rounds.
    pub fn new(rounds: u32) -> Self {
        Self { plans: Arc::new(Plans((0..rounds).map(|_| OnceLock::new()).collect())) }
    }

    /// Who meets whom in `round`: shuffled doubling over positions in `members`.
    pub fn plan(&self, key: &RunKey, round: u32, members: &Arc<[crate::PeerIx]>) -> Arc<Plan> {
        let make = || Arc::new(plan_of(key, round, members.len()).expect("a roster is not empty"));
        let Some(slot) = self.plans.0.get(round as usize) else { return make() };
        let (made_for, plan) = slot.get_or_init(|| (members.clone(), make()));
        if made_for == members { plan.clone() } else { make() }
    }
}

/// Settings of gossip.
#[derive(Debug, Clone)]
pub struct GossipSettings {
    /// Who mixes with whom in each step of each round; carries the number of steps.
    pub schedule: Arc<Schedule>,
    /// Chebyshev coefficients ω of the steps of a round; empty for plain gossip.
    pub accelerate: Arc<[f64]>,
    /// Standard deviation of fresh noise on each message; 0 for none.
    pub message_noise: f64,
    /// Whether contributions are gradients at the current state; otherwise the state is the contribution (`mean`).
    pub train: bool,
    /// Who hears whom, worked out once for all nodes of a process.
    pub(crate) plan: Arc<MixingPlan>,
}

impl GossipSettings {
    /// Plain averaging of `nodes` nodes by `schedule`; the public fields change what is done.
    ///
    /// # Errors
    /// A schedule that does not take so many nodes.
    pub fn new(schedule: Arc<Schedule>, nodes: usize) -> Result<Self, TopologyError> {
        let plan = Arc::new(MixingPlan::new(&schedule, nodes)?);
        Ok(Self { schedule, accelerate: Arc::default(), message_noise: 0.0, train: false, plan })
    }
}

/// Settings of a walk.
#[derive(Debug, Clone)]
pub struct WalkSettings {
    /// The transition law.
    pub kernel: Arc<MixingMatrix>,
    /// First holder of each token.
    pub starts: Vec<crate::PeerIx>,
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
    /// Before a node without a majority ends.
    pub give_up: u64,
}

impl Timeouts {
    /// Guesses for a LAN: a round trip is far below the first, a restart below the second.
    pub const LAN: Self = Self { resend: 250_000, silence: 10_000_000, give_up: 600_000_000 };
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::LAN
    }
}
