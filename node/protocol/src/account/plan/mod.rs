//! A run before it is made: what it will cost, or how much noise it needs.
//!
//! A budget is watched while the run goes on, by [`BudgetRule`]s: a contribution is made only if the limit holds even where it and all that is not settled are
//! seen in full. Noise is therefore calibrated not for the planned loss alone but for the dearest moment of an undisturbed run, so that none of its
//! contributions is refused, and whatever breaks, the limit is never passed.

mod local;
mod own;

pub(crate) use local::least;
pub use own::own_limit;

use learn::calibrate::CalibrateError;
use privacy::accountant::AccountError;
use privacy::event::DpEvent;
use privacy::gdp;
use privacy::network::NetworkError;
use thiserror::Error;
use topology::Hint;

use super::{Planned, Price, ReleaseKind, Shape};
use crate::settings::{BudgetRule, Scope};
use crate::work::Adjacency;

/// Noise beyond this helps nobody: there is no signal left.
pub(crate) const LARGEST: f64 = 1e6;
/// The relative width at which a search for noise stops; the upper end is taken.
const TOLERANCE: f64 = 5e-4;
/// Noise found in closed form is enlarged by this, far above the rounding of sums of prices.
pub(crate) const UP: f64 = 1e-9;

/// Nodes up to which all pairs are added up.
pub(crate) const MOST_NODES: usize = 4096;

/// A run to plan.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The run; its `release` is not looked at.
    pub shape: &'a Shape,
    /// What is protected.
    pub protects: Protects,
    /// Who sees the messages.
    pub visibility: Visibility,
}

/// What is protected, and hence what a noise multiplier means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Protects {
    /// One record, by noise z·C on the sum of a Poisson sample. Where rates differ between nodes, the largest.
    Record {
        /// Sampling rate; 1 for all records.
        rate: f64,
    },
    /// All data of a node, by noise z·C on an update that may change by 2C.
    Node,
}

/// Who sees the messages of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Each node those that it receives.
    Network,
    /// Everybody all, or a curator publishes the model after every step: `local`, `fedavg`, `central`.
    Public,
}

/// What is wanted of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// This noise multiplier; no limits.
    Noise(f64),
    /// The least noise with which the loss in this scope is at most ε; limits to keep it so.
    Epsilon {
        /// Target.
        epsilon: f64,
        /// Whose view.
        scope: Scope,
    },
}

/// A planned run.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisePlan {
    /// Noise and figures.
    pub planned: Planned,
    /// What one contribution is.
    pub release: DpEvent,
    /// Limits that the plan keeps to.
    pub budget: Vec<BudgetRule>,
}

/// Why there is no plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// A target that is no positive number.
    #[error("the target ε must be positive: {epsilon}")]
    Target {
        /// What was given.
        epsilon: f64,
    },
    /// A target below what any sensible noise reaches.
    #[error("no noise up to {LARGEST} reaches ε = {epsilon} at δ = {delta} in {rounds} rounds")]
    OutOfReach {
        /// Target.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// Contributions of a node.
        rounds: u64,
    },
    /// A noise multiplier that is negative or not finite.
    #[error("the noise multiplier must be a finite number of at least 0: {value}")]
    Noise {
        /// What was given.
        value: f64,
    },
    /// One contribution costs more than a node allows.
    #[error(
        "one contribution of this run costs ε = {one:.3} at δ = {delta:e}, and this node's own limit is {epsilon}"
    )]
    OwnLimit {
        /// The limit.
        epsilon: f64,
        /// What one contribution costs.
        one: f64,
        /// δ.
        delta: f64,
    },
    /// What nodes release and keep leaves nothing of the budget.
    #[error(
        "{count} private choices of a slot alone cost ε = {own:.3} at δ = {delta:e}, and ε = {epsilon} is all there is"
    )]
    Kept {
        /// Target.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// What they cost.
        own: f64,
        /// How many.
        count: u64,
    },
    /// The accountant refused.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The network accountant refused.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl Hint for PlanError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Target { .. } => {
                Some("use a number such as 2, or `noise_multiplier = 0` for a run without noise".into())
            }
            Self::OutOfReach { .. } => Some("use fewer rounds, a smaller batch, or a larger ε".into()),
            Self::OwnLimit { .. } => Some(
                "join with a larger `budget.epsilon`, or ask for a swarm whose contributions carry more noise (a smaller `privacy.epsilon`, or more rounds)".into(),
            ),
            Self::Kept { .. } => Some(
                "use fewer `clusters.choices` or a larger `clusters.choice_noise`: at record level a choice is a release of its own; or `privacy.unit = \"node\"`, where it costs nothing".into(),
            ),
            Self::Noise { .. } => Some("use a number such as 1, or `epsilon` to have it found".into()),
            Self::Account(error) => error.hint(),
            Self::Network(error) => error.hint(),
        }
    }
}

