//! What members say to each other in an assembly. Only the statements inside are signed: links are
//! authenticated.

use std::sync::Arc;

use super::codec::{CodecError, Wire, wire, wire_enum};
use super::decision::Certificate;
use super::reserve::{Reserve, ReserveHeld};
use super::sealed::Sealed;
use super::statements::{Locked, Named, Propose, Standing, Turn, Voice};

/// One message of the agreement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    /// Where its author stands; to members in a round it is a call, from members without a seat a knock.
    Standing(Arc<Sealed<Standing>>),
    /// Whose standings the sender has heard: whoever lacks one asks.
    Heard(HeardList),
    /// A turn, with the lock that it names.
    Turn(TurnMessage),
    /// The turns by which the sender entered a view.
    Turns(Turns),
    /// A proposal.
    Propose(Arc<Sealed<Propose>>),
    /// A vote.
    Vote(Voice),
    /// A quorum voted.
    Locked(Arc<Locked>),
    /// A commit.
    Commit(Voice),
    /// What was decided, with its proof.
    Decided(Certificate),
    /// Asks for what the sender lacks.
    Ask(Ask),
    /// The sender would stop at this boundary to let somebody in.
    Boundary(Boundary),
    /// Its author makes at most so many records.
    Reserve(Reserve),
    /// Answers a reserve.
    ReserveHeld(ReserveHeld),
}

wire_enum!(Message {
    0 = Standing(Arc<Sealed<Standing>>),
    1 = Heard(HeardList),
    2 = Turn(TurnMessage),
    3 = Turns(Turns),
    4 = Propose(Arc<Sealed<Propose>>),
    5 = Vote(Voice),
    6 = Locked(Arc<Locked>),
    7 = Commit(Voice),
    8 = Decided(Certificate),
    9 = Ask(Ask),
    10 = Boundary(Boundary),
    11 = Reserve(Reserve),
    12 = ReserveHeld(ReserveHeld),
});

/// Whose standings somebody has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeardList {
    /// For which epoch.
    pub epoch: u32,
    /// Members and digests.
    pub heard: Vec<Named>,
}

wire!(HeardList { epoch: u32, heard: Vec<Named> });

/// A turn and the lock that it names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnMessage {
    /// The turn.
    pub turn: Arc<Sealed<Turn>>,
    /// The lock, with its value.
    pub locked: Option<Arc<Locked>>,
}

wire!(TurnMessage { turn: Arc<Sealed<Turn>>, locked: Option<Arc<Locked>> });

/// Turns of a quorum, and the newest lock that they name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turns {
    /// Turns of one view, in order of members.
    pub turns: Vec<Arc<Sealed<Turn>>>,
    /// The newest lock among them.
    pub locked: Option<Arc<Locked>>,
}

wire!(Turns { turns: Vec<Arc<Sealed<Turn>>>, locked: Option<Arc<Locked>> });

/// What somebody lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Standings, by digest.
    Standings(HeardList),
    /// The turns by which a view of the epoch was entered: epoch, view.
    Turns((u32, u32)),
    /// Decisions after this epoch.
    Decided(u32),
}

wire_enum!(Ask { 0 = Standings(HeardList), 1 = Turns((u32, u32)), 2 = Decided(u32) });

/// Where somebody would stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boundary {
    /// The epoch that is to begin.
    pub epoch: u32,
    /// Before this round.
    pub round: u32,
}

wire!(Boundary { epoch: u32, round: u32 });

impl Message {
    /// Its canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        Wire::to_bytes(self)
    }

    /// From what a peer sent. Allocates no more than these bytes can stand for.
    ///
    /// # Errors
    /// Bytes that are no message.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        <Self as Wire>::from_bytes(bytes)
    }

    /// The name of the kind, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Standing(_) => "standing",
            Self::Heard(_) => "heard",
            Self::Turn(_) => "turn",
            Self::Turns(_) => "turns",
            Self::Propose(_) => "propose",
            Self::Vote(_) => "vote",
            Self::Locked(_) => "locked",
            Self::Commit(_) => "commit",
            Self::Decided(_) => "decided",
            Self::Ask(_) => "ask",
            Self::Boundary(_) => "boundary",
            Self::Reserve(_) => "reserve",
            Self::ReserveHeld(_) => "reserve_held",
        }
    }

    /// The epoch that it is about, where it is about one that is to begin.
    pub(super) fn epoch(&self) -> Option<u32> {
        match self {
            Self::Standing(standing) => Some(standing.place().epoch),
            Self::Heard(list) | Self::Ask(Ask::Standings(list)) => Some(list.epoch),
            Self::Turn(message) => Some(message.turn.place().epoch),
            Self::Turns(turns) => turns.turns.first().map(|turn| turn.place().epoch),
            Self::Propose(propose) => Some(propose.place().epoch),
            Self::Vote(voice) | Self::Commit(voice) => Some(voice.place.epoch),
            Self::Locked(locked) => Some(locked.lock.place.epoch),
            Self::Ask(Ask::Turns((epoch, _))) => Some(*epoch),
            Self::Boundary(boundary) => Some(boundary.epoch),
            Self::Decided(_) | Self::Ask(Ask::Decided(_)) | Self::Reserve(_) | Self::ReserveHeld(_) => None,
        }
    }
}
