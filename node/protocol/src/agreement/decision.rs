//! What is decided, and the certificate that proves it to anybody who knows the first roster.

use std::sync::Arc;

use super::codec::{CodecError, Wire, wire, wire_choice};
use super::keys::{Ballot, Keys, Kind, Statement, is_quorum};
use super::looking::{Barred, Coins, Inspection};
use super::{Charter, Electorate, Fingerprint};
use crate::PeerIx;

/// How an epoch begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// The epoch.
    pub epoch: u32,
    /// Who takes part in its rounds, in order.
    pub seats: Vec<Seat>,
    /// Who decides on the next epoch.
    pub electorate: Electorate,
    /// Who was proved to be hostile, in order.
    pub banned: Vec<PeerIx>,
    /// Who must not be partners, in order.
    pub apart: Vec<Apart>,
    /// Whether sums are signed.
    pub signed: SignedSums,
    /// The model from which it starts.
    pub model: Model,
    /// Its first round.
    pub next_round: u32,
    /// `walk`: where each token starts again, in order.
    pub tokens: Vec<TokenStart>,
    /// A look into a masked round that goes on in the next assembly, which begins at once.
    pub inspection: Option<Inspection>,
    /// Until when totals that are too long are not looked into.
    pub barred: Barred,
    /// The coins of members, in order.
    pub coins: Vec<Coins>,
}

wire!(Decision {
    epoch: u32,
    seats: Vec<Seat>,
    electorate: Electorate,
    banned: Vec<PeerIx>,
    apart: Vec<Apart>,
    signed: SignedSums,
    model: Model,
    next_round: u32,
    tokens: Vec<TokenStart>,
    inspection: Option<Inspection>,
    barred: Barred,
    coins: Vec<Coins>,
});

/// A member of the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat {
    /// Who.
    pub member: PeerIx,
    /// Its X25519 key of this epoch.
    pub key: [u8; 32],
}

wire!(Seat { member: PeerIx, key: [u8; 32] });

/// Which model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Model {
    /// How many rounds made it.
    pub version: u32,
    /// Its digest.
    pub digest: Fingerprint,
}

wire!(Model { version: u32, digest: Fingerprint });

/// Two members of whom at least one is at fault, or whose link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Apart {
    /// The smaller.
    pub one: PeerIx,
    /// The larger.
    pub other: PeerIx,
    /// Why.
    pub cause: Cause,
    /// They are apart before this round.
    pub until: u32,
    /// For so many rounds this time; twice as many the next.
    pub span: u32,
}

wire!(Apart { one: PeerIx, other: PeerIx, cause: Cause, until: u32, span: u32 });

/// Why two are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Their statements cannot both be true: one of them is hostile. For good.
    Contradiction,
    /// Nothing came from one to the other. Links fail too: for a while.
    Silence,
}

wire_choice!(Cause { 0 = Contradiction, 1 = Silence });

/// From when to when sums are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedSums {
    /// Sums of rounds before this one are signed.
    pub until: u32,
    /// For so many rounds this time.
    pub span: u32,
}

wire!(SignedSums { until: u32, span: u32 });

/// `walk`: a token that starts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenStart {
    /// Which token.
    pub token: u32,
    /// Its new generation.
    pub generation: u32,
    /// From this hop.
    pub hop: u32,
    /// From this copy.
    pub digest: Fingerprint,
    /// Whose copy it is.
    pub holder: PeerIx,
}

wire!(TokenStart { token: u32, generation: u32, hop: u32, digest: Fingerprint, holder: PeerIx });

impl Decision {
    /// What votes and commits are for.
    pub fn digest(&self) -> Fingerprint {
        Fingerprint::of_wire("murmur decision 1", self)
    }

    /// Whether a member takes part in rounds.
    pub fn has_seat(&self, member: PeerIx) -> bool {
        self.seats.binary_search_by_key(&member, |seat| seat.member).is_ok()
    }

    /// Whether a member was proved to be hostile.
    pub fn has_banned(&self, member: PeerIx) -> bool {
        self.banned.binary_search(&member).is_ok()
    }

    /// Whether sums of a round are signed.
    pub fn signs(&self, round: u32) -> bool {
        round < self.signed.until
    }

    /// The pairs that must not be partners in a round.
    pub fn apart_in(&self, round: u32) -> impl Iterator<Item = (PeerIx, PeerIx)> {
        self.apart.iter().filter(move |pair| pair.is_apart(round)).map(|pair| (pair.one, pair.other))
    }
}

impl Apart {
    /// Whether the two are apart in a round.
    pub fn is_apart(&self, round: u32) -> bool {
        self.cause == Cause::Contradiction || round < self.until
    }
}

/// A decision with the commits of a quorum: whoever knows the electorate before can check it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decided {
    /// What was decided.
    pub decision: Arc<Decision>,
    /// In which view.
    pub view: u32,
    /// The signatures.
    pub commits: Vec<Ballot>,
}

