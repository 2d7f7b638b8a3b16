//! Where the noise of a node comes from: the operating system, or, for comparing with a simulation, a seed.

use privacy::noise::{NoiseSource, SeededNoise, SystemNoise};
use protocol::PeerIx;
use protocol::masks::{MaskSecret, Masks};

use super::DriverError;
use super::worker::Noise;

/// Makes noise that is the same on every machine.
pub type SeededNoises = Box<dyn Fn(PeerIx, u32) -> SeededNoise + Send>;

/// Noise that everybody can compute, for comparing a run with a simulation.
pub struct Danger {
    /// That of a node's contributions, by their number.
    pub contribution: SeededNoises,
    /// That of a node's messages, by its life.
    pub message: SeededNoises,
}

/// Where the noise on messages comes from.
pub(super) enum MessageNoise {
    Private,
    Danger(SeededNoises),
}

impl MessageNoise {
    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Private)
    }

    /// For the node at this place, which lives for the first time as far as tests are concerned.
    pub(super) fn take(&self, me: PeerIx) -> Result<Option<Box<dyn NoiseSource>>, DriverError> {
        Ok(Some(match self {
            Self::Private => Box::new(SystemNoise::new()?),
            Self::Danger(noises) => Box::new(noises(me, 0)),
        }))
    }
}

pub(super) fn noises(danger: Option<Danger>) -> Result<(Noise, MessageNoise), DriverError> {
    Ok(match danger {
        None => (Noise::Private(SystemNoise::new()?), MessageNoise::Private),
        Some(Danger { contribution, message }) => {
            (Noise::Danger(contribution), MessageNoise::Danger(message))
        }
    })
}

/// The masks of this process: from the operating system, whatever the noise. They cancel in every total, so that seeded runs stay the same.
pub(super) fn fresh_masks() -> Result<Masks, DriverError> {
    let mut words = [0; 4];
    SystemNoise::new()?.words(&mut words);
    let mut secret = [0; 32];
    secret.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    Ok(Masks::Real(MaskSecret::new(secret)))
}