impl From<CalibrateError> for PlanError {
    fn from(error: CalibrateError) -> Self {
        match error {
            CalibrateError::Account(error) => Self::Account(error),
            CalibrateError::Target { epsilon } => Self::Target { epsilon },
            CalibrateError::OutOfReach { epsilon, delta, steps } => {
                Self::OutOfReach { epsilon, delta, rounds: steps }
            }
        }
    }
}

impl From<gdp::Error> for PlanError {
    fn from(error: gdp::Error) -> Self {
        Self::Account(error.into())
    }
}

impl Protects {
    /// What a contribution with this noise multiplier is to the accountant.
    ///
    /// # Guarantee
    /// As [`learn::gradient::ClippedSum::release`] says.
    pub fn event(self, noise_multiplier: f64) -> DpEvent {
        match self {
            _ if noise_multiplier <= 0.0 => DpEvent::NonPrivate,
            Self::Record { rate } if rate < 1.0 => self.gaussian(noise_multiplier).poisson_sampled(rate),
            Self::Record { .. } | Self::Node => self.gaussian(noise_multiplier),
        }
    }

    fn adjacency(self) -> Adjacency {
        match self {
            Self::Record { .. } => Adjacency::Record,
            Self::Node => Adjacency::Node,
        }
    }

    fn gaussian(self, noise_multiplier: f64) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier: self.over_sensitivity(noise_multiplier) }
    }

    /// Noise divided by sensitivity for z, noise divided by the clip norm.
    fn over_sensitivity(self, noise_multiplier: f64) -> f64 {
        noise_multiplier / self.adjacency().clip_norms()
    }

    /// z for noise divided by sensitivity.
    fn noise_multiplier(self, over_sensitivity: f64) -> f64 {
        over_sensitivity * self.adjacency().clip_norms()
    }

    /// The kind of a contribution with noise `over_sensitivity` times the sensitivity.
    pub(crate) fn kind(self, over_sensitivity: f64) -> ReleaseKind {
        ReleaseKind::of(&self.event(self.noise_multiplier(over_sensitivity)))
    }
}

/// The noise that an aim needs, with the limits that keep it, before any figures.
pub(crate) struct Found {
    /// Noise divided by sensitivity.
    pub(crate) noise: f64,
    pub(crate) budget: Vec<BudgetRule>,
}

/// Plans a run.
///
/// # Guarantee
/// With an aim of ε the loss in its scope is at most (ε, δ) for the planned run, by the analysis that the plan names; for `rounds`, and for [`Scope::Local`]
/// everywhere, it stays so whatever breaks, as long as nodes keep to the budget. `walk (estimate)` is no guarantee.
///
/// # Assumes
/// What the named analysis assumes. Contributions are those of [`Protects::event`] or cost less.
///
/// # Errors
/// A target or noise outside its range, a target that no noise reaches, or a graph that cannot be made.
pub fn plan(question: &Question<'_>, aim: Aim) -> Result<NoisePlan, PlanError> {
    gdp::epsilon(0.0, question.shape.delta)?;
    let found = match aim {
        Aim::Noise(value) if !(value.is_finite() && value >= 0.0) => return Err(PlanError::Noise { value }),
        Aim::Epsilon { epsilon, .. } if epsilon.is_nan() || epsilon <= 0.0 => {
            return Err(PlanError::Target { epsilon });
        }
        Aim::Noise(0.0) | Aim::Epsilon { epsilon: f64::INFINITY, .. } => return Ok(without_noise()),
        Aim::Noise(value) => Found { noise: question.protects.over_sensitivity(value), budget: Vec::new() },
        Aim::Epsilon { epsilon, scope } => beside_kept(question, epsilon, scope)?,
    };
    let noise_multiplier = question.protects.noise_multiplier(found.noise);
    let release = question.protects.event(noise_multiplier);
    let shape = Shape { release: release.clone(), ..question.shape.clone() };
    let figures = Figures::of(question, &shape)?;
    let Figures { analysis, worst, mean, coalition, local } = figures;
    let planned = Planned { noise_multiplier, analysis, worst, mean, coalition, local };
    Ok(NoisePlan { planned, release, budget: found.budget })
}

