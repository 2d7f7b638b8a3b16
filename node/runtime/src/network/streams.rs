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
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound { protocol: stream, .. }) => {
                if self.incoming.len() < WAITING {
                    self.incoming.push_back(stream);
                }
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound { protocol, info }) => {
                // Whoever wanted it may have gone.
                let _ = info.send(protocol);
            }
            // A stream that could not be opened takes whoever waits for it along.
            _ => {}
        }
    }
}
