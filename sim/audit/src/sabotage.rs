//! Mechanisms that are broken on purpose, so that one can see an audit fail. They exist here only: no node and no plain simulation knows them.

use privacy::clip::ClipNorm;
use privacy::mechanisms::MechanismError;
use protocol::work::WorkSettings;

/// How much larger than C the clip norm is that stands for none.
const UNCLIPPED: f64 = 1e4;

/// What is broken. In each case the log goes on saying what an honest node would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Half of the noise that is accounted for.
    NoiseHalved,
    /// The noise of a node's first contribution in all of them.
    NoiseReused,
    /// Contributions are not clipped; the noise is that of the clip norm.
    ClipSkipped,
}

impl Sabotage {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 3] = [
        ("noise-halved", Self::NoiseHalved),
        ("noise-reused", Self::NoiseReused),
        ("clip-skipped", Self::ClipSkipped),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// How contributions are made when this is broken.
    pub(crate) fn work(self, honest: &WorkSettings) -> Result<WorkSettings, MechanismError> {
        Ok(match self {
            Self::NoiseHalved => {
                WorkSettings { noise_multiplier: honest.noise_multiplier / 2.0, ..honest.clone() }
            }
            Self::NoiseReused => honest.clone(),
            // Noise is in proportion to the clip norm, so that the product stays.
            Self::ClipSkipped => WorkSettings {
                clip: ClipNorm::new(honest.clip.value() * UNCLIPPED)?,
                noise_multiplier: honest.noise_multiplier / UNCLIPPED,
                ..honest.clone()
            },
        })
    }

    /// Which noise the `count`-th contribution of a node gets.
    pub(crate) fn noise_of(self, count: u32) -> u32 {
        if self == Self::NoiseReused { 0 } else { count }
    }
}
