//! Graphs on disk: lists of edges read, and edges, DOT and node-link JSON written.

mod error;
mod lines;
mod names;
mod read;
mod write;

pub use error::FileError;
pub use read::{parse_edges, read_edges};
pub use write::{write_dot, write_edges, write_json};
