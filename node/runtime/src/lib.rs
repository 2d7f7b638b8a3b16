//! The libp2p driver: the same participant as in the simulator, between real processes.
//!
//! - [`wire`]: frames, the only place where bytes of others are parsed;
//! - [`identity`], [`swarm_file`]: who a node is, and what the members of a swarm share;
//! - [`schema`]: what the records of a node look like;
//! - [`ledger`]: what a node must not forget;
//! - [`reach`]: where a node can be reached;
//! - [`gathering`]: who takes part;
//! - [`network`]: finding peers and talking to them;
//! - [`asking`]: questions beside the run, and what they may cost;
//! - [`trainer`]: a foreign program that computes contributions;
//! - [`driver`]: the loop between the participant and the world.
//!
//! What members of a swarm share is one file:
//!
//! ```
//! use protocol::config::Config;
//! use runtime::swarm_file::SwarmFile;
//! use runtime::Secret;
//!
//! let folder = tempfile::tempdir()?;
//! let config = Config::from_toml("name = \"clinic\"\nnodes = 3\nbatch_size = 32", "example")?;
//! let file = SwarmFile {
//!     name: config.name.clone(),
//!     nodes: config.nodes,
//!     config: config.to_toml(),
//!     secret: Secret::generate()?,
//!     roster: Vec::new(),
//!     schema: None,
//!     relays: Vec::new(),
//!     renewals: Default::default(),
//! };
//! file.create(&folder.path().join("clinic.toml"))?;
//! assert_eq!(SwarmFile::load(&folder.path().join("clinic.toml"))?.nodes, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod asking;
pub mod data_ledger;
pub mod driver;
pub mod gathering;
pub mod identity;
pub mod ledger;
pub mod network;
pub mod reach;
pub mod renewals;
pub mod schema;
mod secret;
pub mod swarm_file;
pub mod trainer;
pub mod wire;

pub use libp2p::{Multiaddr, PeerId};
pub use secret::Secret;
