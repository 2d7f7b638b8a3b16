//! Errors of private gradients.

use thiserror::Error;
use topology::Hint;

use privacy::mechanisms::MechanismError;

use crate::model::ModelError;

/// Why a private gradient cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GradientError {
    /// Data, parameters and model do not fit.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The mechanism refused: its parameters or the sum are not finite.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A sampling rate outside (0, 1].
    #[error("The sampling rate must be above 0 and at most 1: {rate}")]
    Rate {
        /// What was given.
        rate: f64,
    },
    /// A noise multiplier that is negative or not finite.
    #[error("The noise multiplier must be zero or positive and finite: {value}")]
    NoiseMultiplier {
        /// What was given.
        value: f64,
    },
    /// A mechanism on a grid that was made for less, or with less noise.
    #[error(
        "The grid was made for a sensitivity of {has} steps with noise {noise}, and {needed} steps are needed"
    )]
    Grid {
        /// Δ of the sum, in steps.
        needed: f64,
        /// Δ of the mechanism, in steps.
        has: f64,
        /// Its noise, in steps.
        noise: u64,
    },
    /// A sample of other records than those that it is used with.
    #[error("The sample was drawn from {sampled} records, and the data have {records}")]
    Population {
        /// Records that were sampled from.
        sampled: usize,
        /// Records of the data.
        records: usize,
    },
    /// Persons are protected, and no column says whom a record is about.
    #[error("persons are protected, and no column of the data says whom a record is about")]
    NoPersons,
    /// A workspace that was made for another model.
    #[error("The workspace is for {needs} parameters, and {has} were given")]
    Workspace {
        /// Parameters of its model.
        needs: usize,
        /// Parameters given.
        has: usize,
    },
}

impl Hint for GradientError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Model(error) => return error.hint(),
            Self::Mechanism(error) => return error.hint(),
            Self::Rate { .. } => {
                "the rate is the expected batch size divided by the number of records".into()
            }
            Self::NoiseMultiplier { .. } => {
                "noise multiplier is noise divided by clip norm; calibrate it from ε and δ".into()
            }
            Self::Grid { .. } => {
                "make the mechanism for the clip norm, the slack and the noise multiplier of the run".into()
            }
            Self::Population { .. } => "draw the sample with a sampler for these data".into(),
            Self::NoPersons => {
                "name the column: `person = \"COLUMN\"` under `[schema]`, or `id=COLUMN` behind the file"
                    .into()
            }
            Self::Workspace { .. } => "make one workspace per model".into(),
        };
        Some(hint)
    }
}
