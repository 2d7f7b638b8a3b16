//! The network accountant: how much can node `v` learn about node `u`, given the messages that `v` saw?
//!
//! A loss is kept as μ² (Gaussian DP, squared): it adds up under composition, scales with (Δ/σ)², and converts exactly to (ε, δ) by
//! [`crate::gdp`]. All functions here give it for Δ = σ = 1.
//!
//! Describe what happened as a [`Run`] (phases of contributions, mixing steps with the weights really applied), name the
//! [`Watchers`], and price it with one of the analyses:
//!
//! | analysis | assumes | what it gives |
//! |---|---|---|
//! | [`Analysis::Local`] | nothing about the watchers | composition of the node's own noisy releases |
//! | [`rounds`] | each round ends in exact consensus | exact loss of each averaging round, added up, for any model |
//! | [`doubling`] | as rounds, on one schedule | the same in closed form, for many rounds of many nodes |
//! | [`masked`] | masks between members outside the coalition are unknown to it | 1/h a round, however it goes; [`inspection`] prices a look into one |
//! | [`gopa`] | as masked, with pairwise noise instead of masks | exact for one round of averaging |
//! | [`contractive`] | the local update map is ρ-Lipschitz | a sound bound for gossip SGD without consensus |
//! | [`walk`] | as contractive with ρ = 1 | a sound bound for a token's path |
//! | [`linear`] | contributions do not depend on hidden states | exact for linear-Gaussian protocols; **not** a guarantee for SGD |
//! | [`published`] | | what papers print, for comparison |
//!
//! ```
//! use privacy::network::{Pricing, Run, Watchers, losses};
//! use topology::{Graph, Weights};
//!
//! // Five nodes on a path, one contribution each, then three gossip steps. What does the first node learn?
//! let (graph, _) = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)])?;
//! let run = Run::on_graph(Weights::Metropolis.matrix(&graph)?, 3, 1)?;
//! let watcher = Watchers::new(&[0], 5)?;
//! let mu2 = &losses(&run, &[watcher], Pricing::Rounds, &|_| {})?[0];
//! // It can solve for the inputs of nodes 1, 2 and 3; the fourth is still out of reach.
//! assert!(mu2[1] > 0.999 && mu2[3] > 0.999 && mu2[4] == 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod basis;
mod block;
pub mod calibrate;
mod consensus;
pub mod contractive;
mod conversion;
mod dense;
pub mod doubling;
mod error;
pub mod gopa;
pub mod inspection;
pub mod linear;
pub mod masked;
pub mod message_noise;
mod pairwise;
pub mod published;
pub mod rounds;
mod run;
mod sparse;
mod symmetry;
#[cfg(test)]
mod testing;
mod waiting;
pub mod walk;

pub use analysis::Analysis;
pub(crate) use conversion::Converter;
pub use conversion::{epsilons, epsilons_of};
pub use error::NetworkError;
pub use pairwise::{Pricing, losses, losses_into};
pub use run::{Phase, Run, Step, Watchers};
pub use waiting::Waiting;
