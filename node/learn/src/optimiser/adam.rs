//! Adam (Kingma and Ba 2015, Algorithm 1) with the paper's constants.
//!
//! On noisy gradients the second moment is mostly the noise's: steps are then nearly those of plain momentum with a
//! step size divided by the noise.

use super::Optimiser;

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const SMALL: f64 = 1e-8;

/// First and second moments of the gradients, and a step scaled by them.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
}

impl Adam {
    /// For `parameters` parameters.
    pub fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], steps: 0 }
    }
}

impl Optimiser for Adam {
    fn step(&mut self, params: &mut [f32], gradient: &[f32], step_size: f64) {
        self.steps = self.steps.saturating_add(1);
        let unbias = |decay: f64| 1.0 - libm::pow(decay, f64::from(self.steps));
        let rate = (step_size / unbias(FIRST)) as f32;
        let square_scale = (1.0 / unbias(SECOND)) as f32;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((param, &g), (mean, square)) in params.iter_mut().zip(gradient).zip(moments) {
            *mean += (1.0 - FIRST as f32) * (g - *mean);
            *square += (1.0 - SECOND as f32) * (g * g - *square);
            *param -= rate * *mean / ((*square * square_scale).sqrt() + SMALL as f32);
        }
    }

    /// Both moments, then the number of steps, which a single holds exactly up to 2²⁴.
    fn state(&self) -> Vec<f32> {
        self.mean.iter().chain(&self.square).copied().chain([self.steps as f32]).collect()
    }

    fn restore(&mut self, state: &[f32]) -> bool {
        let count = self.mean.len();
        let fits = state.len() == 2 * count + 1;
        if fits {
            self.mean.copy_from_slice(&state[..count]);
            self.square.copy_from_slice(&state[count..2 * count]);
            self.steps = state[2 * count] as i32;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_step_size_whatever_the_gradients_scale() {
        for scale in [1e-3, 1.0, 1e3] {
            let mut params = [0.0, 0.0];
            Adam::new(2).step(&mut params, &[scale, -scale], 0.1);
            assert!((params[0] + 0.1).abs() < 1e-5 && (params[1] - 0.1).abs() < 1e-5, "{params:?}");
        }
    }
}
