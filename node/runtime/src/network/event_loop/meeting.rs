//! From a connection to a link: hello, who may take part, and which of two with one identity.

use std::io;

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId, Stream};
use protocol::log::readable_name;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Current, EventLoop, Met, PROBE, chain};
use crate::network::Event;
use crate::network::admission::{Verdict, admission};
use crate::network::behaviour::PENDING;
use crate::network::circuits::is_circuit;
use crate::network::hello::{HelloError, Introduction, hello};
use crate::network::{link, plausible};
use crate::wire::{Card, Frame, Refusal, WireError, write_frame};

impl EventLoop {
    /// Opens a conversation, where there is none.
    pub(super) fn greet(&mut self, peer: PeerId) {
        if self.links.contains_key(&peer) || self.greeting.contains(&peer) {
            return;
        }
        self.greeting.push(peer);
        let opened = self.swarm.behaviour_mut().streams.open(peer);
        self.begin(peer, opened);
    }

    fn begin(&mut self, peer: PeerId, opened: oneshot::Receiver<Stream>) {
        let us = self.introduction();
        self.hellos.spawn(async move {
            let met = match opened.await {
                Ok(stream) => converse(stream, &us, peer).await,
                Err(_) => Err(HelloError::Wire(WireError::Io(io::ErrorKind::NotConnected.into()))),
            };
            (peer, met)
        });
    }

    /// Goes on with a conversation on another connection: a straight one after one through a relay. One of the two sees to it.
    pub(super) fn move_to(&mut self, peer: PeerId, connection: ConnectionId) {
        if !self.book.calls(&peer) || self.greeting.contains(&peer) {
            return;
        }
        tracing::info!(%peer, "a way past the relay was found");
        self.greeting.push(peer);
        let opened = self.swarm.behaviour_mut().streams.open_on(peer, connection);
        self.begin(peer, opened);
    }

    pub(super) fn on_stream(&mut self, peer: PeerId, stream: Stream) {
        // Nobody needs several hellos at once.
        if self.greeting.contains(&peer) || self.greeting.len() > 4 * PENDING as usize {
            return;
        }
        self.greeting.push(peer);
        let us = self.introduction();
        self.hellos.spawn(async move { (peer, converse(stream, &us, peer).await) });
    }

    pub(super) fn introduction(&self) -> Introduction {
        let card = Card {
            run: self.settings.run.clone(),
            config: self.settings.digest.0,
            schema: self.schema,
            instance: self.instance,
            standing: self.standing.borrow().clone(),
            addresses: self.addresses(),
            name: self.settings.name.clone(),
        };
        Introduction {
            me: self.me,
            secret: self.settings.secret.clone(),
            card,
            config: self.settings.config.clone(),
            schema: self.settings.schema.clone(),
            is_relay: self.settings.is_relay,
        }
    }

    /// Where we can be reached; where there are many, the ways through relays are not those left out.
    fn addresses(&self) -> Vec<String> {
        let (circuits, straight): (Vec<_>, Vec<_>) =
            self.swarm.listeners().partition(|address| is_circuit(address));
        circuits.into_iter().chain(straight).take(8).map(Multiaddr::to_string).collect()
    }

    pub(super) async fn on_hello(&mut self, peer: PeerId, result: Result<Met, HelloError>) {
        self.greeting.retain(|other| *other != peer);
        match result {
            Ok(met) => self.on_met(met).await,
            Err(HelloError::Refused { refusal, reason }) => {
                self.book.refused(&peer, Instant::now());
                self.tell(Event::Refused { peer, refusal, reason }).await;
                self.hang_up(peer);
            }
            Err(error @ (HelloError::Config { .. } | HelloError::Schema { .. })) => {
                self.book.refused(&peer, Instant::now());
                self.tell(Event::Differs { peer, reason: chain(&error) }).await;
                self.hang_up(peer);
            }
            Err(error) => {
                if !matches!(error, HelloError::Wire(WireError::Io(_)) | HelloError::Slow) {
                    self.book.refused(&peer, Instant::now());
                    self.tell(Event::TurnedAway { peer: Some(peer), reason: chain(&error) }).await;
                }
                self.hang_up(peer);
            }
        }
    }

    pub(super) async fn on_met(&mut self, met: Met) {
        let standing = self.standing.borrow().clone();
        let named = self.settings.roster.iter().any(|member| member.peer == met.peer);
        match admission((self.me, &standing), (met.peer, &met.card.standing), named) {
            // A relay takes part in no run, and serves all that know the secret.
            _ if self.settings.is_relay || self.is_relay(&met.peer) => {}
            Verdict::Admit => {}
            Verdict::Refuse(refusal, reason) => return self.refuse(met, refusal, reason).await,
            Verdict::Excluded(reason) => {
                self.book.refused(&met.peer, Instant::now());
                let refused = Event::Refused { peer: met.peer, refusal: Refusal::Closed, reason };
                self.tell(refused).await;
                return self.hang_up(met.peer);
            }
        }
        match self.links.get(&met.peer) {
            Some(current) if current.instance != met.card.instance => {
                // A restarted node, or a second one with the same identity? The old link knows.
                let link = current.link.clone();
                self.probes.spawn(async move { (met, link.answers(PROBE).await) });
            }
            _ => self.install(met).await,
        }
    }

    pub(super) async fn on_probe(&mut self, met: Met, alive: bool) {
        if alive {
            let reason = format!("another process with the identity {} is connected", met.peer);
            self.refuse(met, Refusal::Duplicate, reason).await;
        } else {
            self.install(met).await;
        }
    }

    pub(super) async fn refuse(&mut self, met: Met, refusal: Refusal, reason: String) {
        self.book.refused(&met.peer, Instant::now());
        self.tell(Event::TurnedAway { peer: Some(met.peer), reason: reason.clone() }).await;
        let Met { mut stream, peer, .. } = met;
        let deadline = self.settings.patience.frame;
        self.hellos.spawn(async move {
            let frame = Frame::Refuse(refusal, reason);
            let _ = tokio::time::timeout(deadline, write_frame(&mut stream, &frame)).await;
            let _ = futures::AsyncWriteExt::close(&mut stream).await;
            (peer, Err(HelloError::Slow))
        });
    }

    pub(super) async fn install(&mut self, met: Met) {
        let Met { peer, card, stream } = met;
        let now = Instant::now();
        self.book.add(peer, plausible::those_to_call(&card.addresses, self.here.contains(&peer)), now);
        self.book.reached(&peer, now);
        self.unreached.reached(peer);
        let id = self.next_link;
        self.next_link += 1;
        let bounds = (self.settings.limits, self.settings.patience);
        let machine = self.machines.get(&peer).copied();
        let (link, run) = link::open(stream, (peer, id), bounds, self.inbox.clone(), machine);
        self.introduce(&link);
        let replaced = self.links.insert(peer, Current { link: link.clone(), instance: card.instance });
        // What a relay says besides who is where nobody hears.
        let silent = self.is_relay(&peer);
        if let Some(old) = replaced.filter(|_| !silent) {
            let reason = "replaced by a new one".to_owned();
            self.tell(Event::Lost { peer, id: old.link.id, reason }).await;
        }
        if !silent {
            let name = readable_name(&card.name);
            self.tell(Event::Linked { link, standing: card.standing, name }).await;
        }
        self.running.spawn(async move { (peer, id, run.await) });
    }
}

async fn converse(mut stream: Stream, us: &Introduction, peer: PeerId) -> Result<Met, HelloError> {
    let card = hello(&mut stream, us, peer).await?;
    Ok(Met { peer, card, stream })
}
