//! Graphs, gossip matrices, schedules and spectra.

mod components;
mod distance;
mod draw;
mod embedded;
mod error;
mod families;
pub mod files;
mod graph;
mod kernel;
pub mod layout;
mod matrix;
pub mod schedule;
mod spec;
pub mod spectrum;
mod stream;
mod suggest;
pub mod svg;
mod visit;
mod weights;

pub use components::Components;
pub use distance::{DistanceSummary, EXACT_WORK, UNREACHABLE};
pub use draw::{Colouring, Drawing, Scale, colour_at};
pub use embedded::Embedded;
pub use error::TopologyError;
pub use families::Family;
pub use files::FileError;
pub use graph::{Dropped, Graph, MAX_EDGES, MAX_NODES};
pub use kernel::{KERNEL_NAMES, Walk, WalkKernel};
pub use matrix::{MixingMatrix, Stochastic};
pub use schedule::{Schedule, ScheduleSpec};
pub use spec::{ATTEMPTS, ATTEMPTS_IF_LARGE, Built, CATALOGUE, Entry, Key, LARGE, Source, Spec, SpecError};
pub use spectrum::{Chebyshev, Spectrum};
pub use visit::{EdgeReference, EdgeReferences, EdgesOf, Visited};
pub use weights::{WEIGHTS_NAMES, Weights};
