//! Who speaks on a channel: the key of its handshake, signed with the identity.

use libp2p::PeerId;
use libp2p::identity::{Keypair, PublicKey};
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use super::ChannelError;
use crate::secret::{Secret, random};
use crate::wire::VERSION;

/// In front of what is signed, so that no signature is good for anything else.
const SIGNED: &[u8] = b"murmur channel 1 key:";

/// What a node needs for its channels, for as long as it runs.
pub struct Keys {
    /// From the swarm's secret.
    pub(super) shared: Zeroizing<[u8; 32]>,
    pub(super) secret: Zeroizing<[u8; 32]>,
    public: PublicKey,
    signature: Vec<u8>,
    pub(super) version: u8,
    /// Whether this processor has instructions for AES.
    pub(super) has_aes: bool,
}

impl Keys {
    /// Fresh ones.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn new(identity: &Keypair, secret: &Secret) -> Result<Self, ChannelError> {
        let own: Zeroizing<[u8; 32]> = Zeroizing::new(random().map_err(|_| ChannelError::Keys)?);
        let key = x25519_dalek::PublicKey::from(&StaticSecret::from(*own));
        let signature = identity.sign(&said_of(key.as_bytes())).map_err(|_| ChannelError::Keys)?;
        Ok(Self {
            shared: secret.channel_key(),
            secret: own,
            public: identity.public(),
            signature,
            version: VERSION,
            has_aes: has_aes(),
        })
    }

    /// Says what another says of itself.
    #[cfg(test)]
    pub(super) fn say_as(&mut self, other: &Self) {
        (self.public, self.signature) = (other.public.clone(), other.signature.clone());
    }

    /// What a node says of itself in a handshake, but for its first words.
    pub(super) fn introduction(&self) -> Introduction {
        let (public, signature) = (self.public.encode_protobuf(), self.signature.clone());
        Introduction { version: self.version, has_aes: self.has_aes, public, signature }
    }
}

/// As it is said, sealed by the handshake.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    version: u8,
    pub(super) has_aes: bool,
    public: Vec<u8>,
    signature: Vec<u8>,
}

impl Introduction {
    /// The version comes first, in this and all other versions.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.version, u8::from(self.has_aes), self.public.len() as u8];
        bytes.extend_from_slice(&self.public);
        bytes.extend_from_slice(&self.signature);
        bytes
    }

    /// From somebody with the secret, who may still say anything.
    pub(super) fn from_bytes(bytes: &[u8], ours: u8) -> Result<Self, ChannelError> {
        check_version(bytes, ours)?;
        let [version, has_aes, length, rest @ ..] = bytes else { return Err(ChannelError::Identity) };
        let (public, signature) =
            rest.split_at_checked(usize::from(*length)).ok_or(ChannelError::Identity)?;
        Ok(Self {
            version: *version,
            has_aes: *has_aes == 1,
            public: public.to_vec(),
            signature: signature.to_vec(),
        })
    }

    /// Whose it is.
    ///
    /// # Guarantee
    /// Whoever has the secret of this identity signed this key of a channel.
    pub(super) fn peer(&self, key: &[u8]) -> Result<PeerId, ChannelError> {
        let public = PublicKey::try_decode_protobuf(&self.public).map_err(|_| ChannelError::Identity)?;
        let is_signed = public.verify(&said_of(key), &self.signature);
        if is_signed { Ok(public.to_peer_id()) } else { Err(ChannelError::Identity) }
    }
}

/// Whether what somebody with the secret says is in our version.
pub(super) fn check_version(said: &[u8], ours: u8) -> Result<(), ChannelError> {
    match said.first() {
        Some(&theirs) if theirs == ours => Ok(()),
        Some(&theirs) => Err(ChannelError::Version { theirs }),
        None => Err(ChannelError::Identity),
    }
}

fn said_of(key: &[u8]) -> Vec<u8> {
    [SIGNED, key].concat()
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}
