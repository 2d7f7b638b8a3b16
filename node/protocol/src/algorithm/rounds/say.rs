//! What is said in averaging rounds. The order of variants and fields is part of the wire format: append, never reorder.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::masks::MaskKey;
use super::robust::Said;
use crate::agreement::{self, Fingerprint, Signature};
use crate::numbers::Load;
use crate::values::Digest;

/// The messages of averaging rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Say {
    /// The sum of the contributions that reached the sender, beside it. Boxed, so that all messages are small.
    Sum(Box<Sum>),
    /// Agreement on roster, model and end.
    Agreement(Agreed),
    /// Asks for the model with this digest.
    Fetch {
        /// Which model.
        digest: Box<Fingerprint>,
    },
    /// The answer to [`Say::Fetch`]: parameters, and behind them the state of the optimiser.
    Model {
        /// How many rounds made it.
        version: u32,
    },
    /// The key of this process for masks, before the first decision.
    Key(Box<KeyTold>),
    /// What is said in rounds that bear liars.
    Robust(Box<Said>),
}

impl Say {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sum(_) => "sum",
            Self::Agreement(said) => said.0.kind(),
            Self::Fetch { .. } => "fetch",
            Self::Model { .. } => "model",
            Self::Key(_) => "key",
            Self::Robust(said) => said.kind(),
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self {
            Self::Sum(_) => Load::Vector,
            Self::Model { .. } => Load::Model,
            Self::Robust(said) => said.load(),
            Self::Agreement(_) | Self::Fetch { .. } | Self::Key(_) => Load::Nothing,
        }
    }

    /// Bytes that it has beyond a header.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Agreement(said) => said.0.to_bytes().len() as u64,
            Self::Sum(_) | Self::Fetch { .. } | Self::Model { .. } | Self::Key(_) | Self::Robust(_) => 0,
        }
    }

    /// Whether a contribution of the sender may be in it.
    pub(crate) fn contributes(&self) -> bool {
        match self {
            Self::Sum(_) => true,
            Self::Robust(said) => said.contributes(),
            Self::Agreement(_) | Self::Fetch { .. } | Self::Model { .. } | Self::Key(_) => false,
        }
    }
}

/// What is said with a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// The epoch of the roster.
    pub epoch: u32,
    /// How many nodes contributed to it.
    pub count: u32,
    /// Digest of the model from which the round started.
    pub start: Digest,
    /// The sender's signature, in rounds whose sums are signed.
    pub signature: Option<Signature>,
}

/// The key of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTold {
    /// Its public half.
    pub key: MaskKey,
    /// Whether the receiver's is wanted too.
    pub asks: bool,
}

/// A message of the agreement, which has a form in bytes of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed(pub Arc<agreement::Message>);

impl Serialize for Agreed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0.to_bytes())
    }
}

impl<'de> Deserialize<'de> for Agreed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let message = agreement::Message::from_bytes(&bytes).map_err(serde::de::Error::custom)?;
        Ok(Self(Arc::new(message)))
    }
}
