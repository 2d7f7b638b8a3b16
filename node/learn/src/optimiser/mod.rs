//! Optimisers: what is done with a released gradient.
//!
//! Everything here is post-processing of [`Shareable`](crate::gradient::Shareable)s and public values, and costs no
//! privacy. State (momentum, moments) is a function of earlier releases only.

mod adam;
mod drift;
mod local;
mod momentum;
mod projection;
mod schedule;
mod sgd;

pub use adam::Adam;
pub use drift::{Variates, d2_direction};
pub use local::{LocalSteps, node_update};
pub use momentum::Momentum;
pub use projection::Ball;
pub use schedule::StepSizes;
pub use sgd::Sgd;

use thiserror::Error;
use topology::Hint;

/// Turns a gradient into a step.
pub trait Optimiser: Send {
    /// Moves `params` against `gradient` by one step of size η.
    ///
    /// # Guarantee
    /// Post-processing: if gradients and step sizes are releases or public, so are the parameters.
    fn step(&mut self, params: &mut [f32], gradient: &[f32], step_size: f64);

    /// The same step with the new parameters in the place of the gradient: the old ones stay, and no third vector is needed.
    ///
    /// # Guarantee
    /// As [`step`](Self::step), and the same bits.
    fn step_into(&mut self, params: &[f32], gradient: &mut [f32], step_size: f64) {
        let mut next = params.to_vec();
        self.step(&mut next, gradient, step_size);
        gradient.copy_from_slice(&next);
    }

    /// What the optimiser remembers of earlier gradients, to be handed on or saved beside the parameters. Empty: nothing.
    fn state(&self) -> Vec<f32> {
        Vec::new()
    }

    /// Takes over what [`state`](Self::state) gave; `false` where the length is not that of this optimiser.
    #[must_use]
    fn restore(&mut self, state: &[f32]) -> bool {
        state.is_empty()
    }
}

/// An optimiser as a config describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptimiserSpec {
    /// Plain steps, optionally projected onto a ball.
    Sgd {
        /// Radius of the ball around the origin that parameters stay in.
        radius: Option<f64>,
    },
    /// Heavy ball.
    Momentum {
        /// Weight of the past, below 1.
        momentum: f64,
    },
    /// Adam.
    Adam {},
}

impl OptimiserSpec {
    /// The optimiser for `parameters` parameters.
    ///
    /// # Errors
    /// A radius that is not positive, or a momentum outside [0, 1).
    pub fn build(&self, parameters: usize) -> Result<Box<dyn Optimiser>, OptimiserError> {
        Ok(match *self {
            Self::Sgd { radius } => Box::new(Sgd::new(radius.map(Ball::new).transpose()?)),
            Self::Momentum { momentum } => Box::new(Momentum::new(momentum, parameters)?),
            Self::Adam {} => Box::new(Adam::new(parameters)),
        })
    }
}

/// A parameter of an optimiser outside its range.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{name} must be {range}: {value}")]
pub struct OptimiserError {
    /// Name of the parameter.
    pub name: &'static str,
    /// Which values are allowed.
    pub range: &'static str,
    /// What was given.
    pub value: f64,
}

impl Hint for OptimiserError {
    fn hint(&self) -> Option<String> {
        Some(format!("give `{}` as a number that is {}", self.name, self.range))
    }
}

pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, OptimiserError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(OptimiserError { name, range: "positive and finite", value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimises ½·(4a² + b²) from (1, 1).
    fn distance_after(spec: OptimiserSpec, steps: usize, step_size: f64) -> f32 {
        let mut optimiser = spec.build(2).unwrap();
        let mut params = [1.0_f32, 1.0];
        for _ in 0..steps {
            let gradient = [4.0 * params[0], params[1]];
            optimiser.step(&mut params, &gradient, step_size);
        }
        params[0].hypot(params[1])
    }

    #[test]
    fn every_optimiser_finds_the_minimum_of_a_quadratic() {
        assert!(distance_after(OptimiserSpec::Sgd { radius: None }, 200, 0.2) < 1e-6);
        assert!(distance_after(OptimiserSpec::Momentum { momentum: 0.8 }, 300, 0.1) < 1e-6);
        assert!(distance_after(OptimiserSpec::Adam {}, 2_000, 0.01) < 1e-3);
    }

    #[test]
    fn an_optimiser_that_takes_over_the_state_of_another_goes_on_as_that_one_would() {
        for spec in [
            OptimiserSpec::Sgd { radius: None },
            OptimiserSpec::Momentum { momentum: 0.8 },
            OptimiserSpec::Adam {},
        ] {
            let (mut first, mut second) = (spec.build(2).unwrap(), spec.build(2).unwrap());
            let mut params = [1.0_f32, -2.0];
            (0..3).for_each(|_| first.step(&mut params, &[0.3, 0.7], 0.1));
            assert!(second.restore(&first.state()), "{spec:?}");
            let mut copy = params;
            first.step(&mut params, &[0.1, -0.4], 0.1);
            second.step(&mut copy, &[0.1, -0.4], 0.1);
            assert_eq!(params, copy, "{spec:?}");
            assert!(!second.restore(&[1.0; 7]), "{spec:?}");
        }
    }

    #[test]
    fn a_step_into_the_gradient_has_the_bits_of_a_step_in_place() {
        for spec in [
            OptimiserSpec::Sgd { radius: None },
            OptimiserSpec::Sgd { radius: Some(1.0) },
            OptimiserSpec::Momentum { momentum: 0.8 },
            OptimiserSpec::Adam {},
        ] {
            let (mut first, mut second) = (spec.build(37).unwrap(), spec.build(37).unwrap());
            let mut params: Vec<f32> = (0..37).map(|i| 0.1 * i as f32 - 1.3).collect();
            for round in 1..4 {
                let gradient: Vec<f32> = (0..37).map(|i| (i * round) as f32 / 7.0 - 2.0).collect();
                let mut next = gradient.clone();
                second.step_into(&params, &mut next, 0.3);
                first.step(&mut params, &gradient, 0.3);
                assert_eq!(params, next, "{spec:?}");
            }
        }
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        assert!(OptimiserSpec::Momentum { momentum: 1.0 }.build(3).is_err());
        assert!(OptimiserSpec::Sgd { radius: Some(-1.0) }.build(3).is_err());
    }
}
