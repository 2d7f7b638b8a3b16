//! The channel between two nodes over TCP: Noise with the swarm's secret in it, and what is said in it sealed once.
//!
//! The handshake is `Noise_XXpsk0_25519_ChaChaPoly_SHA256`: the secret goes into every key from the first message on, so that who does not know it can neither begin a
//! conversation, nor answer, nor read who speaks. What a channel is keyed with comes from fresh keys of both sides beside the secret: who has the swarm file reads nothing of
//! what others say or said. The long-lived key of the channel is signed with the identity, as in libp2p's Noise.
//!
//! Afterwards both sides seal records with AES-256-GCM where both processors have instructions for it, and with ChaCha20-Poly1305 otherwise.

mod handshake;
mod identity;
mod resolver;
mod sealed;
#[cfg(test)]
mod tests;

pub use handshake::agree;
pub use identity::Keys;
pub use sealed::Sealed;
pub(super) use sealed::nonce_of;

use crate::wire::VERSION;

/// What all versions say of somebody who has another secret, or none; [`super::strangers`] knows it by these words.
pub(super) const NOT_UNDERSTOOD: &str = "cannot be understood";

/// Why there is no channel.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The connection failed or ended.
    #[error("connection lost in the handshake")]
    Io(#[from] std::io::Error),
    /// Another secret, an older program, or no node at all.
    #[error("what the other says {NOT_UNDERSTOOD}")]
    Stranger,
    /// Somebody with the secret speaks another version.
    #[error("version {theirs} of the wire format, ours is {VERSION}")]
    Version {
        /// What the peer speaks.
        theirs: u8,
    },
    /// Who speaks has not shown to be whom it says.
    #[error("the key of the channel is not that of the identity")]
    Identity,
    /// The machine gives no randomness, or a key that is none.
    #[error("no keys for a channel")]
    Keys,
}
