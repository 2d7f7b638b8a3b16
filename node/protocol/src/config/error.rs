//! What can be wrong with a configuration, where it was written, and what to write instead.

use std::fmt;

use thiserror::Error;
use topology::Hint;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File {
        /// Its name.
        name: String,
        /// The line, from 1.
        line: usize,
    },
    /// On the command line.
    Flag {
        /// The flag with its value.
        text: String,
    },
    /// Nowhere: the program's own value.
    Default,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line } => write!(f, "`{name}`, line {line}"),
            Self::Flag { text } => write!(f, "`{text}` on the command line"),
            Self::Default => f.write_str("the default value"),
        }
    }
}

impl std::error::Error for Place {}

/// Why a configuration cannot be used. [`ConfigError::hint`] says what to write instead.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Text that is not TOML.
    #[error("not TOML: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
        /// Where.
        #[source]
        place: Box<Place>,
    },
    /// A flag without `=`.
    #[error("`{text}` is not of the form key=value")]
    NotAPair {
        /// What was written.
        text: String,
    },
    /// A key that does not exist.
    #[error("there is no key `{key}`")]
    UnknownKey {
        /// What was written.
        key: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// The keys that exist beside it.
        known: String,
        /// Where.
        #[source]
        place: Box<Place>,
    },
    /// A value that does not fit.
    #[error("`{key} = {value}`: {why}")]
    BadValue {
        /// The key.
        key: String,
        /// The value, as TOML.
        value: String,
        /// What it should be.
        why: String,
        /// What to write instead.
        hint: Option<String>,
        /// Where.
        #[source]
        place: Box<Place>,
    },
    /// Two values that exclude each other.
    #[error("`{first}` and `{second}` do not fit together: {why}")]
    Conflict {
        /// The one, as `key = value`.
        first: String,
        /// The other.
        second: String,
        /// Why.
        why: String,
        /// What to write instead.
        hint: String,
        /// Where the second was written.
        #[source]
        place: Box<Place>,
    },
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { .. } => {
                Some("a line is `key = value`; texts stand in quotes, sections in [brackets]".into())
            }
            Self::NotAPair { .. } => Some("for example `--set privacy.epsilon=2`".into()),
            Self::UnknownKey { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownKey { nearest: None, known, .. } => Some(format!("known are {known}")),
            Self::BadValue { hint, .. } => hint.clone(),
            Self::Conflict { hint, .. } => Some(hint.clone()),
        }
    }
}
