//! Mechanisms: each releases a value with noise, together with the event that an accountant prices.
//!
//! | mechanism | input | guarantee |
//! |---|---|---|
//! | [`Gaussian`] | vectors with an L2 sensitivity | exactly μ-GDP with μ = Δ/σ |
//! | [`Laplace`] | vectors with an L1 sensitivity | ε-DP |
//! | [`Exponential`] | candidates with scores | ε-DP |
//! | [`RandomizedResponse`], [`KaryResponse`] | one answer per person | ε-local DP |
//! | [`EuclideanLaplace`] | points in Rⁿ | ε·d-privacy |
//! | [`discrete::DiscreteGaussian`], [`discrete::DiscreteLaplace`] | integers | ρ-zCDP, ε-DP, exactly |
//! | [`grid::GridGaussian`] | vectors, rounded to a grid | a rounded Gaussian, exactly; sums modulo 2³² or 2⁶⁴ |
//! | [`MessageNoise`] | messages between nodes | priced with the whole view |
//!
//! Noise comes from a [`NoiseSource`](crate::noise::NoiseSource); parameters that are NaN, infinite, zero or
//! negative are refused when a mechanism is built, and values that are not finite when they are released.
//!
//! # Floating point
//! All but the discrete mechanisms and those on a grid compute with doubles while their theorems speak of real numbers. The known gaps are
//! listed in [`noise`](crate::noise#known-gaps-of-floating-point-noise); the discrete mechanisms and those on a grid have none.
//!
//! # Example
//! ```
//! use privacy::mechanisms::Gaussian;
//! use privacy::noise::SystemNoise;
//!
//! let mut noise = SystemNoise::new()?;
//! // A sum to which each person contributes a vector of norm at most 1, at (ε, δ) = (2, 1e-6).
//! let gaussian = Gaussian::calibrated(2.0, 1e-6, 1.0)?;
//! let release = gaussian.release(&[120.0, 75.5], &mut noise)?;
//! println!("{:?}, which costs {:?}", release.value, release.event);
//! assert!(release.noise_is_private);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod discrete;
pub(crate) mod error;
mod euclidean_laplace;
mod exponential;
mod gaussian;
pub mod grid;
mod kary_response;
mod laplace;
mod message_noise;
mod randomized_response;
mod rounding;

#[cfg(test)]
pub(crate) mod testing;

pub use error::MechanismError;
pub use euclidean_laplace::EuclideanLaplace;
pub use exponential::Exponential;
pub use gaussian::Gaussian;
pub use kary_response::KaryResponse;
pub use laplace::Laplace;
pub use message_noise::MessageNoise;
pub use randomized_response::RandomizedResponse;

use crate::event::DpEvent;

/// What a mechanism gives: the noisy value, and what was done, for the accountant.
#[must_use = "the event must be recorded before the value is sent"]
#[derive(Clone, Debug, PartialEq)]
pub struct Release<T> {
    /// The value with its noise.
    pub value: T,
    /// What was done. Price it with an accountant and record it before anything leaves the process.
    pub event: DpEvent,
    /// Whether the noise came from a source that nobody else can predict. If not, the release protects nobody,
    /// whatever the event costs.
    pub noise_is_private: bool,
}
