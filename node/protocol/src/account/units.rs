//! What algorithms share that are priced as a whole run: unit losses, and the words where there are none.

use super::tally::Tally;
use super::{ReleaseKind, Shape};

/// Views depend on what everybody received.
pub(crate) const SOME_LINES: &str = "the log has the lines of some nodes only";

/// A log that was forged, or is of another run: what it does not say is not known.
pub(crate) const NOT_THERE: &str = "a line about a round, a step or a node that the run does not have";

/// For want of a better reason.
pub(crate) const NOTHING_ELSE: &str = "no other analysis applies";

/// Why a ledger that knows more than the log makes everything `local`.
pub(crate) const LOST_LINE: &str = "a contribution without its line in the log";

/// Unit losses in μ²: each source's change relative to the least noise that hides it, and the dearest kind of contribution.
pub(crate) fn scaled(shape: &Shape, tally: &Tally, units: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let price = tally.dearest().unwrap_or_else(|| ReleaseKind::of(&shape.release)).gaussian_price();
    let exposure: Vec<f64> = (0..shape.nodes).map(|node| shape.exposure(node)).collect();
    let mu2 = |(unit, exposure): (&f64, &f64)| price.of(unit * exposure);
    units.iter().map(|row| row.iter().zip(&exposure).map(mu2).collect()).collect()
}
