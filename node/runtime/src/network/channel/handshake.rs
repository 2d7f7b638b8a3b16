//! Three messages, each with its length in front.

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::PeerId;
use snow::HandshakeState;
use zeroize::Zeroize;

use super::identity::{Introduction, Keys, check_version};
use super::resolver::Resolver;
use super::sealed::{Cipher, Sealed};
use super::{ChannelError, NOT_UNDERSTOOD};

const PATTERN: &str = "Noise_XXpsk0_25519_ChaChaPoly_SHA256";
/// The longest message: whatever is announced by a stranger, this is all that is waited for.
const LONGEST: usize = 1024;
/// Instead of a message, where theirs was not understood. Longer than any, so that it needs no rule of its own.
const WHAT: [u8; 2] = [0xff; 2];

/// Makes a channel of a connection, and says who is at the other end; `calls` is one side's.
///
/// # Guarantee
/// The other side knows the swarm's secret and has the key of the identity, and nobody else has the keys of this channel. To who does not know the secret nothing was said but
/// two fresh keys.
///
/// # Assumes
/// X25519, ChaCha20-Poly1305, AES-256-GCM and SHA-256 are what they should be.
///
/// # Errors
/// A lost connection; somebody without the secret, of another version, or who is not whom it says.
pub async fn agree<S>(io: S, calls: bool, keys: &Keys) -> Result<(PeerId, Sealed<S>), ChannelError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut talk = Talk { io, noise: noise(calls, keys)? };
    let them = if calls {
        talk.say(&[keys.version]).await?;
        let them = Introduction::from_bytes(&talk.hear().await?, keys.version)?;
        talk.say(&keys.introduction().to_bytes()).await?;
        them
    } else {
        let opening = match talk.hear().await {
            Err(ChannelError::Stranger) => {
                // That it cannot be understood shall not look like a lost connection. If it is gone, no matter.
                let _ = talk.io.write_all(&WHAT).await;
                let _ = talk.io.close().await;
                return Err(ChannelError::Stranger);
            }
            opening => opening?,
        };
        // Before the versions are compared, so that the other side can do that too.
        talk.say(&keys.introduction().to_bytes()).await?;
        check_version(&opening, keys.version)?;
        Introduction::from_bytes(&talk.hear().await?, keys.version)?
    };
    let Talk { io, mut noise } = talk;
    let peer = them.peer(noise.get_remote_static().ok_or(ChannelError::Identity)?)?;
    let cipher = if them.has_aes && keys.has_aes { Cipher::Aes } else { Cipher::ChaCha };
    // Not snow's own records: they are sealed with the cipher of the handshake.
    let (mut of_caller, mut of_called) = noise.dangerously_get_raw_split();
    let ours_and_theirs = if calls { [&of_caller, &of_called] } else { [&of_called, &of_caller] };
    let sealed = Sealed::new(io, cipher, ours_and_theirs);
    of_caller.zeroize();
    of_called.zeroize();
    Ok((peer, sealed))
}

fn noise(calls: bool, keys: &Keys) -> Result<HandshakeState, ChannelError> {
    let fresh = || {
        let pattern = PATTERN.parse()?;
        let builder = snow::Builder::with_resolver(pattern, Box::new(Resolver))
            .prologue(b"murmur channel 1")?
            .local_private_key(keys.secret.as_slice())?
            .psk(0, &keys.shared)?;
        if calls { builder.build_initiator() } else { builder.build_responder() }
    };
    fresh().map_err(|_: snow::Error| ChannelError::Keys)
}

struct Talk<S> {
    io: S,
    noise: HandshakeState,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<S> {
    async fn say(&mut self, said: &[u8]) -> Result<(), ChannelError> {
        let mut message = [0; 2 + LONGEST];
        let written = self.noise.write_message(said, &mut message[2..]).map_err(|_| ChannelError::Keys)?;
        message[..2].copy_from_slice(&(written as u16).to_be_bytes());
        self.io.write_all(&message[..2 + written]).await?;
        Ok(self.io.flush().await?)
    }

    async fn hear(&mut self) -> Result<Vec<u8>, ChannelError> {
        let mut length = [0; 2];
        self.io.read_exact(&mut length).await?;
        let length = usize::from(u16::from_be_bytes(length));
        if length > LONGEST {
            return Err(ChannelError::Stranger);
        }
        let mut message = vec![0; length];
        self.io.read_exact(&mut message).await?;
        let mut said = vec![0; length];
        match self.noise.read_message(&message, &mut said) {
            Ok(length) => {
                said.truncate(length);
                Ok(said)
            }
            Err(error) => {
                tracing::debug!(%error, "a handshake {NOT_UNDERSTOOD}");
                Err(ChannelError::Stranger)
            }
        }
    }
}
