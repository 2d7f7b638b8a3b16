//! Streams of our protocol on the connections of a swarm.
//!
//! Every stream that a peer opens reaches the owner of the swarm. libp2p-stream, which this replaces, has room for one and drops those that come in the same
//! moment: where 64 nodes start together that was most of them, and each cost another connection.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use libp2p::core::transport::PortUse;
use libp2p::core::upgrade::ReadyUpgrade;
use libp2p::core::{Endpoint, Multiaddr};
use libp2p::swarm::handler::{ConnectionEvent, FullyNegotiatedInbound, FullyNegotiatedOutbound};
use libp2p::swarm::{
    ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm, NetworkBehaviour,
    NotifyHandler, SubstreamProtocol, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{PeerId, Stream, StreamProtocol};
use tokio::sync::oneshot;

const PROTOCOL: StreamProtocol = StreamProtocol::new("/murmur/1");
/// Streams of one connection that wait to be looked at; nobody needs several.
const WAITING: usize = 4;

/// Somebody opened a stream.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) peer: PeerId,
    pub(super) stream: Stream,
}

/// Who waits for a stream that we open; dropped where it cannot be opened.
type Wanted = oneshot::Sender<Stream>;

/// Opens streams, and passes on those that peers open.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    actions: VecDeque<ToSwarm<Incoming, Wanted>>,
    waker: Option<Waker>,
}

impl Behaviour {
    /// Opens a stream on a connection that is there; where there is none, nothing comes.
    pub(super) fn open(&mut self, peer: PeerId) -> oneshot::Receiver<Stream> {
        let (wanted, opened) = oneshot::channel();
        let handler = NotifyHandler::Any;
        self.act(ToSwarm::NotifyHandler { peer_id: peer, handler, event: wanted });
        opened
    }

    /// The same on one of several connections.
    pub(super) fn open_on(&mut self, peer: PeerId, connection: ConnectionId) -> oneshot::Receiver<Stream> {
        let (wanted, opened) = oneshot::channel();
        let handler = NotifyHandler::One(connection);
        self.act(ToSwarm::NotifyHandler { peer_id: peer, handler, event: wanted });
        opened
    }

    fn act(&mut self, action: ToSwarm<Incoming, Wanted>) {
        self.actions.push_back(action);
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = Handler;
    type ToSwarm = Incoming;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::default())
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::default())
    }

    fn on_swarm_event(&mut self, _: FromSwarm<'_>) {}

    fn on_connection_handler_event(&mut self, peer: PeerId, _: ConnectionId, stream: THandlerOutEvent<Self>) {
        self.act(ToSwarm::GenerateEvent(Incoming { peer, stream }));
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        if let Some(action) = self.actions.pop_front() {
            return Poll::Ready(action);
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// The streams of one connection. Its task polls it after each event, so it needs no waker.
#[derive(Debug, Default)]
pub(super) struct Handler {
    wanted: VecDeque<Wanted>,
    incoming: VecDeque<Stream>,
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Wanted;
    type ToBehaviour = Stream;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = Wanted;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), ())
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, Self::OutboundOpenInfo, Self::ToBehaviour>> {
        if let Some(stream) = self.incoming.pop_front() {
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(stream));
        }
        if let Some(wanted) = self.wanted.pop_front() {
            let protocol = SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), wanted);
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest { protocol });
        }
        Poll::Pending
    }

    fn on_behaviour_event(&mut self, wanted: Self::FromBehaviour) {
        self.wanted.push_back(wanted);
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<
            '_,
            Self::InboundProtocol,
            Self::OutboundProtocol,
            Self::InboundOpenInfo,
            Self::OutboundOpenInfo,
        >,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound { protocol: stream, .. })
                if self.incoming.len() < WAITING =>
            {
                self.incoming.push_back(stream);
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound { protocol, info }) => {
                // Whoever wanted it may have gone.
                let _ = info.send(protocol);
            }
            // One stream too many is dropped. One that could not be opened takes whoever waits for it along.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
    use libp2p::core::transport::{MemoryTransport, Transport};
    use libp2p::core::upgrade;
    use libp2p::identity::Keypair;
    use libp2p::swarm::{Config, SwarmEvent};
    use libp2p::{Swarm, noise, yamux};
    use tokio::task::JoinSet;

    use super::*;

    const GUESTS: usize = 24;

    fn swarm() -> Swarm<Behaviour> {
        let keypair = Keypair::generate_ed25519();
        let transport = MemoryTransport::new()
            .upgrade(upgrade::Version::V1Lazy)
            .authenticate(noise::Config::new(&keypair).unwrap())
            .multiplex(yamux::Config::default())
            .boxed();
        let me = keypair.public().to_peer_id();
        Swarm::new(transport, Behaviour::default(), me, Config::with_tokio_executor())
    }

    /// Calls, opens a stream and hears one byte on it; `false` where the stream ends without.
    async fn is_heard(host: Multiaddr, peer: PeerId) -> bool {
        let mut guest = swarm();
        guest.dial(host).unwrap();
        while !matches!(guest.select_next_some().await, SwarmEvent::ConnectionEstablished { .. }) {}
        let opened = guest.behaviour_mut().open(peer);
        let hear = async {
            let mut stream = opened.await.unwrap();
            stream.read_exact(&mut [0]).await.is_ok()
        };
        tokio::pin!(hear);
        loop {
            tokio::select! {
                heard = &mut hear => return heard,
                _ = guest.select_next_some() => {}
            }
        }
    }

    #[tokio::test]
    async fn streams_that_come_in_one_moment_all_arrive() {
        let mut host = swarm();
        host.listen_on("/memory/0".parse().unwrap()).unwrap();
        let (peer, mut guests, mut writers) = (*host.local_peer_id(), JoinSet::new(), JoinSet::new());
        let mut heard = Vec::new();
        while heard.len() < GUESTS {
            tokio::select! {
                event = host.select_next_some() => match event {
                    SwarmEvent::NewListenAddr { address, .. } => {
                        (0..GUESTS).for_each(|_| {
                            guests.spawn(is_heard(address.clone(), peer));
                        });
                    }
                    SwarmEvent::Behaviour(Incoming { mut stream, .. }) => {
                        writers.spawn(async move {
                            stream.write_all(&[1]).await.unwrap();
                            stream.flush().await.unwrap();
                            stream
                        });
                    }
                    _ => {}
                },
                Some(done) = guests.join_next() => heard.push(done.unwrap()),
            }
        }
        assert!(heard.iter().all(|heard| *heard), "{heard:?}");
    }

    #[tokio::test]
    async fn where_there_is_no_connection_nothing_comes() {
        let mut lonely = swarm();
        let opened = lonely.behaviour_mut().open(PeerId::random());
        tokio::select! {
            opened = opened => assert!(opened.is_err()),
            _ = lonely.select_next_some() => unreachable!("nothing happens"),
        }
    }
}
