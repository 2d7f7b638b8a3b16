//! Projection onto a ball around the origin: 1-Lipschitz, so it never spoils a contraction.

use super::{OptimiserError, positive};
use crate::model::kernel;

/// {θ : ‖θ‖ ≤ R}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    radius: f64,
}

impl Ball {
    /// The ball of radius R.
    ///
    /// # Errors
    /// A radius that is not positive and finite.
    pub fn new(radius: f64) -> Result<Self, OptimiserError> {
        Ok(Self { radius: positive("radius", radius)? })
    }

    /// Moves `params` to the nearest point of the ball. Parameters that are not finite become zero.
    pub fn project(self, params: &mut [f32]) {
        let norm = kernel::squared_norm_of(params).sqrt();
        if !norm.is_finite() {
            params.fill(0.0);
        } else if norm > self.radius {
            let factor = (self.radius / norm) as f32;
            params.iter_mut().for_each(|param| *param *= factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_inside_stay_and_points_outside_move_to_the_sphere() {
        let ball = Ball::new(5.0).unwrap();
        let (mut inside, mut outside) = ([3.0, 3.9], [6.0, 8.0]);
        ball.project(&mut inside);
        ball.project(&mut outside);
        assert_eq!((inside, outside), ([3.0, 3.9], [3.0, 4.0]));
        let mut broken = [f32::NAN, 1.0];
        ball.project(&mut broken);
        assert_eq!(broken, [0.0, 0.0]);
    }
}
