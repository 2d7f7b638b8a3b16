//! A clip norm that follows the updates (Andrew et al. 2021): each node adds a private bit that says whether its update was short enough.
//!
//! The logarithm of the clip norm is one more parameter behind the model, which all nodes step alike: so the clip norm, and with it the noise, is the same
//! everywhere. The bit travels times z_u·C/s, so that one noise serves update and bit.

use learn::gradient::{ClippedSum, ExampleGradient, Shareable};
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::NoiseSource;

/// The rule by which the clip norm moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// Which part of the updates is to be shorter than the clip norm.
    pub quantile: f64,
    /// How fast it moves.
    pub rate: f64,
}

/// How fast the clip norm moves (Andrew et al. 2021).
const RATE: f64 = 0.2;
/// The clip norm stays within this factor of the first one.
const MOST: f64 = 1e6;
/// The update's noise is larger by this part, above the rounding of the bit, so that the event is never below what was planned.
const UP: f64 = 1e-6;

impl Quantile {
    /// The rule for a quantile.
    pub fn new(quantile: f64) -> Self {
        Self { quantile, rate: RATE }
    }

    /// The clip norm after a round in which bits (+½ where an update was at most C, else −½), noise included, had this mean.
    pub fn next_clip(&self, clip: f64, mean_bit: f64) -> f64 {
        clip * libm::exp(-self.step(mean_bit))
    }

    /// By how much the logarithm of the clip norm falls.
    fn step(&self, bit: f64) -> f64 {
        self.rate * (bit + 0.5 - self.quantile)
    }

    /// z of the update where update and bit together are to be as private as one update with z; `None` where the bit takes all. The bit's noise is s.
    ///
    /// # Guarantee
    /// Replaced data move the update by 2C at noise z_u·C and the bit by 1 at noise s: together μ² = 4/z_u² + 1/s² = 4/z².
    pub fn noise_of_update(noise_multiplier: f64, bit_noise: f64) -> Option<f64> {
        let left = 4.0 / (noise_multiplier * noise_multiplier) - 1.0 / (bit_noise * bit_noise);
        (left > 0.0).then(|| (4.0 / left).sqrt())
    }

    /// The noise of a node's bit: that of Andrew et al. on the sum of all, n/20, where that is affordable, and else twice z, which takes 3 % of z.
    pub fn bit_noise(noise_multiplier: f64, nodes: usize) -> f64 {
        ((nodes as f64).sqrt() / 20.0).max(2.0 * noise_multiplier)
    }
}

/// Clipping that follows the updates, at one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptive {
    /// The rule.
    pub rule: Quantile,
    /// The first clip norm.
    pub first: f64,
    /// z of update and bit together.
    pub noise_multiplier: f64,
    /// s: noise of the bit.
    pub bit_noise: f64,
    /// Step size with which all nodes step the vector.
    pub step_size: f64,
}

impl Adaptive {
    /// C, from its logarithm in the vector.
    fn clip_norm(&self, log_clip: f32) -> f64 {
        let clip = libm::exp(f64::from(log_clip));
        if clip.is_nan() { self.first } else { clip.clamp(self.first / MOST, self.first * MOST) }
    }

    /// Clips an update to the norm of this round, with the bit behind it.
    pub(super) fn clip(&self, update: ExampleGradient, log_clip: f32) -> Result<ClippedSum, TrainError> {
        let clip = self.clip_norm(log_clip);
        let norm = ClipNorm::new(clip).map_err(learn::gradient::GradientError::from)?;
        if self.noise_multiplier == 0.0 {
            return Ok(update.clip_and_tell(norm, clip));
        }
        Ok(update.clip_and_tell(norm, self.noise_of_update() * clip / self.bit_noise))
    }

    fn noise_of_update(&self) -> f64 {
        Quantile::noise_of_update(self.noise_multiplier, self.bit_noise).unwrap_or(f64::INFINITY) * (1.0 + UP)
    }

    /// Releases update and bit, and turns the bit into what the vector's last number steps by.
    ///
    /// # Guarantee
    /// The event is that of one update with z, for replaced data: see [`Quantile::noise_of_update`].
    pub(super) fn release(
        &self,
        sum: ClippedSum,
        log_clip: f32,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Shareable, DpEvent), TrainError> {
        let z = if self.noise_multiplier == 0.0 { 0.0 } else { self.noise_of_update() };
        let (shareable, made) = sum.release(z, noise)?;
        let planned = DpEvent::Gaussian { noise_multiplier: self.noise_multiplier / 2.0 };
        let event = match made {
            DpEvent::Gaussian { noise_multiplier } if noise_multiplier >= self.noise_multiplier / 2.0 => {
                planned
            }
            other => other,
        };
        let clip = self.clip_norm(log_clip);
        let weight = if z == 0.0 { clip } else { z * clip / self.bit_noise };
        let falls = |scaled: f32| (self.rule.step(f64::from(scaled) / weight) / self.step_size) as f32;
        // All but the last point uphill from here on, as contributions do.
        let turned = shareable.post_process(|values| {
            let Some((bit, update)) = values.split_last_mut() else { return };
            update.iter_mut().for_each(|value| *value = -*value);
            *bit = falls(*bit);
        });
        Ok((turned, event))
    }
}

#[cfg(test)]
mod tests {
    use privacy::noise::danger_from_seed;

    use super::*;

    #[test]
    fn the_vector_s_last_number_steps_by_the_rule_and_the_event_is_that_of_one_update() {
        let adaptive = Adaptive {
            rule: Quantile::new(0.5),
            first: 0.1,
            noise_multiplier: 3.0,
            bit_noise: 6.0,
            step_size: 1.0,
        };
        let log_clip = 0.1_f32.ln();
        let sum = adaptive.clip(ExampleGradient::of_node(vec![3.0, 4.0]), log_clip).unwrap();
        // √((2C)² + (z_u·C/s)²), but for the rounding of ln C to four bytes.
        let z_u = (4.0_f64 / (4.0 / 9.0 - 1.0 / 36.0)).sqrt();
        assert!((sum.sensitivity() - (0.04 + (z_u * 0.1 / 6.0).powi(2)).sqrt()).abs() < 1e-7);
        let (released, event) = adaptive.release(sum, log_clip, &mut danger_from_seed(1, "bit")).unwrap();
        assert_eq!(event, DpEvent::Gaussian { noise_multiplier: 1.5 });
        assert_eq!(released.values().len(), 3);
        // Without noise: an update that is too long, so the bit is −½ and the clip norm grows by exp(0.2·½).
        let silent = Adaptive { noise_multiplier: 0.0, ..adaptive };
        let sum = silent.clip(ExampleGradient::of_node(vec![3.0, 4.0]), log_clip).unwrap();
        let (released, _) = silent.release(sum, log_clip, &mut danger_from_seed(1, "bit")).unwrap();
        let expected = [-0.06, -0.08, -0.1];
        let near = released.values().iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6);
        assert!(near, "{:?}", released.values());
    }
}
