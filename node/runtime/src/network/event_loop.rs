//! The task that owns the swarm.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use futures::StreamExt;
use libp2p::core::ConnectedPoint;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::swarm::{DialError, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Stream, StreamProtocol, mdns};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::admission::{Verdict, admission};
use super::behaviour::{Behaviour, BehaviourEvent, PENDING, swarm};
use super::book::{Book, Call};
use super::hello::{HelloError, Introduction, hello};
use super::link::{self, Inbox, Link};
use super::{Command, Event, NetworkError, Settings};
use crate::secret::random;
use crate::wire::{Card, Frame, Known, Refusal, Standing, WireError, write_frame};

const PROTOCOL: StreamProtocol = StreamProtocol::new("/murmur/1");
/// Calls that may be under way at once: a swarm that starts all together would otherwise wait for each other until nobody's time is enough.
const CALLS: usize = 8;
/// When to look again where so many are.
const BREATH: Duration = Duration::from_millis(20);
/// How long newcomers are collected before the others hear of them.
const NEWS: Duration = Duration::from_millis(300);
/// How long an old link is asked whether it is alive before a newcomer with the same identity takes its place.
const PROBE: Duration = Duration::from_secs(3);
/// How long links may still write when the node ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// Somebody whose hello is done.
struct Met {
    peer: PeerId,
    card: Card,
    stream: Stream,
}

/// The link with a peer.
struct Current {
    link: Link,
    instance: u64,
}

pub(super) struct EventLoop {
    swarm: Swarm<Behaviour>,
    streams: libp2p_stream::Control,
    incoming: libp2p_stream::IncomingStreams,
    settings: Settings,
    me: PeerId,
    instance: u64,
    standing: watch::Receiver<Standing>,
    book: Book,
    /// Peers that the others have not heard of, and when they will.
    news: Vec<PeerId>,
    news_at: Option<Instant>,
    /// No calls before this.
    not_before: Instant,
    links: BTreeMap<PeerId, Current>,
    next_link: u64,
    inbox: Inbox,
    known: mpsc::Receiver<(PeerId, Vec<Known>)>,
    commands: mpsc::Receiver<Command>,
    hellos: JoinSet<(PeerId, Result<Met, HelloError>)>,
    /// Peers with a hello under way.
    greeting: Vec<PeerId>,
    probes: JoinSet<(Met, bool)>,
    running: JoinSet<(PeerId, u64, WireError)>,
}

impl EventLoop {
    pub(super) fn new(
        settings: Settings,
        events: mpsc::Sender<Event>,
        commands: mpsc::Receiver<Command>,
        standing: watch::Receiver<Standing>,
    ) -> Result<Self, NetworkError> {
        let mut swarm = swarm(&settings).map_err(NetworkError::Start)?;
        for address in &settings.listen {
            swarm.listen_on(address.clone()).map_err(|error| NetworkError::Listen {
                address: address.clone(),
                source: io::Error::other(error),
            })?;
        }
        let mut streams = swarm.behaviour().stream.new_control();
        let incoming = streams.accept(PROTOCOL).expect("the protocol is registered once");
        let (to_known, known) = mpsc::channel(64);
        let me = settings.identity.peer_id();
        let mut book = Book::new(me, 4 * settings.nodes + 16);
        if matches!(*standing.borrow(), Standing::Running { .. }) {
            book = book.without_courtesy();
        }
        let now = Instant::now();
        settings.peers.iter().for_each(|address| book.add_address(address.clone(), now));
        settings.roster.iter().for_each(|member| book.add(member.peer, member.addresses.clone(), now));
        let instance = random().map_err(|error| NetworkError::Start(io::Error::other(error)))?;
        Ok(Self {
            swarm,
            streams,
            incoming,
            me,
            instance: u64::from_le_bytes(instance),
            standing,
            book,
            news: Vec::new(),
            news_at: None,
            not_before: now,
            links: BTreeMap::new(),
            next_link: 0,
            inbox: Inbox { events, known: to_known },
            known,
            commands,
            hellos: JoinSet::new(),
            greeting: Vec::new(),
            probes: JoinSet::new(),
            running: JoinSet::new(),
            settings,
        })
    }

    pub(super) async fn run(mut self) {
        loop {
            let due = self.book.next_due(|peer| self.links.contains_key(peer));
            let due = due.map(|due| due.max(self.not_before));
            tokio::select! {
                event = self.swarm.select_next_some() => self.on_swarm(event).await,
                Some((peer, stream)) = self.incoming.next() => self.on_stream(peer, stream),
                Some(done) = self.hellos.join_next() => {
                    if let Ok((peer, result)) = done { self.on_hello(peer, result).await }
                }
                Some(done) = self.probes.join_next() => {
                    if let Ok((met, alive)) = done { self.on_probe(met, alive).await }
                }
                Some(done) = self.running.join_next() => {
                    if let Ok((peer, id, error)) = done { self.on_end(peer, id, &error).await }
                }
                Some((_, known)) = self.known.recv() => self.on_known(known),
                command = self.commands.recv() => match command {
                    Some(Command::Call(address)) => self.book.add_address(address, Instant::now()),
                    Some(Command::Drop(peer)) => self.drop_link(peer),
                    Some(Command::Close) | None => break,
                },
                () = until(due) => self.call_those_due(),
                () = until(self.news_at) => self.spread_news(),
            }
        }
        self.farewell().await;
    }

