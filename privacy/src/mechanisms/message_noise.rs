//! Fresh Gaussian noise on every message between nodes (`message_noise`, τ in the papers).
//!
//! Nodes add noise once to what they contribute and then exchange messages. Without more, two messages that carry
//! the same noise can be subtracted; fresh noise per message ends that. A small τ pays: see `privacy::network`.

use crate::event::DpEvent;
use crate::noise::NoiseSource;

use super::{Gaussian, MechanismError, Release};

/// Adds fresh N(0, τ²) to every coordinate of every message.
///
/// # Guarantee
/// One message alone is μ-GDP with μ = Δ/τ towards its receiver, whatever else it contains: that is the event returned.
/// The network accountant prices all messages that a watcher saw together with the noise that they carry already,
/// which costs less.
///
/// # Assumes
/// One contribution changes a message by at most Δ in L2 norm. Each message gets its own noise: a message that
/// is sent again after a loss must be the same bytes, not the value with new noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageNoise {
    gaussian: Gaussian,
}

impl MessageNoise {
    /// Noise of standard deviation `tau` on messages that one contribution changes by at most `sensitivity`.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn new(tau: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        Gaussian::new(tau, sensitivity).map(|gaussian| Self { gaussian }).map_err(|error| match error {
            MechanismError::NotPositive { name: "Sigma", value } => {
                MechanismError::NotPositive { name: "Message noise", value }
            }
            other => other,
        })
    }

    /// τ.
    pub fn tau(&self) -> f64 {
        self.gaussian.sigma()
    }

    /// The event of one message.
    pub fn event(&self) -> DpEvent {
        self.gaussian.event()
    }

    /// A noisy copy for one receiver; the sender keeps the clean value (gossip on graphs).
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn message(
        &self,
        value: &[f32],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<Vec<f32>>, MechanismError> {
        let mut message = value.to_vec();
        let Release { event, noise_is_private, .. } = self.gaussian.release_in_place(&mut message, noise)?;
        Ok(Release { value: message, event, noise_is_private })
    }

    /// Makes the value itself noisy: the sender adopts what it sends, so that both sides of an exchange average the
    /// same two numbers (schedules that end in consensus).
    ///
    /// # Errors
    /// If a value is not finite; the values are left alone then.
    pub fn adopt(
        &self,
        value: &mut [f32],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<()>, MechanismError> {
        self.gaussian.release_in_place(value, noise)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{KS_LIMIT, NOT_POSITIVE, ks, normal_cdf};
    use super::*;
    use crate::noise::danger_from_seed;

    #[test]
    fn two_messages_of_one_value_carry_independent_normal_noise() {
        let noise = MessageNoise::new(0.5, 1.0).unwrap();
        let mut source = danger_from_seed(31, "noise");
        let value = vec![1.0_f32; 50_000];
        let first = noise.message(&value, &mut source).unwrap();
        let second = noise.message(&value, &mut source).unwrap();
        assert_eq!(first.event, DpEvent::Gaussian { noise_multiplier: 0.5 });
        // Independent: the difference has variance 2τ². Equal noise would give 0.
        let difference =
            first.value.iter().zip(&second.value).map(|(a, b)| f64::from(a - b)).collect::<Vec<_>>();
        assert!(ks(difference, |x| normal_cdf(x / (0.5 * 2.0_f64.sqrt()))) < KS_LIMIT);
        assert!(value.iter().all(|&x| x == 1.0), "the sender keeps its value");
    }

    #[test]
    fn adopting_changes_the_senders_value() {
        let noise = MessageNoise::new(0.5, 1.0).unwrap();
        let mut value = [1.0_f32; 8];
        let _ = noise.adopt(&mut value, &mut danger_from_seed(32, "noise")).unwrap();
        assert!(value.iter().all(|&x| x != 1.0 && x.is_finite()));
    }

    #[test]
    fn bad_levels_are_refused_by_name() {
        for bad in NOT_POSITIVE {
            assert!(MessageNoise::new(bad, 1.0).unwrap_err().to_string().contains("Message noise"));
            assert!(MessageNoise::new(1.0, bad).unwrap_err().to_string().contains("Sensitivity"));
        }
    }
}
