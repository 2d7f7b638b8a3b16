//! Graphs, gossip matrices, schedules and spectra: who speaks with whom, with which weight, and how fast that mixes.
//!
//! - A [`Spec`] (`regular:100,degree=4`, `file:PATH`, `karate`) builds a [`Graph`]: undirected, simple, in compressed sparse rows, with
//!   petgraph's visitor traits on top.
//! - [`Weights`] make it a [`MixingMatrix`], which only checked constructors can make; [`Spectrum`] says how fast it mixes.
//! - A [`Schedule`] gives a matrix per step: fixed, doubling, shuffled, matched, resampled. [`WalkKernel`] moves a token.
//! - [`Drawing`] makes the picture.
//!
//! Same spec, same graph, on every machine.
//!
//! ```
//! use topology::{Spec, Spectrum, Weights};
//!
//! let graph = "hypercube:64".parse::<Spec>()?.build()?.graph;
//! let spectrum = Spectrum::of(&Weights::Metropolis.matrix(&graph)?)?;
//! // I − W has the eigenvalues 2k/(d + 1): the gap of a hypercube of six dimensions is 2/7.
//! assert!((spectrum.spectral_gap - 2.0 / 7.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod components;
mod distance;
mod draw;
mod embedded;
mod error;
mod families;
pub mod files;
mod graph;
mod hint;
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
pub use hint::Hint;
pub use kernel::{KERNEL_NAMES, Walk, WalkKernel};
pub use matrix::{MixingMatrix, Stochastic};
pub use schedule::{Schedule, ScheduleSpec};
pub use spec::{ATTEMPTS, ATTEMPTS_IF_LARGE, Built, CATALOGUE, Entry, Key, LARGE, Source, Spec, SpecError};
pub use spectrum::{Chebyshev, Spectrum};
pub use suggest::nearest;
pub use visit::{EdgeReference, EdgeReferences, EdgesOf, Visited};
pub use weights::{WEIGHTS_NAMES, Weights};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
