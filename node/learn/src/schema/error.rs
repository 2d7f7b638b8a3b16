//! What can be wrong with a declaration.

use std::path::PathBuf;
use topology::Hint;

use thiserror::Error;

/// Why a schema cannot be read. [`SchemaError::hint`] says what to try instead.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A file that cannot be read.
    #[error("cannot read the schema `{}`: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Not TOML.
    #[error("`{source_name}` is not TOML: {message}")]
    Syntax {
        /// How the text is called.
        source_name: String,
        /// What is wrong with it, and where.
        message: String,
    },
    /// Everything that does not fit, at once.
    #[error("`{source_name}` cannot be used:\n  - {}", problems.join("\n  - "))]
    Problems {
        /// How the text is called.
        source_name: String,
        /// One sentence for each.
        problems: Vec<String>,
    },
}

impl Hint for SchemaError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::File { .. } | Self::Syntax { .. } => "`murmur data FILE --schema` drafts one".into(),
            Self::Problems { .. } => {
                "a column is `bounds = [LOW, HIGH]`, `values = [\"A\", \"B\"]`, `date = \"%d.%m.%Y\"` with bounds, or `text = BYTES`"
                    .into()
            }
        };
        Some(hint)
    }
}
