//! Rounds of plain mixing until disagreement has fallen to a tolerance.

use super::Spectrum;
use super::chebyshev::Chebyshev;
use crate::error::TopologyError;

impl Spectrum {
    /// The fewest rounds T with `max(|λ_2|, |λ_n|)^T ≤ tolerance`; `None` where disagreement never falls.
    ///
    /// # Errors
    /// A tolerance that does not lie between zero and one.
    pub fn mixing_rounds(&self, tolerance: f64) -> Result<Option<u64>, TopologyError> {
        check(tolerance)?;
        let log = libm::log1p(-self.contraction_gap());
        // Without contraction at all `log` is zero, with a full one it is −∞.
        Ok((log < 0.0).then(|| fewest(libm::log(tolerance) / log)))
    }

    /// The fewest rounds after which Chebyshev-accelerated mixing is within the tolerance; `None` where it never
    /// is. See [`Chebyshev`].
    ///
    /// # Errors
    /// A tolerance that does not lie between zero and one.
    pub fn chebyshev_rounds(&self, tolerance: f64) -> Result<Option<u64>, TopologyError> {
        check(tolerance)?;
        Ok(self.chebyshev().and_then(|chebyshev| chebyshev.rounds(tolerance)))
    }

    /// The accelerated recurrence for this spectrum; `None` where plain mixing does not contract.
    pub fn chebyshev(&self) -> Option<Chebyshev> {
        Chebyshev::new(self.contraction_gap())
    }

    /// `1 − max(|λ_2|, |λ_n|)`, without the cancellation of computing it from λ_2.
    pub fn contraction_gap(&self) -> f64 {
        let from_above = if self.lambda2 >= 0.0 { self.spectral_gap } else { 1.0 + self.lambda2 };
        let from_below = 1.0 - self.lambda_min.abs();
        from_above.min(from_below).clamp(0.0, 1.0)
    }
}

fn check(tolerance: f64) -> Result<(), TopologyError> {
    if tolerance > 0.0 && tolerance < 1.0 {
        Ok(())
    } else {
        Err(TopologyError::BadTolerance { value: tolerance })
    }
}

/// The least whole number that is not below `exact`, where rounding of an exact whole number does not add one.
pub(super) fn fewest(exact: f64) -> u64 {
    ((exact * (1.0 - 1e-12)).ceil() as u64).max(1)
}
