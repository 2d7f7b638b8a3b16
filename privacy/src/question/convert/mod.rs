//! μ, Rényi, zCDP and (ε, δ) into each other.
//!
//! Every result says whether it is exact, a bound, or a target (what a Gaussian would need to have this point).
//! Directions that no theorem allows are refused with the reason.

mod theorems;

use super::QuestionError;
use super::error::{not_negative, order};
use crate::gdp;
use serde::{Deserialize, Serialize};

/// What is known, and what it is to be turned into.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What is known.
    pub from: Source,
    /// The δ at which ε is given.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// The order at which Rényi results are given.
    #[serde(default = "usual_order")]
    pub alpha: f64,
    /// Only this result; one that cannot be had is an error then.
    #[serde(default)]
    pub to: Option<Target>,
}

fn usual_delta() -> f64 {
    1e-5
}

fn usual_order() -> f64 {
    2.0
}

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Gaussian DP.
    Mu {
        /// Sensitivity over noise.
        mu: f64,
    },
    /// A Rényi bound at one order.
    Renyi {
        /// The order, above 1.
        alpha: f64,
        /// The divergence.
        epsilon: f64,
    },
    /// Zero-concentrated DP.
    Zcdp {
        /// ρ.
        rho: f64,
    },
    /// Pure ε-DP.
    Pure {
        /// ε.
        epsilon: f64,
    },
    /// A point (ε, δ).
    Approximate {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
}

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Gaussian DP.
    Mu,
    /// Rényi divergence at an order.
    Renyi,
    /// Zero-concentrated DP.
    Zcdp,
    /// (ε, δ).
    Approximate,
}

/// How a result relates to what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Holds, and nothing smaller does for every such mechanism.
    Exact,
    /// Holds.
    Bound,
    /// Does not follow: it is what a mechanism of that kind needs in order to have the given point.
    Target,
    /// Does not follow and has no such reading.
    Refused,
}

/// All that follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was known.
    pub from: Source,
    /// What follows from it.
    pub results: Vec<Outcome>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Into what.
    pub to: Target,
    /// How it relates to what was given.
    pub kind: Kind,
    /// μ, for Gaussian DP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// ρ, for zCDP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// The order, for Rényi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The divergence at that order, or ε at δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ, for (ε, δ).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// The theorem, or the reason of a refusal.
    pub analysis: &'static str,
}

impl Question {
    /// Converts.
    ///
    /// # Guarantee
    /// What is [`Kind::Exact`] or [`Kind::Bound`] holds for every mechanism with the given loss, rounded up.
    ///
    /// # Assumes
    /// The loss that was given.
    ///
    /// # Errors
    /// Numbers outside their range, and a single result that does not follow.
    pub fn answer(&self) -> Result<Answer, QuestionError> {
        // A valid δ is needed everywhere; the conversion names a bad one.
        gdp::epsilon(1.0, self.delta)?;
        self.from.check()?;
        order("--alpha", self.alpha)?;
        let targets = match self.to {
            Some(target) => vec![target],
            None => Target::ALL.to_vec(),
        };
        let results = targets.into_iter().map(|target| theorems::outcome(self, target));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        match results.iter().find(|outcome| self.to.is_some() && outcome.kind == Kind::Refused) {
            Some(refused) => Err(QuestionError::DoesNotGive {
                from: self.from.name(),
                to: refused.to.name(),
                why: refused.analysis.to_owned(),
            }),
            None => Ok(Answer { from: self.from, results }),
        }
    }
}

impl Source {
    fn check(self) -> Result<(), QuestionError> {
        match self {
            Self::Mu { mu } => not_negative("--mu", mu),
            Self::Zcdp { rho } => not_negative("--rho", rho),
            Self::Renyi { alpha, epsilon } => {
                not_negative("--renyi-epsilon", epsilon).and_then(|()| order("--renyi-alpha", alpha))
            }
            Self::Pure { epsilon } => not_negative("--epsilon", epsilon),
            Self::Approximate { epsilon, delta } => {
                gdp::epsilon(1.0, delta)?;
                not_negative("--epsilon", epsilon)
            }
        }
    }

    /// In words.
    pub fn name(&self) -> String {
        match self {
            Self::Mu { mu } => format!("μ = {mu}"),
            Self::Renyi { alpha, epsilon } => format!("Rényi divergence {epsilon} at order {alpha}"),
            Self::Zcdp { rho } => format!("ρ = {rho}"),
            Self::Pure { epsilon } => format!("pure ε = {epsilon}"),
            Self::Approximate { epsilon, delta } => format!("(ε, δ) = ({epsilon}, {delta:e})"),
        }
    }
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 4] = [Self::Mu, Self::Renyi, Self::Zcdp, Self::Approximate];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mu => "Gaussian DP",
            Self::Renyi => "Rényi",
            Self::Zcdp => "zCDP",
            Self::Approximate => "(ε, δ)",
        }
    }
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bound => "bound",
            Self::Target => "target",
            Self::Refused => "refused",
        }
    }
}
