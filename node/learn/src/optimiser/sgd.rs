//! Gradient descent, optionally projected onto a ball (the setting of the convex DP-SGD bounds).

use super::Optimiser;
use super::projection::Ball;
use crate::model::kernel;

/// θ ← Π(θ − η g).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sgd {
    ball: Option<Ball>,
}

impl Sgd {
    /// Plain steps, projected onto `ball` where there is one.
    pub fn new(ball: Option<Ball>) -> Self {
        Self { ball }
    }
}

impl Optimiser for Sgd {
    fn step(&mut self, params: &mut [f32], gradient: &[f32], step_size: f64) {
        kernel::add_scaled(params, -step_size as f32, gradient);
        if let Some(ball) = self.ball {
            ball.project(params);
        }
    }

    fn step_into(&mut self, params: &[f32], gradient: &mut [f32], step_size: f64) {
        kernel::scale_and_add(gradient, -step_size as f32, params);
        if let Some(ball) = self.ball {
            ball.project(gradient);
        }
    }
}
