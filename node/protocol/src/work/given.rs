//! What comes out of the door: real numbers or words, always with their noise.

use learn::gradient::Shareable;
use learn::train::TrainError;
use privacy::event::DpEvent;
use privacy::mechanisms::grid::NoisyWords;
use privacy::noise::NoiseSource;

use super::{Computed, Desk, Job, Mechanism, Work};

/// A noised contribution.
#[derive(Debug)]
pub enum Given {
    /// Real numbers.
    Reals(Shareable),
    /// Words of a ring, to be masked.
    Words(NoisyWords),
}

impl Given {
    /// The real numbers, where it is such.
    pub fn reals(&self) -> Option<&Shareable> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Words(_) => None,
        }
    }

    /// As [`reals`](Self::reals), taking them.
    pub fn into_reals(self) -> Option<Shareable> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Words(_) => None,
        }
    }

    /// The same with all signs turned.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Reals(values) => Self::Reals(
                values.post_process(|values| values.iter_mut().for_each(|value| *value = -*value)),
            ),
            Self::Words(words) => Self::Words(words.negated()),
        }
    }
}

impl From<Shareable> for Given {
    fn from(values: Shareable) -> Self {
        Self::Reals(values)
    }
}

/// Does a job: by `work`, or, where noise alone is wanted, without looking at any data.
///
/// # Guarantee
/// As [`Work::contribute`]; noise alone is a function of nothing and costs nothing.
///
/// # Assumes
/// As [`Work::contribute`].
///
/// # Errors
/// As [`Work::contribute`].
pub fn carry_out(
    work: &dyn Work,
    desk: &mut Desk<'_>,
    job: &Job,
    noise: &mut dyn NoiseSource,
) -> Result<Computed, TrainError> {
    let computed = match &job.mechanism {
        Mechanism::Grid(on) if job.only_noise => {
            let contribution = Given::Words(work.noise_alone(job, on, noise));
            let nothing = DpEvent::Sequence { events: Vec::new() };
            Computed { round: job.round, contribution, release: nothing, loss: None }
        }
        _ => work.contribute(desk, job, noise)?,
    };
    Ok(match (&job.mechanism, computed.contribution) {
        (Mechanism::Grid(on), Given::Words(words)) => {
            let contribution = Given::Words(words.with_noise_behind(on.behind, &on.mechanism, noise));
            Computed { contribution, ..computed }
        }
        (_, contribution) => Computed { contribution, ..computed },
    })
}
