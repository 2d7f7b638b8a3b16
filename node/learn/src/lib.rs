//! What a participant does with its own data: read and divide it, train models on it, and make gradients that may be shown.
//!
//! Private data moves through types: [`gradient::ExampleGradient`] → [`gradient::ClippedSum`] → [`gradient::Shareable`], the last only together with the event that
//! says what it cost.
//!
//! ```
//! use learn::data::DataSource;
//! use learn::gradient::{PoissonSampler, Workspace};
//! use learn::model::{Model, SoftmaxRegression};
//! use privacy::{clip::ClipNorm, noise::danger_from_seed};
//!
//! let digits = "digits".parse::<DataSource>()?.load(1)?.train;
//! let model = SoftmaxRegression::new(64, 10)?;
//! let mut noise = danger_from_seed(1, "example"); // a real node asks the operating system
//! let sample = PoissonSampler::for_batch(32.0, digits.len())?.draw(&mut noise);
//! let sum = Workspace::new(&model).clipped_sum(&model.initial(1), &digits, sample, ClipNorm::new(1.0)?)?;
//! let (gradient, event) = sum.release(1.1, &mut noise)?;
//! assert_eq!(gradient.values().len(), 650);
//! println!("what it costs: {event:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calibrate;
pub mod checkpoint;
pub mod data;
pub mod evaluation;
pub mod export;
pub mod gradient;
pub mod metrics;
pub mod model;
pub mod objective;
pub mod optimiser;
pub mod partition;
pub mod personal;
pub mod saved;
pub mod schema;
pub mod train;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
