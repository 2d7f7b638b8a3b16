//! What a run cost, as reports say it: every figure with the name of its analysis.

use privacy::event::DpEvent;
use protocol::Setup;
use protocol::work::Adjacency;
use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// ε; `null` where nothing limits the loss.
    pub epsilon: Option<f64>,
    /// μ² of Gaussian DP, where the analysis gives one.
    pub mu2: Option<f64>,
    /// The analysis that it comes from.
    pub analysis: String,
}

/// The privacy of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// What is protected: `record` or `node`.
    pub adjacency: &'static str,
    /// δ of all figures.
    pub delta: f64,
    /// Whether the noise came from a private source; a simulation's is seeded, so it protects nobody.
    pub private: bool,
    /// The pair of nodes that loses most.
    pub worst: Figure,
    /// The mean over pairs.
    pub mean: Figure,
    /// Towards somebody who sees every message.
    pub local: Figure,
}

impl Figure {
    /// A figure; what is not finite has no value.
    pub fn new(epsilon: f64, mu2: Option<f64>, analysis: &str) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        Self { epsilon: finite(epsilon), mu2: mu2.and_then(finite), analysis: analysis.into() }
    }

    /// ε of an event by the accountant that is exact for it, or by privacy-loss distribution.
    ///
    /// # Guarantee
    /// As [`learn::calibrate::epsilon`]. An event without a price has no finite figure.
    pub fn of_event(event: &DpEvent, delta: f64, analysis: &str) -> Self {
        let epsilon = learn::calibrate::epsilon(event, delta).unwrap_or(f64::INFINITY);
        Self::new(epsilon, mu2(event), analysis)
    }
}

impl Privacy {
    /// The same figure for everybody who sees the releases.
    pub fn uniform(setup: &Setup, figure: &Figure) -> Self {
        Self {
            adjacency: adjacency_name(setup.work.unit.adjacency()),
            delta: setup.config.privacy.delta,
            private: false,
            worst: figure.clone(),
            mean: figure.clone(),
            local: figure.clone(),
        }
    }
}

/// The word for an adjacency.
pub(crate) fn adjacency_name(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "record",
        Adjacency::Node => "node",
    }
}

/// μ² of repeated Gaussians without sampling: 1/z² each.
fn mu2(event: &DpEvent) -> Option<f64> {
    let mut accountant = privacy::accountant::GaussianAccountant::default();
    privacy::accountant::Accountant::compose(&mut accountant, event, 1).ok()?;
    Some(accountant.mu() * accountant.mu())
}
