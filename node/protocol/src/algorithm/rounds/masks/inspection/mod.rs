//! Inspections of masked rounds: whose contribution is too long, from k public random projections of it.
//!
//! The pure part: what is projected on ([`Rows`]), what a member opens ([`Opening`]), and what follows from all openings ([`look`]). When to look, who fixes the seed and
//! what it costs stand elsewhere; prices are [`privacy::network::inspection`]'s.
//!
//! Invariant: nothing here depends on anything but the seed, the masked words and what was published, so that everybody comes to the same finding.

mod finding;
mod rows;

use std::collections::BTreeMap;

use privacy::mechanisms::grid::{WordSize, Words};
use privacy::network::{NetworkError, inspection};

use crate::PeerIx;

pub use finding::{Finding, look};
pub use rows::{Rows, RowsError};

/// What a member publishes when its round is looked into.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// R′s: projections of its masked words.
    pub own: Words,
    /// R′ of each stream that it shares, by the other end; the smaller end adds it.
    pub pairs: BTreeMap<PeerIx, Words>,
}

/// How long an honest contribution may be, and its projections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yardstick {
    size: WordSize,
    directions: usize,
    /// aℓ²/2: the largest squared length of projections.
    most: f64,
}

impl Yardstick {
    /// For `directions` projections of `dimension` numbers, none of which is longer than `longest` steps, with noise of parameter s = `noise`.
    ///
    /// # Guarantee
    /// An honest contribution is above it with probability at most [`inspection::named_in_error`]: e^(−t) each for the length of its noise and for noise along what it
    /// hides, and 2e^(−t) for the projections of each draw, since rows are drawn again ([`inspection::length_squared`], [`inspection::edge`]).
    ///
    /// # Assumes
    /// Rows drawn after the words were fixed; a grid so coarse that projections of this length do not wrap ([`inspection::steps_at_most`]).
    ///
    /// # Errors
    /// If there is no direction, or t is not positive and finite.
    pub fn new(
        size: WordSize,
        (directions, dimension): (u64, u64),
        (longest, noise): (f64, f64),
        t: f64,
    ) -> Result<Self, NetworkError> {
        let length2 = inspection::length_squared(longest, noise, dimension, t);
        let most = inspection::edge(directions, t)? * length2 / 2.0;
        Ok(Self::of_most(size, directions as usize, most))
    }

    /// With this largest squared length.
    pub(crate) fn of_most(size: WordSize, directions: usize, most: f64) -> Self {
        Self { size, directions, most }
    }

    /// The largest squared length.
    pub(crate) fn most(&self) -> f64 {
        self.most
    }

    /// Projections of nothing.
    fn nothing(&self) -> Words {
        Words::zeros(self.size, self.directions)
    }

    /// Whether these are projections of something longer than honest contributions are.
    fn is_passed_by(&self, projections: &Words) -> bool {
        projections.centred().map(|x| x as f64 * x as f64).sum::<f64>() > self.most
    }
}

#[cfg(test)]
mod tests;
