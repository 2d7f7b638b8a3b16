//! The door for contributions: whatever a node gives to a run, a gradient, an update, a value, comes through [`Work`].
//!
//! Data and noise live here, with the driver; the state machine never sees either. What comes back is a [`Given`] and the event that it cost.
//! To add a kind of contribution is to write one file beside these and to hand its [`Work`] to [`Setup`](crate::Setup); simulator, real
//! driver and schema know the trait only. Masks come after the door.

mod built_in;
mod desk;
mod differing;
mod drift;
pub mod external;
mod form;
mod given;
mod layout;
mod mechanism;
mod node;
mod quantile;
pub mod question;
mod record;
mod slots;
mod state;
mod value;

use std::sync::Arc;

pub use learn::gradient::Adjacency;
use learn::train::TrainError;
use privacy::event::DpEvent;
use privacy::mechanisms::grid::NoisyWords;
use privacy::noise::NoiseSource;

pub use built_in::{BuiltIn, Unit, WorkSettings, contribute};
pub use desk::{Desk, Room};
pub use differing::Differing;
pub use drift::Drift;
pub use form::Form;
pub use given::{Given, carry_out};
pub use layout::Layout;
pub use mechanism::{Mechanism, OnGrid};
pub use quantile::{Adaptive, Quantile};
pub use record::{CommonScale, MOST_LANES};
pub use slots::{Choices, Slots, clipped_sums, own_slot};
pub use state::{NodeState, StateError};

use crate::PeerIx;
use crate::values::Values;

/// How the nodes of a run make their contributions: one object for all nodes of a process, which share it between threads.
pub trait Work: std::fmt::Debug + Send + Sync {
    /// How many nodes of this process it serves: all in a simulation, one elsewhere.
    fn nodes(&self) -> usize;

    /// What is contributed, and the form of the records it is made of: the same at all nodes of a run.
    fn form(&self) -> Form;

    /// How many records a node has.
    fn records(&self, node: usize) -> usize;

    /// Makes the contribution of the node at `desk` for `job`.
    ///
    /// # Guarantee
    /// The contribution is the output of the mechanism that `release` describes, on the node's data and, beyond that, a function of
    /// the job and of the node's state only.
    ///
    /// # Assumes
    /// The job's parameters depend on the private data through earlier releases only. The event is recorded before the contribution is sent.
    ///
    /// # Errors
    /// Data that do not fit the model, or settings outside their range.
    fn contribute(
        &self,
        desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError>;

    /// Noise without data, as much as a contribution has: who has no data or no budget hides the others with it.
    ///
    /// # Guarantee
    /// It depends on no data.
    ///
    /// # Assumes
    /// `noise` is secret.
    fn noise_alone(&self, job: &Job, on: &OnGrid, noise: &mut dyn NoiseSource) -> NoisyWords {
        on.mechanism.noise_alone(job.params.as_slice().len(), noise)
    }
}

/// What is to be computed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Round; for a walk the hop.
    pub round: u32,
    /// The model at which the contribution is wanted.
    pub params: Values,
    /// Whose contributions are added up with this one, in increasing order; `None` where there is no such roster.
    pub among: Option<Arc<[PeerIx]>>,
    /// How it is made private.
    pub mechanism: Mechanism,
    /// Noise is wanted and no data: it hides the others' and costs nothing.
    pub only_noise: bool,
}

impl Job {
    /// A contribution with noise on real numbers, for a run without a roster.
    pub fn new(round: u32, params: Values) -> Self {
        Self { round, params, among: None, mechanism: Mechanism::Reals, only_noise: false }
    }
}

/// What came out.
#[derive(Debug)]
pub struct Computed {
    /// Round of the job.
    pub round: u32,
    /// The noised contribution: a gradient, at node level the negative of an update, or the value itself for `mean`.
    pub contribution: Given,
    /// What it costs.
    pub release: DpEvent,
    /// Loss before the step on the node's own data; not private. `None` for `mean`, or if it was not asked for.
    pub loss: Option<f64>,
}

impl Computed {
    /// Whether there are data in it: noise alone costs nothing.
    pub fn has_data(&self) -> bool {
        !matches!(&self.release, DpEvent::Sequence { events } if events.is_empty())
    }
}
