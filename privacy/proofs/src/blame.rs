//! Who is named, and for what.

use std::fmt;

/// Why a total cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blame {
    /// A member, by what it published alone.
    Member {
        /// Who.
        member: u32,
        /// What is wrong.
        lie: Lie,
    },
    /// The two ends of a pair published different commitments to their mask: one of them lies.
    Pair {
        /// The smaller position.
        first: u32,
        /// The larger.
        second: u32,
    },
}

/// What is wrong with what a member published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lie {
    /// Nothing came.
    Missing,
    /// Two different things came.
    Twice,
    /// Not as many numbers or pairs as there are, or bytes that are no points or numbers.
    Malformed,
    /// A number may be out of range.
    Range,
    /// What it sent is not what it committed to.
    Opening,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair { first, second } => {
                write!(f, "members {first} and {second} committed to different masks: one of them lies")
            }
            Self::Member { member, lie } => {
                let what = match lie {
                    Lie::Missing => "published nothing",
                    Lie::Twice => "published two different contributions",
                    Lie::Malformed => "published what is no contribution of this round",
                    Lie::Range => "did not prove that its numbers are in range",
                    Lie::Opening => "sent something else than it committed to",
                };
                write!(f, "member {member} {what}")
            }
        }
    }
}
