//! Independent coin flips for a long row of pairs, by jumping from success to success.
//!
//! V. Batagelj, U. Brandes, "Efficient generation of large random networks", Physical Review E 71 (2005): the gaps
//! between successes are geometric, so that the time is proportional to the edges and not to the pairs.

use crate::stream::Stream;

/// The positions below `count` that a coin of probability `p` picks, in increasing order.
pub(super) fn picked(count: u64, p: f64, stream: &mut Stream) -> impl Iterator<Item = u64> + '_ {
    let ln_failure = libm::log1p(-p);
    let mut next = Some(0u64);
    std::iter::from_fn(move || {
        let from = next?;
        let skipped = if p >= 1.0 {
            0
        } else if p <= 0.0 {
            u64::MAX
        } else {
            stream.failures_before_success(ln_failure)
        };
        let at = from.checked_add(skipped).filter(|&at| at < count);
        next = at.map(|at| at + 1);
        at
    })
}

/// Turns increasing positions in the list (1,0), (2,0), (2,1), (3,0) … of all pairs into pairs.
#[derive(Default)]
pub(super) struct Triangle {
    row: u64,
    row_start: u64,
}

impl Triangle {
    /// The pair at `position`, which must not be smaller than the one before.
    pub(super) fn pair(&mut self, position: u64) -> (u32, u32) {
        while position - self.row_start >= self.row {
            self.row_start += self.row;
            self.row += 1;
        }
        ((position - self.row_start) as u32, self.row as u32)
    }
}

/// Number of pairs among `nodes`.
pub(super) fn count(nodes: usize) -> u64 {
    nodes as u64 * (nodes as u64).saturating_sub(1) / 2
}
