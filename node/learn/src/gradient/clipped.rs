//! Clipped contributions, added up: one step from being shareable.

use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
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
    Node,
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

    pub(crate) fn of_node(values: Vec<f32>, clip: ClipNorm) -> Self {
        Self { values, clip, unit: Unit::Node }
    }

    /// Δ: how far the sum moves, at most, in L2 norm. C·(1 + s) for blanking a record, with the slack s of
    /// [`rounding`](super::rounding); 2C for replacing a node's data.
    pub fn sensitivity(&self) -> f64 {
        match self.unit {
            Unit::Record { sensitivity, .. } => sensitivity,
            Unit::Node => Adjacency::Node.clip_norms() * self.clip.value(),
        }
    }

    /// What the sum is divided by: the expected batch size unless a [common scale](Self::on_common_scale) was set, or 1 at node level.
    pub fn divisor(&self) -> f64 {
        match &self.unit {
            Unit::Record { divisor, .. } => *divisor,
            Unit::Node => 1.0,
        }
    }

    /// Standard deviation of the noise on the sum for a noise multiplier z: z·C·(1 + s) at record level, z·C at node level.
    pub fn noise_deviation(&self, noise_multiplier: f64) -> f64 {
        match self.unit {
            Unit::Record { .. } => noise_multiplier * self.sensitivity(),
            Unit::Node => noise_multiplier * self.clip.value(),
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
    /// A noise multiplier that is negative or not finite.
    pub fn release(
        mut self,
        noise_multiplier: f64,
        noise: &mut dyn NoiseSource,
    ) -> Result<(Shareable, DpEvent), GradientError> {
        if !(noise_multiplier.is_finite() && noise_multiplier >= 0.0) {
            return Err(GradientError::NoiseMultiplier { value: noise_multiplier });
        }
        let event = self.event(noise_multiplier);
        let deviation = self.noise_deviation(noise_multiplier);
        let scale = (1.0 / self.divisor()) as f32;
        if deviation > 0.0 {
            noise.add_normals_then_scale_f32(&mut self.values, deviation, scale);
        } else if scale != 1.0 {
            self.values.iter_mut().for_each(|value| *value *= scale);
        }
        let private = event != DpEvent::NonPrivate && noise.is_private();
        Ok((Shareable::new(self.values, private), event))
    }

    fn event(&self, noise_multiplier: f64) -> DpEvent {
        match &self.unit {
            // An underflowing deviation is no noise.
            _ if self.noise_deviation(noise_multiplier) < f64::MIN_POSITIVE => DpEvent::NonPrivate,
            Unit::Record { sampler, .. } => sampler.event(noise_multiplier),
            Unit::Node => {
                DpEvent::Gaussian { noise_multiplier: noise_multiplier / Adjacency::Node.clip_norms() }
            }
        }
    }
}
