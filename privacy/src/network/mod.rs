//! How much can node `v` learn about node `u`, given the messages that `v` saw?

mod basis;
mod consensus;
pub mod contractive;
mod dense;
mod error;
pub mod linear;
pub mod message_noise;
pub mod rounds;
mod run;
mod sparse;
#[cfg(test)]
mod testing;

pub use error::NetworkError;
pub use run::{Phase, Run, Step, Watchers};
