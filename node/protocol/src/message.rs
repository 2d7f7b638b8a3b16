//! What participants say to each other. Numbers travel as [`Values`] only.

use serde::{Deserialize, Serialize};

use crate::settings::RunId;
use crate::values::{Digest, Values};
use crate::{PeerIx, Time};

/// One message. The sender is known to the driver, which authenticated the connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Which run it belongs to.
    pub run: RunId,
    /// Round, or 0 where the body has no round.
    pub round: u32,
    /// Step of the round, or 0.
    pub step: u32,
    /// What is said.
    pub body: Body,
}

/// The kinds of messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// `rounds`: the sum of the contributions that reached the sender.
    Sum {
        /// The epoch of the roster.
        epoch: u32,
        /// The sum.
        values: Values,
        /// How many nodes contributed to it.
        count: u32,
        /// Digest of the model from which the round started.
        start: Digest,
        /// Whether somebody asks to be taken in after this round.
        knocked: bool,
    },
    /// `gossip` and `mean`: the sender's state.
    State {
        /// The state.
        values: Values,
    },
    /// `walk`: the token.
    Token {
        /// Which token.
        token: u32,
        /// How many holders it had before, so the position in its path.
        hop: u32,
        /// Grows when a lost token is started again.
        generation: u32,
        /// The model.
        values: Values,
    },
    /// `walk`: the token arrived.
    TokenHere {
        /// Which token.
        token: u32,
        /// Its hop.
        hop: u32,
        /// Its generation.
        generation: u32,
    },
    /// `walk`: the token went on and arrived there, the copy of the one before is no longer needed.
    TokenSafe {
        /// Which token.
        token: u32,
        /// The hop whose copy may go.
        hop: u32,
        /// Its generation.
        generation: u32,
    },
    /// `walk`: the token made its last hop. Carries no numbers: every look at the model would cost privacy.
    Over {
        /// Which token.
        token: u32,
    },
    /// Asks for the sender's message of this round and step again.
    Nudge,
    /// Answers a nudge: I am here but not that far yet.
    NotYet,
    /// Agreement on the roster and the model.
    Assembly(Box<AssemblyMessage>),
    /// Asks for the model with this digest.
    Fetch {
        /// Which model.
        digest: Digest,
    },
    /// A model: the answer to [`Body::Fetch`].
    Model {
        /// How many rounds made it.
        version: u32,
        /// The parameters, and behind them the state of the optimiser.
        values: Values,
    },
    /// I am here, and not in step: take me in.
    Knock {
        /// The last epoch that I know of.
        epoch: u32,
    },
}

impl Body {
    /// The name of the kind, for logs and the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sum { .. } => "sum",
            Self::State { .. } => "state",
            Self::Token { .. } => "token",
            Self::TokenHere { .. } => "token_here",
            Self::TokenSafe { .. } => "token_safe",
            Self::Over { .. } => "over",
            Self::Nudge => "nudge",
            Self::NotYet => "not_yet",
            Self::Assembly(_) => "assembly",
            Self::Fetch { .. } => "fetch",
            Self::Model { .. } => "model",
            Self::Knock { .. } => "knock",
        }
    }

    /// The numbers that it carries, if any.
    pub fn values(&self) -> Option<&Values> {
        match self {
            Self::Sum { values, .. }
            | Self::State { values }
            | Self::Token { values, .. }
            | Self::Model { values, .. } => Some(values),
            Self::TokenHere { .. }
            | Self::TokenSafe { .. }
            | Self::Over { .. }
            | Self::Nudge
            | Self::NotYet
            | Self::Assembly(_)
            | Self::Fetch { .. }
            | Self::Knock { .. } => None,
        }
    }
}

impl Message {
    /// Bytes on the wire: parameters, and a header of about this size.
    pub fn bytes(&self) -> u64 {
        const HEADER: u64 = 40;
        HEADER + self.body.values().map_or(0, |values| 4 * values.len() as u64)
    }
}

/// A counter, then the proposer, so that no two proposers share a ballot.
pub type Ballot = (u32, PeerIx);

/// Single-decree agreement (Paxos; Lamport 2001, "Paxos made simple") on the roster of one epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssemblyMessage {
    /// The epoch that is to begin.
    pub epoch: u32,
    /// The ballot.
    pub ballot: Ballot,
    /// What is said.
    pub kind: AssemblyKind,
}

/// The kinds of [`AssemblyMessage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AssemblyKind {
    /// Will you follow this ballot?
    Prepare,
    /// I will; and this is where I stand.
    Promise {
        /// What I accepted before in this epoch.
        accepted: Option<(Ballot, Proposal)>,
        /// How many rounds made my model.
        version: u32,
        /// Its digest.
        model: Digest,
        /// The first round that I have not begun.
        round: u32,
        /// Peers whose messages were refused as malformed.
        accused: Vec<PeerIx>,
    },
    /// Accept this.
    Accept(Proposal),
    /// I did.
    Accepted,
    /// It is decided.
    Commit(Proposal),
}

/// Who is in the next epoch, and from which model it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The members, in increasing order.
    pub members: Vec<PeerIx>,
    /// The first round.
    pub round: u32,
    /// How many rounds made the model.
    pub version: u32,
    /// Its digest.
    pub model: Digest,
    /// A member that has it.
    pub holder: PeerIx,
    /// Peers that sent what no honest node can send: their knocking is not heard any more.
    pub banned: Vec<PeerIx>,
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
