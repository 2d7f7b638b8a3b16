//! The libp2p side: which protocols run on a connection, and how many connections there may be.

use std::io;
use std::time::Duration;

use libp2p::core::upgrade;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::swarm::{NetworkBehaviour, Swarm};
use libp2p::{Multiaddr, allow_block_list, connection_limits, dcutr, identify, mdns, relay};

use super::{Settings, circuits, streams, transport};

/// Handshakes that may be under way at once; the rest waits in the kernel or is dropped.
pub(super) const PENDING: u32 = 128;

#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    pub(super) limits: connection_limits::Behaviour,
    pub(super) allowed: Toggle<allow_block_list::Behaviour<allow_block_list::AllowedPeers>>,
    pub(super) mdns: Toggle<mdns::tokio::Behaviour>,
    pub(super) identify: Toggle<identify::Behaviour>,
    pub(super) streams: streams::Behaviour,
    pub(super) circuits: relay::client::Behaviour,
    pub(super) relay: Toggle<relay::Behaviour>,
    pub(super) punching: dcutr::Behaviour,
}

/// A swarm for these settings, not listening yet.
pub(super) fn swarm(settings: &Settings) -> io::Result<Swarm<Behaviour>> {
    let keypair = settings.identity.keypair();
    let me = settings.identity.peer_id();
    let (transport, circuits) = transport::transport(keypair, &settings.secret)?;
    // Two per pair where both call at once, and room for a restart.
    let established = u32::try_from(3 * settings.nodes + 32).unwrap_or(u32::MAX);
    let limits = connection_limits::ConnectionLimits::default()
        .with_max_pending_incoming(Some(PENDING))
        .with_max_established_incoming(Some(established))
        .with_max_established(Some(2 * established))
        .with_max_established_per_peer(Some(3));
    let allowed = (!settings.roster.is_empty()).then(|| {
        let mut allowed = allow_block_list::Behaviour::default();
        settings.roster.iter().for_each(|member| {
            allowed.allow_peer(member.peer);
        });
        settings.relays.iter().filter_map(circuits::relay_of).for_each(|relay| {
            allowed.allow_peer(relay);
        });
        allowed
    });
    let discovery = mdns::Config {
        ttl: Duration::from_secs(60),
        query_interval: Duration::from_secs(10),
        enable_ipv6: false,
    };
    let mdns = settings.mdns.then(|| mdns::tokio::Behaviour::new(discovery, me)).transpose()?;
    // Of use only for who looks for a way past a relay: it says by which address a node is seen.
    let meets_relays = settings.is_relay || has_relays(settings);
    let about = identify::Config::new("/murmur/1".into(), keypair.public()).with_cache_size(0);
    let behaviour = Behaviour {
        limits: connection_limits::Behaviour::new(limits),
        allowed: allowed.into(),
        mdns: mdns.into(),
        identify: meets_relays.then(|| identify::Behaviour::new(about)).into(),
        streams: streams::Behaviour::default(),
        circuits,
        relay: settings.is_relay.then(|| relay::Behaviour::new(me, circuits::served(settings.nodes))).into(),
        punching: dcutr::Behaviour::new(me),
    };
    let config = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(Duration::from_secs(15))
        // The name of the protocol and the first words in one packet; a listener that waits for the name alone understands it too.
        .with_substream_upgrade_protocol_override(upgrade::Version::V1Lazy)
        .with_max_negotiating_inbound_streams(8);
    Ok(Swarm::new(transport, behaviour, me, config))
}

/// Whether this node is told of a relay.
fn has_relays(settings: &Settings) -> bool {
    let addresses = settings.roster.iter().flat_map(|member| &member.addresses);
    let mut all = settings.peers.iter().chain(addresses);
    let is_circuit = |address: &Multiaddr| circuits::is_circuit(address);
    !settings.relays.is_empty() || all.any(is_circuit)
}
