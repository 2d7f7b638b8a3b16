//! What is said about tokens. The order of variants and fields is part of the wire format: append, never reorder.

use serde::{Deserialize, Serialize};

use crate::numbers::Load;
use crate::rounds::Agreed;

/// The messages of walks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Say {
    /// The token; the model is beside it.
    Token(Name),
    /// The token arrived.
    Here(Name),
    /// The token went on and arrived there, the copy of the one before is no longer needed: that of the hop in the name.
    Safe(Name),
    /// The token made its last hop. Carries no numbers: every look at the model would cost privacy.
    Over {
        /// Which token.
        token: u32,
    },
    /// Agreement on where lost tokens go on.
    Agreement(Agreed),
}

/// A token at one place of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// Which token.
    pub token: u32,
    /// How many holders it had before, so the position in its path.
    pub hop: u32,
    /// Grows when a lost token is started again.
    pub generation: u32,
}

impl Say {
    /// Which token it is about.
    pub(crate) fn token(&self) -> Option<u32> {
        match self {
            Self::Token(name) | Self::Here(name) | Self::Safe(name) => Some(name.token),
            Self::Over { token } => Some(*token),
            Self::Agreement(_) => None,
        }
    }

    /// Bytes that it has beyond a header.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Agreement(said) => said.0.to_bytes().len() as u64,
            Self::Token(_) | Self::Here(_) | Self::Safe(_) | Self::Over { .. } => 0,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Token(_) => "token",
            Self::Here(_) => "token_here",
            Self::Safe(_) => "token_safe",
            Self::Over { .. } => "over",
            Self::Agreement(said) => said.0.kind(),
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self {
            Self::Token(_) => Load::Vector,
            Self::Here(_) | Self::Safe(_) | Self::Over { .. } | Self::Agreement(_) => Load::Nothing,
        }
    }
}
