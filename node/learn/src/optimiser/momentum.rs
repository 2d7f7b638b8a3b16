//! Gradient descent with momentum (Polyak's heavy ball).

use super::{Optimiser, OptimiserError};
use crate::model::kernel;

/// v ← m v + g, θ ← θ − η v.
#[derive(Debug, Clone, PartialEq)]
pub struct Momentum {
    momentum: f32,
    velocity: Vec<f32>,
}

impl Momentum {
    /// Momentum m for `parameters` parameters.
    ///
    /// # Errors
    /// A momentum outside [0, 1).
    pub fn new(momentum: f64, parameters: usize) -> Result<Self, OptimiserError> {
        if !(0.0..1.0).contains(&momentum) {
            return Err(OptimiserError {
                name: "momentum",
                range: "at least 0 and below 1",
                value: momentum,
            });
        }
        Ok(Self { momentum: momentum as f32, velocity: vec![0.0; parameters] })
    }
}

impl Optimiser for Momentum {
    fn step(&mut self, params: &mut [f32], gradient: &[f32], step_size: f64) {
        let momentum = self.momentum;
        self.velocity.iter_mut().zip(gradient).for_each(|(v, &g)| *v = momentum * *v + g);
        kernel::add_scaled(params, -step_size as f32, &self.velocity);
    }

    fn state(&self) -> Vec<f32> {
        self.velocity.clone()
    }

    fn restore(&mut self, state: &[f32]) -> bool {
        let fits = state.len() == self.velocity.len();
        if fits {
            self.velocity.copy_from_slice(state);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_gradient_is_amplified_towards_one_over_one_minus_m() {
        let mut optimiser = Momentum::new(0.5, 1).unwrap();
        let mut params = [0.0];
        (0..3).for_each(|_| optimiser.step(&mut params, &[1.0], 1.0));
        // Velocities 1, 1.5, 1.75.
        assert_eq!(params, [-4.25]);
    }
}
