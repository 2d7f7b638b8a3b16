//! What a mechanism refuses, and what to do about it.

use topology::Hint;

/// Why a mechanism was not built or a value not released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// A parameter is not a positive finite number.
    #[error("{name} must be a positive finite number: `{value}`")]
    NotPositive {
        /// Which parameter.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A probability lies outside the open interval it must be in.
    #[error("{name} must lie strictly between {low} and {high}: `{value}`")]
    OutsideInterval {
        /// Which parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Excluded lower end.
        low: f64,
        /// Excluded upper end.
        high: f64,
    },
    /// The classic calibration of the Gaussian was asked for an ε where its theorem does not hold.
    #[error("The classic Gaussian calibration holds for epsilon at most 1 only: `{epsilon}`")]
    ClassicEpsilonTooLarge {
        /// What was given.
        epsilon: f64,
    },
    /// No finite noise level is representable for these parameters.
    #[error("No representable noise level gives {what}: `{value}`")]
    NoSuchNoise {
        /// What was asked for.
        what: &'static str,
        /// The value asked for.
        value: f64,
    },
    /// A value to be released is NaN or infinite.
    #[error("Value {index} is not finite: `{value}`")]
    NotFinite {
        /// Its position in the input.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// There is nothing to choose from, or nothing to estimate from.
    #[error("{name} must not be empty")]
    Empty {
        /// Which input.
        name: &'static str,
    },
    /// A category is not one of the K that the mechanism knows.
    #[error("Category {category} is not below the number of categories {categories}")]
    CategoryOutOfRange {
        /// What was given.
        category: usize,
        /// K.
        categories: usize,
    },
    /// K-ary randomized response needs at least two categories.
    #[error("There must be at least two categories: `{categories}`")]
    TooFewCategories {
        /// K.
        categories: usize,
    },
    /// A count of reports does not match the mechanism.
    #[error("Expected {expected} counts, one per category, got {actual}")]
    WrongNumberOfCounts {
        /// K.
        expected: usize,
        /// What was given.
        actual: usize,
    },
    /// A rational parameter does not fit the exact arithmetic.
    #[error("{name} does not fit the exact integer sampler: `{numerator}/{denominator}`")]
    RationalTooLarge {
        /// Which parameter.
        name: &'static str,
        /// Its numerator.
        numerator: u64,
        /// Its denominator.
        denominator: u64,
    },
    /// The parameter of integer noise is outside of what the fast exact sampler does.
    #[error("The parameter of integer noise must lie between {least} and {largest}: `{parameter}`")]
    NoiseParameter {
        /// What was given.
        parameter: u64,
        /// The least.
        least: u64,
        /// The largest.
        largest: u64,
    },
    /// A total does not find room in words of this length.
    #[error(
        "A total of {nodes} nodes with coordinates up to {largest} clip norms has no room in words of {bits} bits"
    )]
    NoRoom {
        /// n.
        nodes: u64,
        /// L.
        largest: u64,
        /// Bits of a word.
        bits: u32,
    },
    /// A vector is longer than its mechanism was made for.
    #[error("A vector of {length} numbers is longer than the {dimension} that the grid was made for")]
    TooLong {
        /// Its length.
        length: usize,
        /// d.
        dimension: usize,
    },
}

impl Hint for MechanismError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotPositive { .. } => {
                "Sensitivities, noise levels, clip norms and epsilons are positive; for no privacy at all use no mechanism"
            }
            Self::OutsideInterval { .. } => {
                "A delta is well below one over the number of records, such as 1e-6; truth is told with probability above 1/2"
            }
            Self::ClassicEpsilonTooLarge { .. } => {
                "Use the analytic calibration: it is exact for every epsilon and never needs more noise"
            }
            Self::NoSuchNoise { .. } => "Choose a larger epsilon or a smaller sensitivity",
            Self::NotFinite { .. } => "Clip first: clipping drops what is not finite",
            Self::Empty { .. } => "Give at least one value",
            Self::CategoryOutOfRange { .. } => "Number the categories from 0 to K - 1",
            Self::TooFewCategories { .. } => "With one category there is nothing to hide",
            Self::WrongNumberOfCounts { .. } => "Count the reports of every category, zeros included",
            Self::RationalTooLarge { .. } => {
                "Use a positive scale up to about a billion, with a denominator up to about a million"
            }
            Self::NoiseParameter { .. } => {
                "Noise below 16 steps of the grid: take a finer grid; above 2^47: a coarser one"
            }
            Self::NoRoom { .. } => "Use words of 64 bits, a smaller largest coordinate or less noise",
            Self::TooLong { .. } => {
                "Make the grid for the longest vector: its dimension is part of the sensitivity"
            }
        };
        Some(hint.to_owned())
    }
}

/// `value` if it is positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, MechanismError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(MechanismError::NotPositive { name, value })
    }
}

/// `value` if it lies strictly between `low` and `high`.
pub(crate) fn between(
    name: &'static str,
    value: f64,
    (low, high): (f64, f64),
) -> Result<f64, MechanismError> {
    if value > low && value < high {
        Ok(value)
    } else {
        Err(MechanismError::OutsideInterval { name, value, low, high })
    }
}

/// Refuses NaN and infinities in what is to be released.
pub(crate) fn all_finite(values: impl IntoIterator<Item = f64>) -> Result<(), MechanismError> {
    match values.into_iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(MechanismError::NotFinite { index, value }),
        None => Ok(()),
    }
}

/// The same for single precision, fast: the sum of squares in double precision is finite exactly if every value is.
pub(crate) fn all_finite_f32(values: &[f32]) -> Result<(), MechanismError> {
    if crate::clip::norm_squared(values).is_finite() {
        return Ok(());
    }
    all_finite(values.iter().copied().map(f64::from))
}

/// Refuses a count of zero.
pub(crate) fn not_zero(name: &'static str, count: u64) -> Result<(), MechanismError> {
    if count == 0 { Err(MechanismError::Empty { name }) } else { Ok(()) }
}
