//! Private gradients: what may leave a participant, and what it costs.
//!
//! Data move one way through four types:
//!
//! ```text
//! Sample ──Workspace::clipped_sum──▶ ClippedSum ──release(noise)──▶ (Shareable, DpEvent)
//! ExampleGradient ──clip───────────────┘
//! ```
//!
//! - [`Sample`]: a Poisson sample of the records, drawn by the object that the accountant asks for the rate. It is used up
//!   by the gradient, so that no sample is used twice.
//! - [`ExampleGradient`]: the unclipped contribution of one protected unit (an example; at node level a node's whole
//!   update). It cannot be serialised, copied or printed.
//! - [`ClippedSum`]: contributions clipped to norm C and added up. Still not private, and not serialisable either.
//! - [`Shareable`]: after noise. Only [`ClippedSum::release`] makes one, and it hands back the event to be accounted for.
//!
//! At record level per-example gradients are never formed (see [`crate::model::Pass`]); [`rounding`] says what single
//! precision does to the clip bound and how the noise makes up for it.

mod adjacency;
mod clipped;
mod error;
mod example;
mod lane;
mod persons;
pub mod rounding;
mod rows;
mod sampling;
mod shareable;
mod workspace;

pub use adjacency::Adjacency;
pub use clipped::ClippedSum;
pub use error::GradientError;
pub use example::ExampleGradient;
pub use persons::Persons;
pub use rows::{RowSum, TRAINER_SLACK, TrainerSum};
pub use sampling::{PoissonSampler, Sample, SamplingRate};
pub use shareable::Shareable;
pub use workspace::Workspace;
