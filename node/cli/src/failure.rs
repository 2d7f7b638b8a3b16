//! How an error reaches a person: what failed, why, and what to try.

use std::error::Error;
use std::fmt;
use topology::Hint;

/// The result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// An error on its way to stderr.
#[derive(Debug)]
pub(crate) struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
    code: u8,
}

/// The exit code of an error.
const ERROR: u8 = 2;

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { error: anyhow::Error::msg(message.into()), hint: None, code: ERROR }
    }

    /// Says where or while doing what it failed; what was said before becomes the cause.
    pub(crate) fn context(self, message: impl Into<String>) -> Self {
        Self { error: self.error.context(message.into()), ..self }
    }

    /// Adds what the user could try.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Takes over an error that has no hint of its own.
    pub(crate) fn of(error: impl Error + Send + Sync + 'static, hint: Option<String>) -> Self {
        Self { error: error.into(), hint, code: ERROR }
    }

    /// The same with this exit code: 1 for an end that somebody asked for.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chain = self.error.chain();
        if let Some(top) = chain.next() {
            writeln!(f, "error: {top}")?;
        }
        for cause in chain {
            writeln!(f, "  Caused by: {cause}")?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Every error that may have a hint comes with it.
impl<E: Hint + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let hint = error.hint();
        Self { error: error.into(), hint, code: ERROR }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_failed_then_why_then_what_to_try() {
        let failure = Failure::new("disk is full").context("cannot write `a.json`").hint("make room");
        assert_eq!(
            failure.to_string(),
            "error: cannot write `a.json`\n  Caused by: disk is full\n\nhint: make room\n"
        );
    }
}
