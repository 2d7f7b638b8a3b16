//! What participants say to each other: words by serde, numbers beside them as [`Numbers`] only.

use serde::{Deserialize, Serialize};

use crate::numbers::{Load, Numbers};
use crate::settings::RunId;
use crate::{gossip, rounds, walk};

/// One message. The sender is known to the driver, which authenticated the connection.
///
/// serde leaves the numbers out: they travel beside the rest as raw bytes, so that no model ends up in a text by accident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Which run it belongs to.
    pub run: RunId,
    /// Round, or 0 where the body has no round.
    pub round: u32,
    /// Step of the round, or 0.
    pub step: u32,
    /// What is said.
    pub body: Body,
    /// The numbers that are said with it, as many as [`Body::load`] says.
    #[serde(skip)]
    pub numbers: Option<Numbers>,
}

/// The kinds of messages: those of each algorithm, and what all share. The order is part of the wire format: append, never reorder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// Asks for the sender's message of this round and step again.
    Nudge,
    /// Answers a nudge: I am here but not that far yet.
    NotYet,
    /// Averaging rounds.
    Rounds(rounds::Say),
    /// Gossip and `mean`.
    Gossip(gossip::Say),
    /// Walks.
    Walk(walk::Say),
}

impl Body {
    /// The name of the kind, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nudge => "nudge",
            Self::NotYet => "not_yet",
            Self::Rounds(say) => say.kind(),
            Self::Gossip(say) => say.kind(),
            Self::Walk(say) => say.kind(),
        }
    }

    /// Token and generation of what it carries, where there are such; zeros elsewhere.
    pub fn branch(&self) -> (u32, u32) {
        match self {
            Self::Walk(walk::Say::Token(name)) => (name.token, name.generation),
            Self::Nudge | Self::NotYet | Self::Rounds(_) | Self::Gossip(_) | Self::Walk(_) => (0, 0),
        }
    }

    /// How many numbers belong beside it.
    pub fn load(&self) -> Load {
        match self {
            Self::Nudge | Self::NotYet => Load::Nothing,
            Self::Rounds(say) => say.load(),
            Self::Gossip(say) => say.load(),
            Self::Walk(say) => say.load(),
        }
    }
}

impl From<rounds::Say> for Body {
    fn from(say: rounds::Say) -> Self {
        Self::Rounds(say)
    }
}

impl From<gossip::Say> for Body {
    fn from(say: gossip::Say) -> Self {
        Self::Gossip(say)
    }
}

impl From<walk::Say> for Body {
    fn from(say: walk::Say) -> Self {
        Self::Walk(say)
    }
}

impl Message {
    /// The round (of a walk the hop) whose contribution of the sender it carries, where it may carry one.
    pub fn contribution(&self) -> Option<u32> {
        match &self.body {
            Body::Rounds(say) => say.contributes().then_some(self.round),
            Body::Gossip(gossip::Say::State) => Some(self.round),
            Body::Walk(walk::Say::Token(name)) => name.hop.checked_sub(1),
            Body::Nudge | Body::NotYet | Body::Gossip(_) | Body::Walk(_) => None,
        }
    }

    /// Bytes on the wire: numbers, and a header of about this size.
    pub fn bytes(&self) -> u64 {
        const HEADER: u64 = 40;
        let said = match &self.body {
            Body::Rounds(say) => say.bytes(),
            Body::Gossip(say) => say.bytes(),
            Body::Walk(say) => say.bytes(),
            Body::Nudge | Body::NotYet => 0,
        };
        HEADER + said + self.numbers.as_ref().map_or(0, Numbers::bytes)
    }
}
