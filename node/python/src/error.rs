//! Errors of the libraries as `murmuration.MurmurError`, a `ValueError` with a hint.

use privacy::network::NetworkError;
use privacy::question::QuestionError;
use pyo3::prelude::*;
use std::error::Error;
use topology::Hint;

/// What went wrong on a helper thread, on its way to Python.
#[derive(Debug)]
pub(crate) struct Trouble {
    message: String,
    hint: Option<String>,
}

impl Trouble {
    /// With a message of its own.
    pub(crate) fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }

    /// Takes over an error of a library, its causes behind it, with the hint that it gives.
    pub(crate) fn of(error: &dyn Error, hint: Option<String>) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            message.push_str(": ");
            message.push_str(&source.to_string());
            cause = source.source();
        }
        Self { message, hint }
    }

    /// The exception.
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        let class = py.import("murmuration._errors").and_then(|module| module.getattr("MurmurError"));
        match class.and_then(|class| class.call1((self.message, self.hint))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// An error of a library as an exception.
pub(crate) fn raised(py: Python<'_>, error: &dyn Error, hint: Option<String>) -> PyErr {
    Trouble::of(error, hint).raised(py)
}

impl From<QuestionError> for Trouble {
    fn from(error: QuestionError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<NetworkError> for Trouble {
    fn from(error: NetworkError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::of(&error, None)
    }
}

impl From<topology::TopologyError> for Trouble {
    fn from(error: topology::TopologyError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<topology::SpecError> for Trouble {
    fn from(error: topology::SpecError) -> Self {
        Self::of(&error, error.hint())
    }
}
