//! One participant as a state machine: what it sends, mixes and records.
//!
//! A [`Node`] takes [`handle(now, Input)`](Node::handle) and yields [`poll_output`](Node::poll_output) until there is none. It has no IO, no clock, no thread
//! and no global randomness, so the simulator and the libp2p runtime drive the very same code:
//!
//! 1. feed an [`Input`];
//! 2. drain the [`Output`]s: compute, record, send, log, save;
//! 3. ask [`Node::wake_at`] when to come back with [`Input::Tick`] if nothing else happens.
//!
//! A driver in a few lines, for a swarm of one:
//!
//! ```
//! use privacy::noise::danger_from_seed;
//! use protocol::config::Config;
//! use protocol::work::{Desk, NodeState, Room};
//! use protocol::{Input, Node, Output, Setup, Time};
//!
//! let setup = Setup::new(Config::from_toml("nodes = 1\nrounds = 2\nprivacy.noise_multiplier = 1", "example")?)?;
//! let mut node = Node::new(0, setup.settings.clone(), None);
//! let (mut room, mut state, mut noise) = (Room::default(), NodeState::default(), danger_from_seed(1, "example"));
//! let (mut inputs, mut done) = (vec![Input::Start], false);
//! while let Some(input) = inputs.pop() {
//!     node.handle(Time(0), input);
//!     while let Some(output) = node.poll_output() {
//!         match output {
//!             Output::Compute(job) => {
//!                 let desk = &mut Desk { node: 0, position: 0, room: &mut room, state: &mut state };
//!                 inputs.push(Input::Computed(setup.door.contribute(desk, &job, &mut noise)?));
//!             }
//!             Output::Record(record) => inputs.push(Input::Recorded(record.id)), // after it is on disk
//!             Output::Done => done = true,
//!             Output::Send { .. } | Output::Log(_) | Output::Save(_) | Output::Forgotten(_) => {}
//!         }
//!     }
//! }
//! assert!(done);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: a contribution is sent only after [`Input::Recorded`] said that its privacy event is durable; what a peer sends can cost a
//! [`RunEvent::PeerFault`] but never a panic; the same inputs give the same outputs, bit for bit.

pub mod account;
pub mod agreement;
pub mod algorithm;
pub mod config;
mod contribution;
mod core;
pub mod folder;
pub mod judge;
pub mod log;
mod message;
mod node;
mod numbers;
pub mod personal;
mod plausible;
mod recipients;
mod result;
mod settings;
mod setup;
mod time;
mod values;
pub mod work;

pub use algorithm::gossip::GossipSettings;
pub use algorithm::rounds::{RoundsSettings, first_model};
pub use algorithm::walk::WalkSettings;
pub use algorithm::{Algorithm, gossip, rounds, walk};
use log::event;
pub use log::{FaultKind, LogLine, RunEvent};
pub use message::{Body, Message};
pub use node::{Disk, Input, Node, Output, Record, Snapshot, UNKNOWN_ROUND};
pub use numbers::{Load, Numbers, Words};
pub use recipients::Recipients;
pub use result::RunResult;
pub use settings::{BudgetRule, RunId, Scope, Settings, StepRule, Timeouts};
pub use setup::{ExternalError, Renewals, Setup, SetupError, recommended};
pub use time::Time;
pub use values::{Digest, Values};

pub use topology::Hint;

/// The position of a participant in the topology, from 0. The libp2p identity behind it is known to the driver only.
pub type PeerIx = u32;

/// Members that lie, for tests and simulations.
pub mod danger {
    pub use crate::algorithm::rounds::Tongue;
}

/// Masks of totals: keys, and what they hide.
pub mod masks {
    pub use crate::algorithm::rounds::{
        Bared, Flaw, Hidden, Lie, MaskKey, MaskSecret, MaskSettings, Masks, inspection,
    };
}
