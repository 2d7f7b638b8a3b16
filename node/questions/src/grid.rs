//! Whole numbers: features are multiplied by 2^F and rounded *before* they are summed, so sensitivities are exact.

use crate::noise::{Terms, Trust};
use crate::refusal::Refusal;

/// The most bits behind the point.
const MOST_BITS: u32 = 16;

/// Fewer bits than this are too coarse for 32-bit words.
const LEAST_BITS: u32 = 5;

/// What a Gaussian on whole numbers keeps back as its rounding kernel: r² with r = 3 (masking.md, theorem 2).
const ROUNDING_KERNEL: f64 = 9.0;

/// A total may leave its word only this many deviations out.
const DEVIATIONS: f64 = 12.0;

/// Bits behind the point, and the width of the words that are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Grid {
    /// F.
    pub bits: u32,
    /// 32 or 64.
    pub word: u32,
}

impl Grid {
    /// The finest grid on which a sum of `records` features of at most `largest`, with noise `noise`, stays in its word.
    #[must_use]
    pub fn finest(records: u64, largest: f64, noise: f64) -> Self {
        let reach = records as f64 * largest + DEVIATIONS * noise;
        let fits = |bits: u32, word: i32| libm::ldexp(reach, bits as i32) < libm::ldexp(1.0, word - 1);
        let most = |word: i32| (0..=MOST_BITS).rev().find(|&bits| fits(bits, word));
        match most(32) {
            Some(bits) if bits >= LEAST_BITS => Self { bits, word: 32 },
            _ => Self { bits: most(64).unwrap_or(0), word: 64 },
        }
    }

    /// 2^F.
    #[must_use]
    pub fn scale(&self) -> f64 {
        libm::ldexp(1.0, self.bits as i32)
    }
}

/// The parameter of each node's discrete Gaussian in grid steps: √((bκ²Δ² + 9)/h) with masks, all of it without.
///
/// # Guarantee
/// The total of n such nodes of which h are honest is a post-processed Gaussian of multiplier κ for `blocks` blocks of this
/// squared sensitivity (in grid steps, exact), up to a factor of 1 ± 10⁻⁷⁶.
///
/// # Assumes
/// `squared_sensitivity` bounds the squared ℓ₂ change of the integer sum between neighbours. The parameter is at least 16.
///
/// # Errors
/// As [`Terms::kappa`].
pub fn node_parameter(terms: &Terms, squared_sensitivity: f64, blocks: usize) -> Result<f64, Refusal> {
    terms.check()?;
    let kappa = terms.kappa()?;
    let honest = match terms.trust {
        Trust::Masked => terms.honest as f64,
        Trust::Gossip | Trust::Local => 1.0,
    };
    let variance = blocks as f64 * kappa * kappa * squared_sensitivity + ROUNDING_KERNEL;
    Ok((variance / honest).sqrt().max(16.0))
}
