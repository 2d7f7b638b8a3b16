//! Mechanisms, events and accountants: what was released, and what it costs.
//!
//! - [`mechanisms`] add noise and hand back, with the value, the [`event::DpEvent`] that says what was done. All noise comes from [`noise`].
//! - [`accountant`]s price events: basic and advanced composition, [`rdp`], [`gdp`] and privacy-loss distributions ([`pld`]).
//! - [`network`] answers how much one node of a network can learn about another.
//! - [`question`] is the front of it all: what people ask, as values that can be written down, and the answers, each with its analysis.
//!
//! Unknown is refused, never free; losses round up; nothing here reads a clock, a file or the network.
//!
//! ```
//! use privacy::accountant::Accountant;
//! use privacy::event::DpEvent;
//! use privacy::pld::PldAccountant;
//!
//! // DP-SGD: a thousand steps with noise multiplier 1 on Poisson samples of one record in a hundred.
//! let step = DpEvent::PoissonSampled { rate: 0.01, event: Box::new(DpEvent::Gaussian { noise_multiplier: 1.0 }) };
//! let mut accountant = PldAccountant::default();
//! accountant.compose(&step, 1000)?;
//! assert!(accountant.epsilon(1e-5)? < 1.83);
//! # Ok::<(), privacy::accountant::AccountError>(())
//! ```

pub mod accountant;
pub mod amplification;
pub mod clip;
pub mod event;
pub mod gdp;
pub mod mechanisms;
pub mod network;
pub mod noise;
pub mod number;
pub mod pld;
pub mod question;
pub mod rdp;
pub mod release;
pub mod root;
pub mod special;
mod vectorised;

pub use vectorised::vectorised;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
