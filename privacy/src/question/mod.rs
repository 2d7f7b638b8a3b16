//! Questions to the accountants as values, and their answers: what `murmur privacy` and the Python package ask.
//!
//! Every question can be written down (JSON by serde, unknown keys refused) and every answer says by which analysis it was found, with
//! what that guarantees and assumes. Nothing is printed here, and nothing is read but graphs and weights that are named by file.
//!
//! | question | answer |
//! |---|---|
//! | [`pairwise`] | who learns how much about whom in a [`Situation`] |
//! | [`streamed`] | the same, row by row |
//! | [`calibrate`] | how much noise for a target |
//! | [`compare`] | which graph, for the same final error |
//! | [`masked`] | what masked rounds cost, with inspections |
//! | [`gopa`] | what pairwise noise that nearly cancels hides |
//! | [`account`] | what a series of releases reveals, by every accountant |
//! | [`convert`] | μ, Rényi, zCDP and (ε, δ) into each other |
//!
//! ```
//! use privacy::network::Waiting;
//! use privacy::question::{Answer, Question};
//!
//! let asked = r#"{"question": "pairwise", "situation": {"topology": "ring:6", "analysis": "rounds"}}"#;
//! let question: Question = serde_json::from_str(asked)?;
//! let Answer::Pairwise(pairs) = question.answer(&Waiting::patiently())? else { unreachable!() };
//! // One step on a ring: the neighbours' contributions are seen as they are, the others not at all.
//! assert_eq!((pairs.analysis.name(), pairs.mu2[[0, 1]], pairs.mu2[[0, 3]]), ("rounds", 1.0, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod account;
pub mod calibrate;
pub mod compare;
pub mod convert;
mod error;
pub mod gopa;
pub mod masked;
mod noise;
pub mod pairwise;
mod posed;
mod rows;
mod situation;
pub mod streamed;
mod summary;
#[cfg(test)]
mod tests;

pub use error::QuestionError;
pub use noise::Noise;
pub use posed::{Network, Posed};
pub use situation::Situation;
pub use summary::{AtDistance, Range, Summary, Worst};

use crate::network::Waiting;
use serde::{Deserialize, Serialize};

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "question", rename_all = "lowercase")]
pub enum Question {
    /// Who learns how much about whom?
    Pairwise(pairwise::Question),
    /// How much noise?
    Calibrate(calibrate::Question),
    /// Which graph?
    Compare(compare::Question),
    /// What do masked rounds cost?
    Masked(masked::Question),
    /// What does pairwise noise hide?
    Gopa(gopa::Question),
    /// What do these releases reveal?
    Account(account::Question),
    /// What is this loss in other words?
    Convert(convert::Question),
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To [`Question::Pairwise`].
    Pairwise(Box<pairwise::Answer>),
    /// To [`Question::Calibrate`].
    Calibrate(calibrate::Answer),
    /// To [`Question::Compare`].
    Compare(compare::Answer),
    /// To [`Question::Masked`].
    Masked(masked::Answer),
    /// To [`Question::Gopa`].
    Gopa(gopa::Answer),
    /// To [`Question::Account`].
    Account(account::Answer),
    /// To [`Question::Convert`].
    Convert(convert::Answer),
}

impl Question {
    /// Asks.
    ///
    /// # Guarantee
    /// What the analysis promises that each figure of the answer names.
    ///
    /// # Assumes
    /// What that analysis assumes.
    ///
    /// # Errors
    /// A question that makes no sense, or one that no theorem answers.
    pub fn answer(&self, waiting: &Waiting<'_>) -> Result<Answer, QuestionError> {
        Ok(match self {
            Self::Pairwise(question) => Answer::Pairwise(Box::new(question.answer(waiting)?)),
            Self::Calibrate(question) => Answer::Calibrate(question.answer(waiting)?),
            Self::Compare(question) => Answer::Compare(question.answer(waiting)?),
            Self::Masked(question) => Answer::Masked(question.answer()?),
            Self::Gopa(question) => Answer::Gopa(question.answer()?),
            Self::Account(question) => Answer::Account(question.answer()?),
            Self::Convert(question) => Answer::Convert(question.answer()?),
        })
    }
}