    /// Lets the links write what is queued; the swarm must run meanwhile.
    async fn farewell(mut self) {
        self.links.clear();
        let until = Instant::now() + FAREWELL;
        while !self.running.is_empty() {
            tokio::select! {
                _ = self.swarm.select_next_some() => {}
                _ = self.running.join_next() => {}
                () = tokio::time::sleep_until(until) => return,
            }
        }
    }

    async fn on_swarm(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::NewListenAddr { address, .. } => {
                let full = address.with_p2p(self.me).unwrap_or_else(|address| address);
                self.tell(Event::Listening(full)).await;
            }
            SwarmEvent::ConnectionEstablished { peer_id, endpoint, .. } => {
                if let ConnectedPoint::Dialer { address, .. } = &endpoint {
                    self.book.name(address, peer_id, Instant::now());
                }
                // The smaller identity opens the conversation; the other only if that does not happen, when its time has come.
                if self.me < peer_id {
                    self.greet(peer_id);
                }
            }
            SwarmEvent::OutgoingConnectionError { error, peer_id, .. } => {
                self.on_failed_call(peer_id, error).await;
            }
            SwarmEvent::IncomingConnectionError { error, send_back_addr, peer_id, .. } => {
                let reason = format!("{send_back_addr}: {}", chain(&error));
                self.tell(Event::TurnedAway { peer: peer_id, reason }).await;
            }
            SwarmEvent::Behaviour(BehaviourEvent::Mdns(mdns::Event::Discovered(found))) => {
                let now = Instant::now();
                found.into_iter().for_each(|(peer, address)| self.book.add(peer, [address], now));
            }
            _ => {}
        }
    }

    async fn on_failed_call(&mut self, peer: Option<PeerId>, error: DialError) {
        match error {
            DialError::LocalPeerId { address } => {
                self.book.forget(&address);
                let bare = address.with_p2p(self.me).unwrap_or_else(|address| address);
                let own = |ours: &Multiaddr| ours.clone().with_p2p(self.me).is_ok_and(|ours| ours == bare);
                if !self.swarm.listeners().any(own) {
                    self.tell(Event::Twin { address: bare }).await;
                }
            }
            error => tracing::debug!(?peer, error = chain(&error), "call failed"),
        }
    }

    /// Opens a conversation, where there is none.
    fn greet(&mut self, peer: PeerId) {
        if self.links.contains_key(&peer) || self.greeting.contains(&peer) {
            return;
        }
        self.greeting.push(peer);
        let (mut streams, us) = (self.streams.clone(), self.introduction());
        self.hellos.spawn(async move {
            let opened = streams.open_stream(peer, PROTOCOL).await;
            let met = match opened {
                Ok(stream) => converse(stream, &us, peer).await,
                Err(error) => Err(HelloError::Wire(WireError::Io(io::Error::other(error)))),
            };
            (peer, met)
        });
    }

    fn on_stream(&mut self, peer: PeerId, stream: Stream) {
        // Nobody needs several hellos at once.
        if self.greeting.contains(&peer) || self.greeting.len() > 4 * PENDING as usize {
            return;
        }
        self.greeting.push(peer);
        let us = self.introduction();
        self.hellos.spawn(async move { (peer, converse(stream, &us, peer).await) });
    }

    fn introduction(&self) -> Introduction {
        let card = Card {
            run: self.settings.run.clone(),
            config: self.settings.digest.0,
            instance: self.instance,
            standing: self.standing.borrow().clone(),
            addresses: self.swarm.listeners().take(8).map(Multiaddr::to_string).collect(),
        };
        Introduction {
            me: self.me,
            secret: self.settings.secret.clone(),
            card,
            config: self.settings.config.clone(),
        }
    }

    async fn on_hello(&mut self, peer: PeerId, result: Result<Met, HelloError>) {
        self.greeting.retain(|other| *other != peer);
        match result {
            Ok(met) => self.on_met(met).await,
            Err(HelloError::Refused { refusal, reason }) => {
                self.book.refused(&peer, Instant::now());
                self.tell(Event::Refused { peer, refusal, reason }).await;
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

    async fn on_met(&mut self, met: Met) {
        let standing = self.standing.borrow().clone();
        match admission((self.me, &standing), (met.peer, &met.card.standing)) {
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

    async fn on_probe(&mut self, met: Met, alive: bool) {
        if alive {
            let reason = format!("another process with the identity {} is connected", met.peer);
            self.refuse(met, Refusal::Duplicate, reason).await;
        } else {
            self.install(met).await;
        }
    }

    async fn refuse(&mut self, met: Met, refusal: Refusal, reason: String) {
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

    async fn install(&mut self, met: Met) {
        let Met { peer, card, stream } = met;
        let now = Instant::now();
        let parsed = card.addresses.iter().take(8).filter_map(|address| address.parse().ok());
        self.book.add(peer, parsed.collect::<Vec<_>>(), now);
        self.book.reached(&peer, now);
        let id = self.next_link;
        self.next_link += 1;
        let bounds = (self.settings.limits, self.settings.patience);
        let (link, run) = link::open(stream, (peer, id), bounds, self.inbox.clone());
        self.introduce(&link);
        let replaced = self.links.insert(peer, Current { link: link.clone(), instance: card.instance });
        if let Some(old) = replaced {
            let reason = "replaced by a new one".to_owned();
            self.tell(Event::Lost { peer, id: old.link.id, reason }).await;
        }
        self.tell(Event::Linked { link, standing: card.standing }).await;
        self.running.spawn(async move { (peer, id, run.await) });
    }

    /// Tells a newcomer whom we know; the others hear about it with the next news.
    fn introduce(&mut self, newcomer: &Link) {
        let others: Vec<Known> = self.links.keys().filter_map(|peer| self.book.known(peer)).collect();
        if !others.is_empty() {
            let _ = newcomer.send(Frame::Members(others));
        }
        self.news.push(newcomer.peer);
        self.news_at.get_or_insert_with(|| Instant::now() + NEWS);
    }

    /// One frame about all who came lately: one for each would be a frame per pair and node.
    fn spread_news(&mut self) {
        self.news_at = None;
        let news: Vec<Known> = self.news.drain(..).filter_map(|peer| self.book.known(&peer)).collect();
        for current in self.links.values() {
            let _ = current.link.send(Frame::Members(news.clone()));
        }
    }

    fn on_known(&mut self, known: Vec<Known>) {
        let now = Instant::now();
        for Known { peer, addresses } in known {
            let Ok(peer) = PeerId::from_bytes(&peer) else { continue };
            let addresses: Vec<Multiaddr> =
                addresses.iter().take(8).filter_map(|address| address.parse().ok()).collect();
            self.book.add(peer, addresses, now);
        }
    }

    async fn on_end(&mut self, peer: PeerId, id: u64, error: &WireError) {
        if self.links.get(&peer).is_some_and(|current| current.link.id == id) {
            self.links.remove(&peer);
            self.book.reached(&peer, Instant::now());
            self.hang_up(peer);
            self.tell(Event::Lost { peer, id, reason: chain(error) }).await;
        }
    }

    fn drop_link(&mut self, peer: PeerId) {
        self.links.remove(&peer);
        self.book.refused(&peer, Instant::now());
    }

    /// Closes the connections with a peer that we have no link with.
    fn hang_up(&mut self, peer: PeerId) {
        if !self.links.contains_key(&peer) {
            // An error means that there was none.
            let _ = self.swarm.disconnect_peer_id(peer);
        }
    }

    fn call_those_due(&mut self) {
        let (links, now) = (&self.links, Instant::now());
        let pending = self.swarm.network_info().connection_counters().num_pending_outgoing() as usize;
        self.not_before = now + BREATH;
        for call in self.book.due(now, |peer| links.contains_key(peer), CALLS.saturating_sub(pending)) {
            let options: DialOpts = match call {
                Call::Peer(peer, _) if self.swarm.is_connected(&peer) => {
                    self.greet(peer);
                    continue;
                }
                Call::Peer(peer, addresses) => DialOpts::peer_id(peer)
                    .condition(PeerCondition::DisconnectedAndNotDialing)
                    .addresses(addresses)
                    .build(),
                Call::Address(address) => address.into(),
            };
            if let Err(error) = self.swarm.dial(options) {
                tracing::debug!(error = chain(&error), "cannot call");
            }
        }
    }

    /// Does not borrow the swarm, which must not be shared between threads.
    fn tell(&self, event: Event) -> impl Future<Output = ()> + Send + use<> {
        let events = self.inbox.events.clone();
        async move {
            // Where the driver has gone, the next command says so.
            let _ = events.send(event).await;
        }
    }
}

/// Ready at that time, if there is one.
async fn until(time: Option<Instant>) {
    match time {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn converse(mut stream: Stream, us: &Introduction, peer: PeerId) -> Result<Met, HelloError> {
    let card = hello(&mut stream, us, peer).await?;
    Ok(Met { peer, card, stream })
}

/// An error with its causes, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}
