//! What is said in gossip. The order of variants is part of the wire format: append, never reorder.

use serde::{Deserialize, Serialize};

use crate::numbers::Load;

/// The messages of gossip and `mean`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Say {
    /// The sender's state, beside it.
    State,
}

impl Say {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::State => "state",
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self {
            Self::State => Load::Vector,
        }
    }
}
