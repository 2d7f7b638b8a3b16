//! What a caller did wrong, and what does not have the form of a contribution.

use thiserror::Error;

/// A contribution that cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProofError {
    /// Rules for nothing, or for too much.
    #[error("proofs are for 1 to {limit} numbers: {numbers}")]
    Numbers {
        /// How many.
        numbers: usize,
        /// The most.
        limit: usize,
    },
    /// Fewer than two different members, or a member that is none.
    #[error("{what}")]
    Members {
        /// What is wrong.
        what: &'static str,
    },
    /// A number that no proof covers.
    #[error("number {at} is {value}: of {bits} bits, the smallest is {} and the largest {}", -(1_i64 << (.bits - 1)), (1_i64 << (.bits - 1)) - 1)]
    OutOfRange {
        /// Its place.
        at: usize,
        /// What it is.
        value: i64,
        /// Bits of the range.
        bits: usize,
    },
    /// As many numbers as there are rules for.
    #[error("{found} numbers where the rules say {expected}")]
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The library of proofs refused.
    #[error("the range proof could not be made")]
    Refused,
}

/// Bytes that are no contribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{bytes} bytes are no contribution of {numbers} numbers and {members} members")]
pub struct ShapeError {
    /// How many bytes.
    pub bytes: usize,
    /// Numbers by the rules.
    pub numbers: usize,
    /// Members by the rules.
    pub members: usize,
}
