//! What is said in gossip. The order of variants is part of the wire format: append, never reorder.

use serde::{Deserialize, Serialize};

use crate::numbers::Load;
use crate::rounds::KeyTold;

/// The messages of gossip and `mean`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Say {
    /// The sender's state, beside it.
    State,
    /// Pairwise noise: the key of the sender's process.
    Key(Box<KeyTold>),
}

impl Say {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Key(_) => "key",
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self {
            Self::State => Load::Vector,
            Self::Key(_) => Load::Nothing,
        }
    }

    /// Bytes on the wire beside the header.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::State => 0,
            Self::Key(_) => 33,
        }
    }
}
