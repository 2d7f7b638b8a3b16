//! Figures of runs that leave no messages to price: all that is known is what was released, and to whom.

use privacy::event::DpEvent;
use protocol::Setup;
use protocol::account::{Coalition, Figure, Summary, mu2_through};

/// What so many releases cost anybody who sees them all.
///
/// # Guarantee
/// As [`learn::calibrate::epsilon`]; an event without a price has an infinite figure.
pub(crate) fn figure(release: &DpEvent, releases: u64, delta: f64, analysis: &str) -> Figure {
    let event = release.clone().repeated(releases);
    let epsilon = learn::calibrate::epsilon(&event, delta).unwrap_or(f64::INFINITY);
    let analysis = if epsilon.is_finite() { analysis } else { "none (no noise)" };
    Figure { epsilon, mu2: mu2_through(epsilon, delta), analysis: analysis.into(), pair: None }
}

/// The same figure for everybody.
pub(crate) fn uniform(setup: &Setup, figure: &Figure, releases: u64) -> Summary {
    Summary {
        adjacency: setup.config.privacy.adjacency,
        delta: setup.config.privacy.delta,
        private: false,
        worst: figure.clone(),
        mean: figure.clone(),
        coalition: Some(Coalition {
            epsilon: figure.epsilon,
            members: setup.config.privacy.colluders,
            analysis: figure.analysis.clone(),
        }),
        local: figure.clone(),
        left_over: None,
        releases,
        broken_rounds: 0,
    }
}
