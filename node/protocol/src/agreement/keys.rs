//! Signatures: what is signed, and who may have signed it.
//!
//! Ed25519 by `ed25519-dalek`, which libp2p's identities use too: a node signs with the key that its peer id
//! contains, and nobody needs a second one. It is pure (no clock; signing draws nothing) and checks strictly:
//! all members refuse the same signatures. It stands behind a trait because a model checker makes millions of
//! statements; simulator and runtime use the real one.

use std::fmt;
use std::sync::Arc;

use ed25519_dalek::{Signature as DalekSignature, Signer as _, SigningKey, VerifyingKey};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::codec::{CodecError, Reader, Wire, wire, wire_choice};
use super::{Charter, Electorate, Fingerprint};
use crate::PeerIx;

/// 64 bytes under a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

impl Wire for Signature {
    const LEAST: usize = 64;
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        <[u8; 64]>::read(from).map(Self)
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let length = bytes.len();
        bytes.try_into().map(Self).map_err(|_| serde::de::Error::invalid_length(length, &"64 bytes"))
    }
}

/// Signs as one member and checks what the others signed.
pub trait Keys: Send + Sync {
    /// My signature under these bytes.
    fn sign(&self, bytes: &[u8]) -> Signature;

    /// Whether a member signed these bytes; `false` for who is no member.
    fn verifies(&self, member: PeerIx, bytes: &[u8], signature: &Signature) -> bool;
}

/// Ed25519.
pub struct Ed25519 {
    secret: Option<SigningKey>,
    roster: Arc<[VerifyingKey]>,
}

/// A key that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key of member {member} is no Ed25519 key")]
pub struct BadKey {
    /// Whose.
    pub member: usize,
}

impl Ed25519 {
    /// For a member, with its secret seed and the public keys of the first roster in order.
    ///
    /// # Errors
    /// A public key that is none, or one of the few under which anybody can sign.
    pub fn new(seed: &[u8; 32], roster: &[[u8; 32]]) -> Result<Self, BadKey> {
        Ok(Self { secret: Some(SigningKey::from_bytes(seed)), ..Self::of_roster(roster)? })
    }

    /// For somebody who only checks.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn of_roster(roster: &[[u8; 32]]) -> Result<Self, BadKey> {
        let key = |(member, bytes): (usize, &[u8; 32])| {
            let key = VerifyingKey::from_bytes(bytes).map_err(|_| BadKey { member })?;
            if key.is_weak() { Err(BadKey { member }) } else { Ok(key) }
        };
        let roster: Result<Vec<VerifyingKey>, BadKey> = roster.iter().enumerate().map(key).collect();
        Ok(Self { secret: None, roster: roster?.into() })
    }

    /// The public key of a secret seed.
    pub fn public(seed: &[u8; 32]) -> [u8; 32] {
        SigningKey::from_bytes(seed).verifying_key().to_bytes()
    }
}

impl fmt::Debug for Ed25519 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ed25519({} members)", self.roster.len())
    }
}

impl Keys for Ed25519 {
    /// Who has no secret makes a signature that nobody accepts.
    fn sign(&self, bytes: &[u8]) -> Signature {
        self.secret.as_ref().map_or(Signature([0; 64]), |secret| Signature(secret.sign(bytes).to_bytes()))
    }

    fn verifies(&self, member: PeerIx, bytes: &[u8], signature: &Signature) -> bool {
        let signature = DalekSignature::from_bytes(&signature.0);
        self.roster.get(member as usize).is_some_and(|key| key.verify_strict(bytes, &signature).is_ok())
    }
}

/// The kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Where somebody stands.
    Standing,
    /// It has turned away from a view.
    Turn,
    /// What the proposer of a view proposes.
    Propose,
    /// It votes for a value.
    Vote,
    /// It commits to a value.
    Commit,
    /// It makes at most so many records.
    Reserve,
    /// It sent this sum; only after trouble.
    Sum,
}

wire_choice!(Kind { 0 = Standing, 1 = Turn, 2 = Propose, 3 = Vote, 4 = Commit, 5 = Reserve, 6 = Sum });

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Standing => "murmur standing 1",
            Self::Turn => "murmur turn 1",
            Self::Propose => "murmur propose 1",
            Self::Vote => "murmur vote 1",
            Self::Commit => "murmur commit 1",
            Self::Reserve => "murmur reserve 1",
            Self::Sum => "murmur sum 1",
        }
    }
}

/// What a signature stands under: a kind, where it belongs, and the digest of its content.
///
/// The electorate is part of it. Otherwise signatures of an epoch whose votes had grown could pass, at
/// somebody who missed the change, for a quorum of the fewer votes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Statement {
    /// Of which kind.
    pub kind: Kind,
    /// The epoch that is to begin.
    pub epoch: u32,
    /// Who decides on it.
    pub electorate: Fingerprint,
    /// The view, 0 where there is none; the round of a sum.
    pub view: u32,
    /// Of the content; for votes and commits that of the value.
    pub content: Fingerprint,
}

impl Statement {
    /// The bytes that are signed.
    pub fn bytes(&self, charter: &Charter) -> Vec<u8> {
        let mut out = self.kind.name().as_bytes().to_vec();
        out.push(0);
        // Reserves hold over renewals of the run.
        let run = if self.kind == Kind::Reserve { charter.origin() } else { charter.run() };
        run.write(&mut out);
        self.epoch.write(&mut out);
        self.electorate.write(&mut out);
        self.view.write(&mut out);
        self.content.write(&mut out);
        out
    }
}

/// Who signed what under a known statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// Who.
    pub by: PeerIx,
    /// Its signature.
    pub signature: Signature,
}

wire!(Ballot { by: PeerIx, signature: Signature });

/// Whether these are the signatures of a quorum under one statement: of different members with a vote, in
/// increasing order.
///
/// # Guarantee
/// With at most f hostile votes, an honest member signed the statement, and it shares an honest signer with
/// every other quorum of the electorate.
pub fn is_quorum(
    ballots: &[Ballot],
    statement: &Statement,
    electorate: &Electorate,
    (charter, keys): (&Charter, &dyn Keys),
) -> bool {
    let bytes = statement.bytes(charter);
    let rises = ballots.windows(2).all(|pair| pair[0].by < pair[1].by);
    let enough = ballots.len() >= super::flaw::quorum(electorate) && ballots.len() <= electorate.votes.len();
    let signed =
        |ballot: &Ballot| electorate.has(ballot.by) && keys.verifies(ballot.by, &bytes, &ballot.signature);
    rises && enough && statement.electorate == electorate.fingerprint() && ballots.iter().all(signed)
}
