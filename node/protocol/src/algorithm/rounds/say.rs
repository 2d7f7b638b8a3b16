//! What is said in averaging rounds. The order of variants and fields is part of the wire format: append, never reorder.

use serde::{Deserialize, Serialize};

use crate::PeerIx;
use crate::numbers::Load;
use crate::values::Digest;

/// The messages of averaging rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Say {
    /// The sum of the contributions that reached the sender, beside it. Boxed, so that all messages are small.
    Sum(Box<Sum>),
    /// Agreement on the roster and the model.
    Assembly(Box<AssemblyMessage>),
    /// Asks for the model with this digest.
    Fetch {
        /// Which model.
        digest: Digest,
    },
    /// The answer to [`Say::Fetch`]: parameters, and behind them the state of the optimiser.
    Model {
        /// How many rounds made it.
        version: u32,
    },
    /// I am here, and not in step: take me in.
    Knock {
        /// The last epoch that I know of.
        epoch: u32,
    },
}

impl Say {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sum(_) => "sum",
            Self::Assembly(_) => "assembly",
            Self::Fetch { .. } => "fetch",
            Self::Model { .. } => "model",
            Self::Knock { .. } => "knock",
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self {
            Self::Sum(_) => Load::Vector,
            Self::Model { .. } => Load::Model,
            Self::Assembly(_) | Self::Fetch { .. } | Self::Knock { .. } => Load::Nothing,
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
    /// Whether somebody asks to be taken in after this round.
    pub knocked: bool,
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
