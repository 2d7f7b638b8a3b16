//! The noise and the δ that losses are converted with.

use super::QuestionError;
use super::error::{positive, probability};
use serde::{Deserialize, Serialize};

/// What a unit loss is converted with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of the noise on each coordinate of a contribution (σ).
    pub sigma: f64,
    /// Largest change (L2) of a contribution when the protected data change (Δ).
    pub sensitivity: f64,
    /// δ at which ε is given.
    pub delta: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self { sigma: 1.0, sensitivity: 1.0, delta: 1e-5 }
    }
}

impl Noise {
    /// Refuses what is no noise, no sensitivity or no δ.
    pub(super) fn check(self) -> Result<Self, QuestionError> {
        positive("--sigma", self.sigma)?;
        positive("--sensitivity", self.sensitivity)?;
        probability("--delta", self.delta, "1e-5")?;
        Ok(self)
    }

    /// (Δ/σ)², by which unit losses are multiplied.
    pub(super) fn scale(self) -> f64 {
        (self.sensitivity / self.sigma).powi(2)
    }
}
