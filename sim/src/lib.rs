//! Many participants in virtual time, in one process.
//!
//! The simulator is the other driver of [`protocol::Node`]: where the libp2p runtime has sockets, disks and clocks, this one has a queue of events, links
//! with latency, jitter, bandwidth, loss, duplication and reordering, and nodes that crash, pause, return, are slow or hostile. Everything is seeded.
//!
//! Invariant: the run log, the models and every figure depend on the setup alone, byte for byte, and not on the number of threads. How:
//!
//! - Time is cut into windows of the smallest latency of a link. What a node sends arrives in a later window, so within one window nodes do not influence
//!   each other and run in parallel (conservative parallel simulation; Chandy & Misra 1979, with the latency as lookahead).
//! - Messages for a node are handled by (arrival, window of departure, sender, order of sending), which no thread can change.
//! - Randomness is drawn per node: `links/<node>` for links, one noise stream per contribution.
//!
//! [`run::run`] runs a configuration and judges it, [`simulate`] is the bare driver:
//!
//! ```
//! use protocol::{Setup, config::Config};
//!
//! let config = Config::from_toml("nodes = 4\nrounds = 3\nprivacy.epsilon = 5", "example")?;
//! let done = sim::run::run(&Setup::new(config)?, &sim::Options::default(), &mut |_line| {}, &mut |_row| {})?;
//! let worst = &done.result.privacy.worst;
//! assert!(worst.epsilon <= 5.0 && worst.analysis == "rounds");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod availability;
pub mod baseline;
mod calendar;
mod check;
mod engine;
mod error;
mod fedem;
mod figures;
mod hooks;
mod hostile;
mod ifca;
mod links;
pub mod metrics;
mod noise;
mod outcome;
mod own;
mod parcel;
mod progress;
mod report;
pub mod run;
mod scenario;
mod shard;
mod slot;
pub mod sweep;
mod world;

pub use engine::{simulate, simulate_with};
pub use error::SimError;
pub use hooks::{Delivery, Due, Hook};
pub use hostile::{Attack, Liars};
pub use noise::{contribution_noise, mask_secret, message_noise, seeded_masks};
pub use outcome::{Ended, Finished, Models, Observation, Options};
