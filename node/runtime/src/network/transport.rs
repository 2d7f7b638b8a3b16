//! How bytes get to a peer: TCP in a [`channel`] with the swarm's secret in it, straight or through the circuit of a relay; QUIC beside it where it was
//! built in.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::timeout::{TransportTimeout, TransportTimeoutError};
use libp2p::core::transport::{Boxed, Transport};
use libp2p::core::upgrade::{InboundConnectionUpgrade, OutboundConnectionUpgrade};
use libp2p::core::{ConnectedPoint, Endpoint};
use libp2p::identity::Keypair;
use libp2p::{PeerId, dns, relay, tcp, yamux};

use super::channel::{Keys, agree};
use crate::secret::Secret;

/// How long a connection may take until it is encrypted: who dawdles is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long it may take until there is one. Less than [`HANDSHAKE`], so that running out of that means that somebody was there and said nothing
/// that could be understood.
const CONNECT: Duration = Duration::from_secs(8);

/// A transport, and the part of it that speaks with relays.
type Parts = (Boxed<(PeerId, StreamMuxerBox)>, relay::client::Behaviour);

/// The transport of a node. A machine without name servers can still use addresses of numbers.
///
/// # Guarantee
/// Over TCP, straight or through a circuit, nobody without the swarm's secret gets as far as a first word: the channel is inside the circuit too, so a
/// relay sees sizes and times and nothing else.
pub(crate) fn transport(keypair: &Keypair, secret: &Secret) -> io::Result<Parts> {
    let (numbers, client) = nameless(keypair, secret)?;
    match dns::tokio::Transport::system(numbers) {
        Ok(with_names) => Ok((with_names.boxed(), client)),
        Err(error) => {
            tracing::warn!(%error, "no name servers: addresses with names cannot be called");
            nameless(keypair, secret)
        }
    }
}

/// For addresses of numbers.
fn nameless(keypair: &Keypair, secret: &Secret) -> io::Result<Parts> {
    let keys = Arc::new(Keys::new(keypair, secret).map_err(io::Error::other)?);
    let (circuits, client) = relay::client::new(keypair.public().to_peer_id());
    let straight = TransportTimeout::new(tcp::tokio::Transport::new(tcp::Config::default()), CONNECT)
        .map_err(|error| match error {
            TransportTimeoutError::Other(error) => error,
            _ => io::Error::new(io::ErrorKind::TimedOut, "no connection"),
        });
    // Circuits first: what follows would take the address of the relay for that of the peer.
    let tcp = circuits
        .or_transport(straight)
        .map_err(io::Error::other)
        .and_then(move |socket, ends| secured(socket, ends, Arc::clone(&keys)));
    let tcp = TransportTimeout::new(tcp, HANDSHAKE).boxed();
    #[cfg(feature = "quic")]
    let tcp = {
        use futures::future::Either;
        let quic = libp2p::quic::tokio::Transport::new(libp2p::quic::Config::new(keypair));
        tcp.or_transport(quic)
            .map(|either, _| match either {
                Either::Left(tcp) => tcp,
                Either::Right((peer, muxer)) => (peer, StreamMuxerBox::new(muxer)),
            })
            .boxed()
    };
    Ok((tcp, client))
}

/// A connection as a channel with streams on it.
async fn secured<S>(socket: S, ends: ConnectedPoint, keys: Arc<Keys>) -> io::Result<(PeerId, StreamMuxerBox)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // Two that call each other through routers are told which of them is the caller.
    let calls = matches!(ends, ConnectedPoint::Dialer { role_override: Endpoint::Dialer, .. });
    let (peer, channel) = agree(socket, calls, &keys).await.map_err(io::Error::other)?;
    let (streams, name) = (yamux::Config::default(), "");
    let muxer = if calls {
        streams.upgrade_outbound(channel, name).await?
    } else {
        streams.upgrade_inbound(channel, name).await?
    };
    Ok((peer, StreamMuxerBox::new(muxer)))
}
