//! The run log: its lines.

pub(crate) mod event;

pub use event::{FaultKind, LogLine, RunEvent};
