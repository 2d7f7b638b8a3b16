//! Graphs, gossip matrices, schedules and spectra.

mod error;
mod graph;
mod matrix;
pub mod schedule;
mod spectrum;
mod suggest;
mod weights;

pub use error::TopologyError;
pub use graph::{Dropped, Graph, MAX_EDGES, MAX_NODES};
pub use matrix::{MixingMatrix, Stochastic};
pub use schedule::{Schedule, ScheduleSpec};
pub use weights::{WEIGHTS_NAMES, Weights};