fn without_noise() -> NoisePlan {
    let none = f64::INFINITY;
    let planned = Planned {
        noise_multiplier: 0.0,
        analysis: "none".into(),
        worst: none,
        mean: none,
        coalition: None,
        local: none,
    };
    NoisePlan { planned, release: DpEvent::NonPrivate, budget: Vec::new() }
}

/// As [`calibrated`], with room for what nodes release and keep.
fn beside_kept(question: &Question<'_>, epsilon: f64, scope: Scope) -> Result<Found, PlanError> {
    let Some(kept) = &question.shape.kept else { return calibrated(question, epsilon, scope) };
    let delta = question.shape.delta;
    let kind = |noise: f64| question.protects.kind(noise);
    let found = kept.leaving((epsilon, delta), kind, |left| calibrated(question, left, scope))?;
    Ok(found.named(&named(epsilon, delta, scope)))
}

fn calibrated(question: &Question<'_>, epsilon: f64, scope: Scope) -> Result<Found, PlanError> {
    let shape = question.shape;
    let releases = planned_releases(question)?;
    let local = local::calibrated(question, epsilon, releases)?;
    let only_local = question.visibility == Visibility::Public || shape.own_noise_returns;
    if scope == Scope::Local || only_local || shape.nodes < 2 {
        return Ok(local);
    }
    let better = shape.algorithm.forecast().noise(question, (epsilon, scope), &local)?;
    Ok(better.filter(|better| better.noise < local.noise).unwrap_or(local))
}

impl Found {
    /// The same with rules of this name.
    fn named(mut self, name: &str) -> Self {
        self.budget.iter_mut().for_each(|rule| name.clone_into(&mut rule.name));
        self
    }

    /// Other noise under the same limit on the number of contributions, which holds whatever the noise.
    pub(crate) fn with_noise(&self, noise: f64) -> Self {
        let planned = |rule: &BudgetRule| BudgetRule {
            name: "the planned number of contributions".into(),
            ..rule.clone()
        };
        Self { noise, budget: self.budget.iter().map(planned).collect() }
    }
}

/// How many contributions a node makes.
fn planned_releases(question: &Question<'_>) -> Result<u64, PlanError> {
    match question.visibility {
        Visibility::Network => question.shape.algorithm.forecast().releases(question.shape),
        Visibility::Public => Ok(u64::from(question.shape.rounds.max(1))),
    }
}

pub(crate) fn named(epsilon: f64, delta: f64, scope: Scope) -> String {
    let whose = match scope {
        Scope::Local => "local",
        Scope::Worst => "worst pair",
        Scope::Mean => "mean over pairs",
    };
    format!("ε = {epsilon} at δ = {delta:e}, {whose}")
}

/// The figures of a plan.
pub(crate) struct Figures {
    pub(crate) analysis: String,
    pub(crate) worst: f64,
    pub(crate) mean: f64,
    /// Towards any so many members together, where the plan is about such.
    pub(crate) coalition: Option<(usize, f64)>,
    pub(crate) local: f64,
}

impl Figures {
    fn of(question: &Question<'_>, shape: &Shape) -> Result<Self, PlanError> {
        let kind = ReleaseKind::of(&shape.release);
        let releases = planned_releases(question)?;
        let local = match &shape.kept {
            Some(kept) => kept.beside(kind, releases, shape.delta),
            None => super::epsilon_of(kind, &[(1.0, releases)], shape.delta)?,
        };
        let everywhere = |analysis: &str| Self {
            analysis: analysis.into(),
            worst: local,
            mean: local,
            coalition: None,
            local,
        };
        if question.visibility == Visibility::Public || shape.own_noise_returns {
            return Ok(everywhere("local"));
        }
        if shape.nodes < 2 {
            return Ok(Self { analysis: "local".into(), worst: 0.0, mean: 0.0, coalition: None, local });
        }
        shape.algorithm.forecast().figures(shape, local)
    }
}

/// A limit of one unit per contribution.
fn release_rule(releases: u64, name: String) -> BudgetRule {
    BudgetRule { scope: Scope::Local, limit: releases as f64, price: Price::Releases, name }
}
