//! Clipped contributions, added up: one step from being shareable.

use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::mechanisms::grid::{GridGaussian, NoisyWords};
use privacy::mechanisms::{Gaussian, MechanismError};
use privacy::noise::NoiseSource;

use super::adjacency::Adjacency;
use super::error::GradientError;
use super::sampling::PoissonSampler;
use super::shareable::Shareable;

/// A sum of contributions of norm at most C each. Not private yet: it can only be [released](Self::release).
///
/// ```compile_fail
/// fn send(value: &impl serde::Serialize) {}
/// fn leak(sum: learn::gradient::ClippedSum) {
///     send(&sum); // ClippedSum is not Serialize
/// }
/// ```
#[must_use = "a sum that is not released is lost"]
pub struct ClippedSum {
    values: Vec<f32>,
    clip: ClipNorm,
    unit: Unit,
}

/// More than a number in single precision is off.
const SINGLE: f64 = 1e-6;

/// Whose data may change in the guarantee.
enum Unit {
    /// One record is there or blank.
    Record {
        sampler: PoissonSampler,
        /// Δ: C, and what rounding adds.
        sensitivity: f64,
        divisor: f64,
    },
    /// All data of the node are replaced.
    Node {
        /// A number that goes out behind the vector, and by how much it may change.
        number: Option<(f32, f64)>,
    },
}

impl ClippedSum {
    pub(crate) fn of_records(values: Vec<f32>, clip: ClipNorm, sampler: PoissonSampler, slack: f64) -> Self {
        let sensitivity = Adjacency::Record.clip_norms() * clip.value() * (1.0 + slack);
        let divisor = sampler.expected_batch();
        Self { values, clip, unit: Unit::Record { sampler, sensitivity, divisor } }
    }

    /// The same sum counted with at least this sensitivity and divided by `divisor`, so that the noise of many nodes with different numbers of
    /// records is equal: an accountant that counts on others' noise needs that. Changes nothing at node level.
    ///
    /// # Guarantee
    /// As [`release`](Self::release): a larger sensitivity means more noise, and dividing is post-processing.
    ///
    /// # Assumes
    /// Both numbers are public and positive.
    pub fn on_common_scale(mut self, at_least: f64, common: f64) -> Self {
        if let Unit::Record { sensitivity, divisor, .. } = &mut self.unit {
            *sensitivity = sensitivity.max(at_least);
            *divisor = common;
        }
        self
    }

    /// The same sum in one of several slots of a longer vector, zeros in the others.
    ///
    /// # Guarantee
    /// As [`release`](Self::release), which puts noise on all slots: zeros change no norm. At node level replaced data may change the slot too: two
    /// vectors in different slots are √2·C apart at most, and 2C is what is counted.
    ///
    /// # Assumes
    /// At record level the slot follows from public values and earlier releases only.
    ///
    /// # Panics
    /// Where there is no such slot.
    pub fn placed(mut self, slots: usize, slot: usize) -> Self {
        assert!(slot < slots, "slot {slot} of {slots}");
        let size = self.values.len();
        let mut all = vec![0.0; size * slots];
        all[slot * size..(slot + 1) * size].copy_from_slice(&self.values);
        self.values = all;
        self
    }

    pub(crate) fn of_node(values: Vec<f32>, clip: ClipNorm) -> Self {
        Self { values, clip, unit: Unit::Node { number: None } }
    }

    /// With `part`·`weight` behind the vector; `part` is ±½.
    pub(super) fn with_number(mut self, part: f64, weight: f64) -> Self {
        self.unit = Unit::Node { number: Some(((part * weight) as f32, weight)) };
        self
    }

    /// Δ: how far the sum moves, at most, in L2 norm. C·(1 + s) for blanking a record, with the slack s of
    /// [`rounding`](super::rounding); 2C for replacing a node's data.
    pub fn sensitivity(&self) -> f64 {
        match self.unit {
            Unit::Record { sensitivity, .. } => sensitivity,
            Unit::Node { number } => {
                let weight = number.map_or(0.0, |(_, weight)| weight * (1.0 + SINGLE));
                libm::hypot(Adjacency::Node.clip_norms() * self.clip.value(), weight)
            }
        }
    }

    /// What the sum is divided by: the expected batch size unless a [common scale](Self::on_common_scale) was set, or 1 at node level.
    pub fn divisor(&self) -> f64 {
        match &self.unit {
            Unit::Record { divisor, .. } => *divisor,
            Unit::Node { .. } => 1.0,
        }
    }

    /// Standard deviation of the noise on the sum for a noise multiplier z: z·C·(1 + s) at record level, z·C at node level.
    pub fn noise_deviation(&self, noise_multiplier: f64) -> f64 {
        match self.unit {
            Unit::Record { .. } => noise_multiplier * self.sensitivity(),
            Unit::Node { .. } => noise_multiplier * self.clip.value(),
        }
    }

