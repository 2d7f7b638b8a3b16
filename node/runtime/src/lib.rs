//! The libp2p driver: the same participant as in the simulator, between real processes.
//!
//! - [`wire`]: frames, the only place where bytes of others are parsed;
//! - [`identity`], [`swarm_file`]: who a node is, and what the members of a swarm share;
//! - [`ledger`]: what a node must not forget;
//! - [`network`]: finding peers and talking to them;
//! - [`driver`]: the loop between the participant and the world.

pub mod driver;
mod gathering;
pub mod identity;
pub mod ledger;
pub mod network;
mod secret;
pub mod swarm_file;
pub mod wire;

pub use libp2p::{Multiaddr, PeerId};
pub use secret::Secret;
