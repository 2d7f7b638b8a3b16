//! Time as an input: microseconds since the run began.

use serde::{Deserialize, Serialize};

/// Microseconds since the run began, by the driver's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// This many microseconds later; stays at the end of time rather than wrapping.
    #[must_use]
    pub fn after(self, micros: u64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Seconds since the run began.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// When something was asked for, and when to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// Ask again then.
    pub(crate) again: Time,
    /// Give up then, unless the peer shows that it is alive.
    pub(crate) until: Time,
    /// Give up then in any case.
    pub(crate) latest: Time,
}
