//! How large an honest state can be: what is larger is refused before it is mixed.

use learn::optimiser::OptimiserSpec;

use crate::settings::Settings;

/// Room for rounding in single precision.
pub(crate) const SLACK: f64 = 1.001;

/// Adam moves a coordinate by at most (1 − β₁)/√(1 − β₂) ≈ 3.2 step sizes (Kingma and Ba 2015, section 2.1).
const ADAM_STEP: f64 = 3.2;

/// Largest norm of a model that started at the public one and made `moves` steps against honest contributions; infinite where nothing is
/// known.
pub(crate) fn largest_model(settings: &Settings, moves: f64) -> f64 {
    let initial = settings.initial.as_slice();
    let norm = initial.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    // Step sizes never grow.
    let step_size = settings.step.sizes.at(0);
    let longest = match settings.step.optimiser {
        OptimiserSpec::Sgd { .. } => step_size * settings.largest_norm,
        OptimiserSpec::Momentum { momentum } => step_size * settings.largest_norm / (1.0 - momentum),
        OptimiserSpec::Adam {} => ADAM_STEP * step_size * (initial.len() as f64).sqrt(),
    };
    // The penalty is part of the gradient, so momentum and Adam see it too: only plain steps that it shrinks are bounded.
    let plain = matches!(settings.step.optimiser, OptimiserSpec::Sgd { .. });
    let shrinks = settings.step.penalty == 0.0 || (plain && step_size * settings.step.penalty <= 1.0);
    if shrinks { SLACK * (norm + moves * longest) } else { f64::INFINITY }
}

/// A norm that fresh noise of deviation `tau` in so many dimensions passes with probability below 1e-8: √d + 6 deviations.
pub(crate) fn largest_noise(tau: f64, dimensions: usize) -> f64 {
    if tau > 0.0 { tau * ((dimensions as f64).sqrt() + 6.0) } else { 0.0 }
}