wire!(Decided { decision: Arc<Decision>, view: u32, commits: Vec<Ballot> });

/// Why a certificate proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The bytes are no certificate.
    #[error("the bytes are no certificate")]
    Bytes(#[from] CodecError),
    /// Empty.
    #[error("the certificate has no decision")]
    Empty,
    /// Epochs must rise.
    #[error("the decision of epoch {epoch} comes after a later one")]
    Order {
        /// Which.
        epoch: u32,
    },
    /// Too few signatures, or false ones.
    #[error("the decision of epoch {epoch} does not have the signatures of {quorum} of its {votes} votes")]
    Signatures {
        /// Which.
        epoch: u32,
        /// q.
        quorum: usize,
        /// n.
        votes: usize,
    },
    /// It is for another model.
    #[error("the decision is for model {decided}, not {found}")]
    OtherModel {
        /// Which was decided.
        decided: Fingerprint,
        /// Which was given.
        found: Fingerprint,
    },
}

impl Decided {
    /// Whether a quorum of these votes committed to it.
    pub fn is_sound(&self, electorate: &Electorate, (charter, keys): (&Charter, &dyn Keys)) -> bool {
        let statement = Statement {
            kind: Kind::Commit,
            epoch: self.decision.epoch,
            electorate: electorate.fingerprint(),
            view: self.view,
            content: self.decision.digest(),
        };
        is_quorum(&self.commits, &statement, electorate, (charter, keys))
    }
}

/// A decision and those before it at which the votes changed: proves itself to whoever has the charter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Certificate {
    /// In order; the last is what it proves.
    pub chain: Vec<Arc<Decided>>,
}

wire!(Certificate { chain: Vec<Arc<Decided>> });

impl Certificate {
    /// Whether nothing was decided yet.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }

    /// The decision that it proves, from the [genesis](Charter::genesis) on.
    ///
    /// # Guarantee
    /// With at most f hostile members of the first roster, this is the one decision of its epoch.
    /// # Assumes
    /// The charter is the one that the members agreed on, and no honest member lost its memory and signed
    /// again.
    ///
    /// # Errors
    /// Why it proves nothing.
    pub fn verify(&self, (charter, keys): (&Charter, &dyn Keys)) -> Result<&Arc<Decided>, CertificateError> {
        let genesis = charter.genesis();
        let (mut epoch, mut electorate) = (genesis.epoch, &genesis.electorate);
        for decided in &self.chain {
            let next = decided.decision.epoch;
            if next <= epoch {
                return Err(CertificateError::Order { epoch: next });
            }
            if !decided.is_sound(electorate, (charter, keys)) {
                let (quorum, votes) = (electorate.quorum(), electorate.votes.len());
                return Err(CertificateError::Signatures { epoch: next, quorum, votes });
            }
            (epoch, electorate) = (next, &decided.decision.electorate);
        }
        self.chain.last().ok_or(CertificateError::Empty)
    }

    /// Whether a model with this digest is what the certificate decided on; for the last decision of a run,
    /// its result.
    ///
    /// # Errors
    /// Why not.
    pub fn verify_model(
        &self,
        model: Fingerprint,
        (charter, keys): (&Charter, &dyn Keys),
    ) -> Result<&Decision, CertificateError> {
        let decision = &self.verify((charter, keys))?.decision;
        if decision.model.digest != model {
            return Err(CertificateError::OtherModel { decided: decision.model.digest, found: model });
        }
        Ok(decision)
    }

    /// Adds the next decision. Where the votes are the same again as at an earlier link, what lies between
    /// proves nothing more and goes.
    pub(super) fn push(&mut self, decided: Arc<Decided>, genesis: &Electorate) {
        // The last link is there for its decision; it stays only if it changed the votes.
        let before = |chain: &[Arc<Decided>]| {
            chain.last().map_or_else(|| genesis.clone(), |link| link.decision.electorate.clone())
        };
        if let Some((last, earlier)) = self.chain.split_last()
            && before(earlier) == last.decision.electorate
        {
            self.chain.pop();
        }
        let now = before(&self.chain);
        if now == *genesis {
            self.chain.clear();
        } else if let Some(first) = self.chain.iter().position(|link| link.decision.electorate == now) {
            self.chain.truncate(first + 1);
        }
        self.chain.push(decided);
    }

    /// As a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        [FILE, &Wire::to_bytes(self)].concat()
    }

    /// From a file.
    ///
    /// # Errors
    /// Bytes that are no certificate.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CertificateError> {
        let bytes = bytes.strip_prefix(FILE).ok_or(CodecError::Short)?;
        Ok(<Self as Wire>::from_bytes(bytes)?)
    }
}

/// How the file of a certificate begins.
const FILE: &[u8] = b"murmur certificate 1\n";
