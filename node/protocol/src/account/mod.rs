//! What a run cost, pair by pair: a fold over its log, and the plan before it.

mod price;

pub use price::Price;

/// What a planned run costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// z: noise divided by the clip norm.
    pub noise_multiplier: f64,
    /// The analysis that holds for the run.
    pub analysis: String,
    /// ε of the worst pair.
    pub worst: f64,
    /// Mean ε over all pairs.
    pub mean: f64,
    /// ε towards somebody who sees every message.
    pub local: f64,
}