    /// Adds Gaussian noise to every coordinate, divides by the [divisor](Self::divisor), and says what it cost.
    ///
    /// # Guarantee
    /// The values are the output of the Gaussian mechanism described by the event, followed by a division.
    /// - Record level: noise of standard deviation z·C·(1 + s) on a sum of sensitivity C·(1 + s), on a Poisson sample: the
    ///   event is the Gaussian of multiplier z sampled at the rate used, for one record that is there or blank.
    /// - Node level: noise z·C, sensitivity 2C: the event is the Gaussian of multiplier z/2, for replacing all data of the
    ///   node.
    /// - z = 0: no noise, and the event is [`DpEvent::NonPrivate`].
    ///
    /// # Assumes
    /// The event is accounted for before the values are sent. The noise source is private
    /// ([`NoiseSource::is_private`]); a seeded one protects nobody, and [`Shareable::is_private`] says so. Floating-point
    /// noise has the gaps that [`privacy::noise`] describes.
    ///
    /// # Errors
    /// A noise multiplier that is negative or not finite, or a sum that is not.
    pub fn release(
        mut self,
        noise_multiplier: f64,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Shareable, DpEvent), GradientError> {
        if !(noise_multiplier.is_finite() && noise_multiplier >= 0.0) {
            return Err(GradientError::NoiseMultiplier { value: noise_multiplier });
        }
        if let Unit::Node { number: Some((number, _)) } = self.unit {
            self.values.push(number);
        }
        let scale = (1.0 / self.divisor()) as f32;
        // An underflowing deviation is no noise.
        if self.noise_deviation(noise_multiplier) < f64::MIN_POSITIVE {
            if scale != 1.0 {
                self.values.iter_mut().for_each(|value| *value *= scale);
            }
            return Ok((Shareable::new(self.values, false), DpEvent::NonPrivate));
        }
        let release =
            self.mechanism(noise_multiplier)?.release_scaled_in_place(&mut self.values, scale, noise)?;
        let event = match &self.unit {
            Unit::Record { sampler, .. } => sampler.event_of(release.event),
            Unit::Node { .. } => release.event,
        };
        Ok((Shareable::new(self.values, release.noise_is_private), event))
    }

    /// As [`release`](Self::release), as words on a grid with integer noise, not divided: totals of such words are exact.
    ///
    /// # Guarantee
    /// As [`GridGaussian`]: no worse than the event, which is that of [`release`](Self::release) for the same multiplier, by itself and, with √h times
    /// the multiplier, in a total of h.
    ///
    /// # Assumes
    /// As [`release`](Self::release), but for floating point: there is no gap.
    ///
    /// # Errors
    /// A mechanism made for another sensitivity or for less noise, a sum that is not finite, or more numbers than the grid was made for.
    pub fn release_words(
        self,
        noise_multiplier: f64,
        mechanism: &GridGaussian,
        noise: &mut dyn NoiseSource,
    ) -> Result<(NoisyWords, DpEvent), GradientError> {
        let event = self.event_on(mechanism, noise_multiplier)?;
        let release = mechanism.release(&self.values, noise)?;
        Ok((release.value, event))
    }

    /// As [`release`](Self::release), with integer noise on a grid.
    ///
    /// # Guarantee
    /// As [`release`](Self::release), without the gap of floating-point noise: what is sent is a function of integers with exact probabilities.
    ///
    /// # Assumes
    /// As [`release_words`](Self::release_words).
    ///
    /// # Errors
    /// As [`release_words`](Self::release_words).
    pub fn release_discrete(
        mut self,
        noise_multiplier: f64,
        mechanism: &GridGaussian,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Shareable, DpEvent), GradientError> {
        let event = self.event_on(mechanism, noise_multiplier)?;
        let release = mechanism.release_reals(&mut self.values, noise)?;
        let scale = (1.0 / self.divisor()) as f32;
        if scale != 1.0 {
            self.values.iter_mut().for_each(|value| *value *= scale);
        }
        Ok((Shareable::new(self.values, release.noise_is_private), event))
    }

    /// The event of a release with this multiplier, once the mechanism was seen to be enough for it.
    fn event_on(&self, mechanism: &GridGaussian, noise_multiplier: f64) -> Result<DpEvent, GradientError> {
        let over_sensitivity = self.over_sensitivity(noise_multiplier);
        let needed = mechanism.grid().sensitivity_of(self.sensitivity());
        let enough = over_sensitivity > 0.0 && mechanism.noise_multiplier() >= over_sensitivity;
        if !enough || mechanism.sensitivity() < needed {
            return Err(GradientError::Grid {
                needed,
                has: mechanism.sensitivity(),
                noise: mechanism.noise(),
            });
        }
        let event = DpEvent::Gaussian { noise_multiplier: over_sensitivity };
        Ok(match &self.unit {
            Unit::Record { sampler, .. } => sampler.event_of(event),
            Unit::Node { .. } => event,
        })
    }

    /// Noise over Δ for z: the same at record level, less at node level, where z is over C.
    fn over_sensitivity(&self, noise_multiplier: f64) -> f64 {
        match self.unit {
            Unit::Record { .. } => noise_multiplier,
            Unit::Node { number: None } => noise_multiplier / Adjacency::Node.clip_norms(),
            Unit::Node { number: Some(_) } => self.noise_deviation(noise_multiplier) / self.sensitivity(),
        }
    }

    fn mechanism(&self, noise_multiplier: f64) -> Result<Gaussian, MechanismError> {
        if let Unit::Node { number: Some(_) } = self.unit {
            return Gaussian::new(self.noise_deviation(noise_multiplier), self.sensitivity());
        }
        Gaussian::with_multiplier(self.over_sensitivity(noise_multiplier), self.sensitivity())
    }
}
