//! Finding peers and talking to them. No decision of the protocol is made here.
//!
//! One task owns the libp2p swarm. Between two nodes there is one *link*: a long-lived stream, opened by one of them as their identities say, on which both
//! prove that they belong to the swarm and then exchange frames. What is bounded: connections, pending handshakes, addresses that others tell, frames
//! that wait for a peer, the size of a frame, and the time that each step may take.

mod admission;
mod behaviour;
mod book;
#[doc(hidden)]
pub mod channel;
pub(crate) mod circuits;
mod datagrams;
mod difference;
mod event_loop;
#[doc(hidden)]
pub mod hearing;
mod hello;
mod link;
mod plausible;
mod strangers;
mod streams;
mod transport;
mod words;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use libp2p::{Multiaddr, PeerId};
use protocol::Digest;
use protocol::Hint;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::identity::Identity;
use crate::schema::Schema;
use crate::secret::Secret;
use crate::swarm_file::Member;
use crate::wire::{Frame, Limits, Refusal, Standing};

#[cfg(test)]
pub(crate) use difference::differences;
pub use hello::HelloError;
pub use link::{Held, Link, Patience, SendError};

/// Events that wait for the driver; behind it the readers wait, and behind them the peers.
const EVENTS: usize = 256;

/// What a network needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who we are.
    pub identity: Identity,
    /// What members know.
    pub secret: Secret,
    /// What this node is called; empty where it has no name.
    pub name: String,
    /// Name of the run.
    pub run: String,
    /// Number of members.
    pub nodes: usize,
    /// Digest of the configuration that all share.
    pub digest: Digest,
    /// The configuration as TOML, for naming differences.
    pub config: String,
    /// The form of this node's records.
    pub schema: Arc<Schema>,
    /// Largest frame of a member.
    pub limits: Limits,
    /// When a link is dead.
    pub patience: Patience,
    /// Where to listen.
    pub listen: Vec<Multiaddr>,
    /// Whom to call.
    pub peers: Vec<Multiaddr>,
    /// The members, where they are known beforehand: nobody else is let in.
    pub roster: Vec<Member>,
    /// Who was a member and is none any more, and in words since when.
    pub gone: BTreeMap<PeerId, String>,
    /// Whether to look for peers on the local network.
    pub mdns: bool,
    /// Relays through which this node can be reached, each with its identity.
    pub relays: Vec<Multiaddr>,
    /// Whether this is a relay: no member, it passes on what members say to each other and tells them of each other.
    pub is_relay: bool,
    /// Where a relay can be called, beside where it listens: behind a router that passes a port on, or by name.
    pub announce: Vec<Multiaddr>,
}

/// What happens on the network.
#[derive(Debug)]
pub enum Event {
    /// We can be reached here.
    Listening(Multiaddr),
    /// A conversation with a member began.
    Linked {
        /// To send on it.
        link: Link,
        /// Where the peer stands.
        standing: Standing,
        /// What the peer calls itself.
        name: Option<String>,
    },
    /// A member said something.
    Frame {
        /// Who.
        peer: PeerId,
        /// On which link.
        id: u64,
        /// What.
        frame: Frame,
        /// The room that it takes at this link; the peer may send more when it is dropped.
        held: Held,
    },
    /// A conversation ended.
    Lost {
        /// With whom.
        peer: PeerId,
        /// Which.
        id: u64,
        /// Why.
        reason: String,
    },
    /// A peer does not let us in.
    Refused {
        /// Who.
        peer: PeerId,
        /// Kind of reason.
        refusal: Refusal,
        /// In words.
        reason: String,
    },
    /// A member of the swarm has another configuration, or data of another form: it was not let in, and does not let us in.
    Differs {
        /// Who.
        peer: PeerId,
        /// What differs.
        reason: String,
    },
    /// Somebody was not let in.
    TurnedAway {
        /// Who, where that is known.
        peer: Option<PeerId>,
        /// Why.
        reason: String,
    },
    /// Somebody answered or called, and could not be understood.
    Garbled {
        /// Where.
        address: Multiaddr,
        /// How often so far.
        times: u32,
    },
    /// Others told us of somebody whom we have called in vain from the beginning.
    Unreached {
        /// Whom.
        peer: PeerId,
        /// Where, and how that ended.
        tried: String,
    },
    /// Another process answers with our own identity.
    Twin {
        /// Where it listens.
        address: Multiaddr,
    },
}

/// The running network.
#[derive(Debug)]
pub struct Network {
    /// What happens.
    pub events: mpsc::Receiver<Event>,
    control: Control,
    task: JoinHandle<()>,
}

/// Tells the network what to do.
#[derive(Debug, Clone)]
pub struct Control {
    calls: mpsc::Sender<Command>,
    standing: watch::Sender<Standing>,
}

/// What the network can be told.
#[derive(Debug)]
pub(crate) enum Command {
    Call(Multiaddr),
    Drop(PeerId),
    Close,
}

impl Control {
    /// Calls an address, again and again until it answers.
    pub fn call(&self, address: Multiaddr) {
        // Full only where somebody types faster than a network dials.
        let _ = self.calls.try_send(Command::Call(address));
    }

    /// Ends the conversation with a peer.
    pub fn drop_peer(&self, peer: PeerId) {
        let _ = self.calls.try_send(Command::Drop(peer));
    }

    /// The run has begun: from now on only these are let in.
    pub fn begin(&self, standing: Standing) {
        self.standing.send_replace(standing);
    }
}

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// An address that cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// Which.
        address: Multiaddr,
        /// Why.
        source: io::Error,
    },
    /// Sockets, name servers or randomness are missing.
    #[error("cannot start the network")]
    Start(#[source] io::Error),
}

impl Hint for NetworkError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Listen { .. } => {
                Some("an address looks like `/ip4/0.0.0.0/tcp/7000`; port 0 takes a free one".into())
            }
            Self::Start(_) => None,
        }
    }
}

impl Network {
    /// Starts listening and calling. Needs a tokio runtime.
    ///
    /// # Errors
    /// An address that cannot be listened on, or a machine without sockets.
    pub fn start(settings: Settings, standing: Standing) -> Result<Self, NetworkError> {
        let (to_driver, events) = mpsc::channel(EVENTS);
        let (calls, commands) = mpsc::channel(EVENTS);
        let (standing, seen) = watch::channel(standing);
        let event_loop = event_loop::EventLoop::new(settings, to_driver, commands, seen)?;
        let task = tokio::spawn(event_loop.run());
        Ok(Self { events, control: Control { calls, standing }, task })
    }

    /// To tell it what to do.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Ends all conversations; what was queued is still written, for a moment.
    pub async fn close(self) {
        let Self { mut events, control, task } = self;
        // Others may hold a control too, so that the end must be said.
        let said = control.calls.send(Command::Close);
        let drain = async { while events.recv().await.is_some() {} };
        tokio::join!(drain, async {
            // A task that ended before, or panicked, needs no telling.
            let _ = said.await;
            let _ = task.await;
        });
    }
}
