//! What can be wrong with a trainer. Before the start it ends the node; afterwards nobody but its owner may see it.

use thiserror::Error;
use topology::Hint;

use super::hello::Kind;
use super::probe::Probe;

/// What a trainer did, or did not do.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Trouble {
    /// It could not be started.
    #[error("the trainer `{command}` cannot be started: {why}")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        why: String,
    },
    /// It ended or closed its output.
    #[error("the trainer ended ({how})")]
    Ended {
        /// How.
        how: String,
    },
    /// It did not answer in time.
    #[error("the trainer was silent for {seconds:.1} s")]
    Silent {
        /// How long it was waited for.
        seconds: f64,
    },
    /// Bytes that are no frame.
    #[error("the trainer sent no frame of the protocol: {why}")]
    Frame {
        /// What is wrong.
        why: String,
    },
    /// Its first words make no sense.
    #[error("the trainer's hello makes no sense: {why}")]
    Hello {
        /// Why.
        why: String,
    },
    /// It was started again and is another one.
    #[error("the trainer was started again and says another hello than before")]
    Changed,
    /// It cannot do what the run needs.
    #[error("the run needs the answer `{}` of the trainer, which offers {offered}", needed.name())]
    NotOffered {
        /// What is needed.
        needed: Kind,
        /// What there is.
        offered: String,
    },
    /// It says that it failed.
    #[error("the trainer says: {message}")]
    Said {
        /// Its words, without control characters.
        message: String,
    },
    /// Another answer than was asked for.
    #[error("the trainer was asked for `{}` and answered `{said}`", asked.name())]
    Kind {
        /// What was asked for.
        asked: Kind,
        /// What it says it sent.
        said: String,
    },
    /// Too few or too many numbers.
    #[error("the trainer's `{}` has {has} numbers and not {needs}", asked.name())]
    Length {
        /// What was asked for.
        asked: Kind,
        /// How many numbers that has.
        needs: usize,
        /// How many came.
        has: u64,
    },
    /// Rows that depend on more than their record.
    #[error("the trainer failed the probe `{}`: the answer for a record was {off:.2e} off, and {most:.0e} is allowed", probe.name())]
    Probe {
        /// Which.
        probe: Probe,
        /// By how much relative to its norm.
        off: f64,
        /// How much is allowed.
        most: f64,
    },
    /// A sum that its norms do not allow.
    #[error("the trainer's sum is longer than its norms allow ({longest:.4}), or no number")]
    LongSum {
        /// What they allow.
        longest: f64,
    },
}

impl Hint for Trouble {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Start { .. } => "the command is split as a shell would, and not run by one: name the program, then its arguments".into(),
            Self::Ended { .. } => "what it printed on stderr is above; `murmur trainer check CMD` tries it alone".into(),
            Self::Silent { .. } => "a trainer answers within half of `timeouts.silence`: agree on a longer one".into(),
            Self::Frame { .. } => "stdout is for frames only: let the trainer print on stderr (docs/TRAINER.md)".into(),
            Self::Hello { .. } | Self::Kind { .. } | Self::Length { .. } => "docs/TRAINER.md has the protocol".into(),
            Self::Changed => "tensors and records must stay the same for a whole run".into(),
            Self::NotOffered { needed: Kind::Update, .. } => {
                "`privacy.adjacency = \"node\"` needs `update`; a trainer that gives `rows` is for `\"record\"`".into()
            }
            Self::NotOffered { needed: Kind::Rows, .. } => {
                "`privacy.adjacency = \"record\"` needs `rows`; one that gives `norms` and `sum` needs `model.clipping = \"trainer\"` too".into()
            }
            Self::NotOffered { .. } => "leave `model.clipping` out, and the node clips `rows`".into(),
            Self::Said { .. } => return None,
            Self::Probe { probe, .. } => probe.hint().into(),
            Self::LongSum { .. } => "add up the rows whose norms were told, each times its factor".into(),
        };
        Some(hint)
    }
}
