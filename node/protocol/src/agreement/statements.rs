//! What members sign: where they stand, that they turned, what they propose.

use std::sync::Arc;

use super::codec::wire;
use super::decision::{Decision, Model};
use super::keys::{Ballot, Keys, Kind, Signature, Statement, is_quorum};
use super::looking::Look;
use super::proof::{Proof, Twice};
use super::records::RoundRecord;
use super::sealed::{Content, Place, Sealed};
use super::{Charter, Electorate, Fingerprint};
use crate::PeerIx;

/// Where a member stands: said once per epoch, and never changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Standing {
    /// Its X25519 key of the epoch that is to begin.
    pub key: [u8; 32],
    /// The model that it holds.
    pub model: Model,
    /// The one before, which it holds too.
    pub before: Option<Model>,
    /// The first round that it has not begun.
    pub next_round: u32,
    /// What it sent and heard in the last two rounds.
    pub rounds: Vec<RoundRecord>,
    /// `walk`: the newest copy of each token that it keeps.
    pub tokens: Vec<TokenCopy>,
    /// Who misbehaved, beyond doubt.
    pub proofs: Vec<Twice>,
    /// It leaves for good.
    pub leaving: bool,
    /// What it says about a look into a masked round.
    pub look: Option<Look>,
}

wire!(Standing {
    key: [u8; 32],
    model: Model,
    before: Option<Model>,
    next_round: u32,
    rounds: Vec<RoundRecord>,
    tokens: Vec<TokenCopy>,
    proofs: Vec<Twice>,
    leaving: bool,
    look: Option<Look>,
});

impl Content for Standing {
    const KIND: Kind = Kind::Standing;
    const NAME: &'static str = "murmur standing content 1";
}

/// A copy of a walking token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenCopy {
    /// Which token.
    pub token: u32,
    /// Its generation.
    pub generation: u32,
    /// Its hop.
    pub hop: u32,
    /// What stands for the model that it carries: a digest of the copy's name, or of the public first model. No digest of its numbers, which not everybody may
    /// have seen.
    pub digest: Fingerprint,
}

wire!(TokenCopy { token: u32, generation: u32, hop: u32, digest: Fingerprint });

/// Member and digest of its standing.
pub type Named = (PeerIx, Fingerprint);

/// Its signer neither votes nor commits in this view any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// The newest lock that its signer knows: view and value. Its votes travel beside it.
    pub lock: Option<(u32, Fingerprint)>,
    /// Whose standings its signer has heard, its own among them, in order of members.
    pub heard: Vec<Named>,
}

wire!(Turn { lock: Option<(u32, Fingerprint)>, heard: Vec<Named> });

impl Content for Turn {
    const KIND: Kind = Kind::Turn;
    const NAME: &'static str = "murmur turn content 1";
}

/// What the proposer of a view proposes, with all that justifies it. Standings by digest: whoever lacks one
/// asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Propose {
    /// Turns of the view before, of a quorum, in order of members.
    pub turns: Vec<Arc<Sealed<Turn>>>,
    /// At least as new a lock as any of these names.
    pub lock: Option<Lock>,
    /// The value.
    pub value: Arc<Decision>,
    /// The standings from which it follows where there is no lock, in order of members.
    pub standings: Vec<Named>,
    /// Who misbehaved in this epoch.
    pub proofs: Vec<Proof>,
}

wire!(Propose {
    turns: Vec<Arc<Sealed<Turn>>>,
    lock: Option<Lock>,
    value: Arc<Decision>,
    standings: Vec<Named>,
    proofs: Vec<Proof>,
});

impl Content for Propose {
    const KIND: Kind = Kind::Propose;
    const NAME: &'static str = "murmur propose content 1";
}

/// The votes of a quorum for a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock {
    /// Where they were given.
    pub place: Place,
    /// For what.
    pub value: Fingerprint,
    /// By whom.
    pub votes: Vec<Ballot>,
}

wire!(Lock { place: Place, value: Fingerprint, votes: Vec<Ballot> });

impl Lock {
    /// Whether a quorum voted so.
    pub fn is_sound(&self, electorate: &Electorate, (charter, keys): (&Charter, &dyn Keys)) -> bool {
        let Place { epoch, electorate: of, view } = self.place;
        let statement = Statement { kind: Kind::Vote, epoch, electorate: of, view, content: self.value };
        view > 0 && is_quorum(&self.votes, &statement, electorate, (charter, keys))
    }
}

/// A lock with the value that it is for, so that whoever has one can propose it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locked {
    /// The votes.
    pub lock: Lock,
    /// The value.
    pub value: Arc<Decision>,
}

wire!(Locked { lock: Lock, value: Arc<Decision> });

/// A vote or a commit: the statement in the place for the value, signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Voice {
    /// Where it belongs.
    pub place: Place,
    /// Digest of the value.
    pub value: Fingerprint,
    /// Whose it is.
    pub ballot: Ballot,
}

wire!(Voice { place: Place, value: Fingerprint, ballot: Ballot });

impl Voice {
    pub(super) fn statement(&self, kind: Kind) -> Statement {
        let Place { epoch, electorate, view } = self.place;
        Statement { kind, epoch, electorate, view, content: self.value }
    }

    pub(super) fn new(
        kind: Kind,
        (place, value): (Place, Fingerprint),
        by: PeerIx,
        (charter, keys): (&Charter, &dyn Keys),
    ) -> Self {
        let unsigned = Self { place, value, ballot: Ballot { by, signature: Signature([0; 64]) } };
        let signature = keys.sign(&unsigned.statement(kind).bytes(charter));
        Self { ballot: Ballot { by, signature }, ..unsigned }
    }

    pub(super) fn is_signed(&self, kind: Kind, (charter, keys): (&Charter, &dyn Keys)) -> bool {
        keys.verifies(self.ballot.by, &self.statement(kind).bytes(charter), &self.ballot.signature)
    }
}
