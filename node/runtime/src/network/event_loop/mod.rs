//! The task that owns the swarm.

mod meeting;
mod news;
mod unreached;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use futures::StreamExt;
use libp2p::core::ConnectedPoint;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::swarm::{DialError, Swarm, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Stream, dcutr, mdns};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::behaviour::{Behaviour, BehaviourEvent, swarm};
use super::book::{Book, Call};
use super::circuits::{self, Places};
use super::hello::HelloError;
use super::link::{Inbox, Link};
use super::plausible;
use super::strangers::{Strangers, is_garbled, is_other_version};
use super::streams::Incoming;
use super::{Command, Event, NetworkError, Settings};
use crate::secret::random;
use crate::wire::{Card, Known, Standing, WireError};
use unreached::{Unreached, tried};

/// Calls that may be under way at once: a swarm that starts all together would otherwise wait for each other until nobody's time is enough.
const CALLS: usize = 8;
/// When to look again where so many are.
const BREATH: Duration = Duration::from_millis(20);
/// How many are told of newcomers: those who are not are called by them, or hear it from others.
const FRIENDS: usize = 8;
/// How long newcomers are collected before others hear of them: at first, and where they keep coming.
const NEWS: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(5));
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
    settings: Settings,
    me: PeerId,
    instance: u64,
    /// Digest of the form of our records.
    schema: [u8; 16],
    strangers: Strangers,
    unreached: Unreached,
    standing: watch::Receiver<Standing>,
    book: Book,
    /// What we asked relays for.
    places: Places,
    /// Peers that the others have not heard of, and when they will.
    news: Vec<PeerId>,
    news_at: Option<Instant>,
    /// How long newcomers were collected last, and when they were told.
    news_pause: Duration,
    news_told: Instant,
    /// No calls before this.
    not_before: Instant,
    /// Peers on this machine: they may tell of addresses on it.
    here: BTreeSet<PeerId>,
    /// From which machine peers were last seen, where no relay was between.
    machines: BTreeMap<PeerId, IpAddr>,
    /// Peers that we called and that have told us of nobody yet.
    called: BTreeSet<PeerId>,
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
        settings.announce.iter().for_each(|address| swarm.add_external_address(address.clone()));
        let (to_known, known) = mpsc::channel(64);
        let me = settings.identity.peer_id();
        let mut book = Book::new(me, 4 * settings.nodes + 16);
        if matches!(*standing.borrow(), Standing::Running { .. }) {
            book = book.without_courtesy();
        }
        let now = Instant::now();
        let named = settings.peers.iter().chain(&settings.relays);
        named.for_each(|address| book.add_address(address.clone(), now));
        settings.roster.iter().for_each(|member| {
            let known = member.addresses.iter().cloned();
            book.add(member.peer, known.chain(circuits::through(&settings.relays)), now);
        });
        let instance = random().map_err(|error| NetworkError::Start(io::Error::other(error)))?;
        Ok(Self {
            swarm,
            me,
            instance: u64::from_le_bytes(instance),
            schema: settings.schema.digest().0,
            strangers: Strangers::default(),
            unreached: Unreached::default(),
            standing,
            book,
            places: Places::new(&settings.relays),
            news: Vec::new(),
            news_at: None,
            news_pause: NEWS.0,
            news_told: now,
            not_before: now,
            here: BTreeSet::new(),
            machines: BTreeMap::new(),
            called: BTreeSet::new(),
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
                Some(done) = self.hellos.join_next() => {
                    if let Ok((peer, result)) = done { self.on_hello(peer, result).await }
                }
                Some(done) = self.probes.join_next() => {
                    if let Ok((met, alive)) = done { self.on_probe(met, alive).await }
                }
                Some(done) = self.running.join_next() => {
                    if let Ok((peer, id, error)) = done { self.on_end(peer, id, &error).await }
                }
                Some((teller, known)) = self.known.recv() => self.on_known(teller, known),
                command = self.commands.recv() => match command {
                    Some(Command::Call(address)) => self.book.add_address(address, Instant::now()),
                    Some(Command::Drop(peer)) => self.drop_link(peer),
                    Some(Command::Close) | None => break,
                },
                () = until(due) => self.call_those_due(),
                () = until(self.news_at) => self.spread_news(),
                () = until(self.places.again) => self.ask_relays(),
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
            SwarmEvent::NewListenAddr { address, .. } => self.on_listening(address).await,
            SwarmEvent::ConnectionEstablished { peer_id, endpoint, .. } => {
                self.on_connected(peer_id, &endpoint);
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, .. } => {
                self.machines.remove(&peer_id);
            }
            SwarmEvent::OutgoingConnectionError { error, peer_id, .. } => {
                self.on_failed_call(peer_id, error).await;
            }
            SwarmEvent::IncomingConnectionError { error, send_back_addr, .. } if is_garbled(&error) => {
                if let Some(times) = self.strangers.called_us(&send_back_addr) {
                    self.tell(Event::Garbled { address: send_back_addr, times }).await;
                }
            }
            SwarmEvent::IncomingConnectionError { error, send_back_addr, peer_id, .. } => {
                let gone = peer_id.and_then(|peer| self.settings.gone.get(&peer)).cloned();
                let reason = gone.unwrap_or_else(|| format!("{send_back_addr}: {}", chain(&error)));
                self.tell(Event::TurnedAway { peer: peer_id, reason }).await;
            }
            SwarmEvent::Behaviour(BehaviourEvent::Streams(Incoming { peer, stream })) => {
                self.on_stream(peer, stream);
            }
            SwarmEvent::Behaviour(BehaviourEvent::Mdns(mdns::Event::Discovered(found))) => {
                let now = Instant::now();
                let found = found.into_iter().filter(|(_, address)| plausible::may_be_called(address, true));
                found.for_each(|(peer, address)| self.book.add(peer, [address], now));
            }
            SwarmEvent::ListenerClosed { listener_id, reason, .. }
                if self.places.lost(listener_id, Instant::now()) =>
            {
                tracing::debug!(?reason, "no place at a relay");
            }
            SwarmEvent::Behaviour(BehaviourEvent::Punching(dcutr::Event { remote_peer_id, result })) => {
                match result {
                    Ok(connection) => self.move_to(remote_peer_id, connection),
                    Err(error) => tracing::debug!(peer = %remote_peer_id, %error, "the relay stays"),
                }
            }
            _ => {}
        }
    }

    fn on_connected(&mut self, peer_id: PeerId, endpoint: &ConnectedPoint) {
        if plausible::is_here(endpoint.get_remote_address()) {
            self.here.insert(peer_id);
        }
        if let Some(machine) = plausible::machine(endpoint.get_remote_address()) {
            self.machines.insert(peer_id, machine);
        }
        if let ConnectedPoint::Dialer { address, .. } = endpoint {
            self.called.insert(peer_id);
            self.book.name(address, peer_id, Instant::now());
            self.strangers.understood(address);
        } else {
            self.called.remove(&peer_id);
        }
        if self.is_relay(&peer_id) {
            self.places.reached(Instant::now());
        }
        // One of the two opens the conversation; the other only if that does not happen, when its time has come.
        if self.book.calls(&peer_id) {
            self.greet(peer_id);
        }
    }

    async fn on_listening(&mut self, address: Multiaddr) {
        // A relay tells where circuits begin. What leads only from this machine to itself is told where nothing else was asked for.
        let own = |address: &Multiaddr| matches!(address.iter().next(), Some(Protocol::Ip4(ip)) if ip.is_loopback());
        if self.settings.is_relay && (!own(&address) || self.settings.listen.iter().all(own)) {
            self.swarm.add_external_address(address.clone());
        }
        let full = address.with_p2p(self.me).unwrap_or_else(|address| address);
        self.tell(Event::Listening(full)).await;
    }

    fn ask_relays(&mut self) {
        let swarm = &mut self.swarm;
        self.places.ask(|address| swarm.listen_on(address).ok(), Instant::now());
    }

    /// Whether this is a relay of ours, which is no member.
    fn is_relay(&self, peer: &PeerId) -> bool {
        self.settings.relays.iter().any(|relay| circuits::relay_of(relay) == Some(*peer))
    }

    /// Whether this is somebody whom we know to belong here.
    fn is_member(&self, peer: &PeerId) -> bool {
        self.links.contains_key(peer) || self.settings.roster.iter().any(|member| member.peer == *peer)
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
            DialError::Transport(calls) => {
                let understood = !calls.iter().any(|(_, error)| is_garbled(error) || is_other_version(error));
                if let Some(peer) = peer.filter(|peer| understood && !self.links.contains_key(peer))
                    && self.unreached.failed(peer, Instant::now())
                {
                    self.tell(Event::Unreached { peer, tried: tried(&calls) }).await;
                }
                for (address, error) in calls {
                    tracing::debug!(?peer, %address, error = chain(&error), "call failed");
                    // Both may have called at once: a member is no stranger for that.
                    let member = peer.is_some_and(|peer| self.is_member(&peer));
                    if is_garbled(&error)
                        && !member
                        && let Some(times) = self.strangers.we_called(&address)
                    {
                        self.tell(Event::Garbled { address, times }).await;
                    } else if is_other_version(&error) && self.strangers.we_called(&address).is_some() {
                        let reason = format!("{address}: {}", chain(&error));
                        self.tell(Event::TurnedAway { peer, reason }).await;
                    }
                }
            }
            error => tracing::debug!(?peer, error = chain(&error), "call failed"),
        }
    }

    async fn on_end(&mut self, peer: PeerId, id: u64, error: &WireError) {
        if self.links.get(&peer).is_some_and(|current| current.link.id == id) {
            self.links.remove(&peer);
            if matches!(error, WireError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused) {
                self.book.refused(&peer, Instant::now());
            } else {
                self.book.reached(&peer, Instant::now());
            }
            self.hang_up(peer);
            if !self.is_relay(&peer) {
                self.tell(Event::Lost { peer, id, reason: chain(error) }).await;
            }
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
                Call::Peer(peer, addresses) => {
                    let call = DialOpts::peer_id(peer)
                        .condition(PeerCondition::DisconnectedAndNotDialing)
                        .addresses(addresses);
                    // Calling from the port on which we listen is for passing through routers that translate addresses, and often fails at first. A relay
                    // sees that port, and tells others to call it.
                    if self.is_relay(&peer) { call.build() } else { call.allocate_new_port().build() }
                }
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
            let _ = events.send(event.readable()).await;
        }
    }
}

/// Ready at that time, if there is one.
pub(super) async fn until(time: Option<Instant>) {
    match time {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
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
