//! How bytes get to a peer: TCP inside the swarm's private network, encrypted by Noise, straight or through the circuit of a relay; QUIC beside it where it was
//! built in.

use std::io;
use std::time::Duration;

use futures::TryFutureExt;
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::timeout::{TransportTimeout, TransportTimeoutError};
use libp2p::core::transport::{Boxed, Transport, upgrade};
use libp2p::identity::Keypair;
use libp2p::pnet::{PnetConfig, PreSharedKey};
use libp2p::{PeerId, dns, noise, relay, tcp, yamux};

/// How long a connection may take until it is encrypted: who dawdles is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long it may take until there is one. Less than [`HANDSHAKE`], so that running out of that means that somebody was there and said nothing
/// that could be understood: with another key most lengths are noise, and both sides wait for more.
const CONNECT: Duration = Duration::from_secs(8);

/// A transport, and the part of it that speaks with relays.
type Parts = (Boxed<(PeerId, StreamMuxerBox)>, relay::client::Behaviour);

/// The transport of a node. A machine without name servers can still use addresses of numbers.
///
/// # Guarantee
/// Over TCP, straight or through a circuit, nobody without the swarm's key gets as far as a first word: the private network is inside the circuit too, so a
/// relay sees sizes and times and nothing else.
pub(crate) fn transport(keypair: &Keypair, network_key: &[u8; 32]) -> io::Result<Parts> {
    let (numbers, client) = nameless(keypair, network_key)?;
    match dns::tokio::Transport::system(numbers) {
        Ok(with_names) => Ok((with_names.boxed(), client)),
        Err(error) => {
            tracing::warn!(%error, "no name servers: addresses with names cannot be called");
            nameless(keypair, network_key)
        }
    }
}

/// For addresses of numbers.
fn nameless(keypair: &Keypair, network_key: &[u8; 32]) -> io::Result<Parts> {
    let private = PnetConfig::new(PreSharedKey::new(*network_key));
    let noise = noise::Config::new(keypair).map_err(io::Error::other)?;
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
        .and_then(move |socket, _| private.handshake(socket).map_err(io::Error::other))
        .upgrade(upgrade::Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux::Config::default())
        .timeout(HANDSHAKE)
        .boxed();
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
