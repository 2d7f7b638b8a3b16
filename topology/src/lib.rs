//! Graphs, gossip matrices, schedules and spectra.

mod error;
mod graph;
mod matrix;

pub use error::TopologyError;
pub use graph::{Dropped, Graph, MAX_EDGES, MAX_NODES};
pub use matrix::{MixingMatrix, Stochastic};
