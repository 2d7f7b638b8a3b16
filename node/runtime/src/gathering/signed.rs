//! A roster that members have signed.

use std::fmt;

use libp2p::PeerId;
use libp2p::identity::{Keypair, PublicKey};
use protocol::Digest;
use protocol::agreement::Fingerprint;

use crate::identity::Roster;

/// Signs rosters of one run with a node's identity, and checks what others signed.
#[derive(Clone)]
pub(crate) struct Signer {
    keypair: Keypair,
    /// Of what all must have in common: signatures of one run mean nothing in another.
    config: Digest,
}

/// A roster, with the signature of each member in order; none where members are pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedRoster {
    pub(crate) roster: Roster,
    pub(crate) attempt: u32,
    pub(crate) signatures: Vec<Vec<u8>>,
}

impl SignedRoster {
    pub(crate) fn unsigned(roster: Roster) -> Self {
        Self { roster, attempt: 0, signatures: Vec::new() }
    }
}

impl Signer {
    pub(crate) fn new(keypair: Keypair, config: Digest) -> Self {
        Self { keypair, config }
    }

    pub(crate) fn me(&self) -> PeerId {
        self.keypair.public().to_peer_id()
    }

    /// What is signed: the run, the attempt and the members.
    fn statement(&self, attempt: u32, roster: &Roster) -> Vec<u8> {
        let members = Fingerprint::of("murmur roster 1", &roster.to_bytes().concat());
        [b"murmur start 1\0".as_slice(), &self.config.0, &attempt.to_le_bytes(), &members.0].concat()
    }

    pub(crate) fn sign(&self, attempt: u32, roster: &Roster) -> Vec<u8> {
        self.keypair.sign(&self.statement(attempt, roster)).unwrap_or_default()
    }

    pub(crate) fn is_signed(&self, by: &PeerId, (attempt, roster): (u32, &Roster), signature: &[u8]) -> bool {
        let multihash: &libp2p::multihash::Multihash<64> = by.as_ref();
        let key = PublicKey::try_decode_protobuf(multihash.digest());
        key.is_ok_and(|key| key.verify(&self.statement(attempt, roster), signature))
    }

    /// Whether every member has signed.
    pub(crate) fn is_signed_by_all(&self, said: &SignedRoster) -> bool {
        let members = said.roster.members();
        let all = members.len() == said.signatures.len();
        let place = (said.attempt, &said.roster);
        all && members.iter().zip(&said.signatures).all(|(peer, by)| self.is_signed(peer, place, by))
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.me())
    }
}
