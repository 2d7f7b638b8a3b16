//! Why a sum cannot be used: found before anything is passed on.

use super::exchange::{Heard, Leg};
use super::{Phase, Rounds};
use crate::agreement::TroubleKind;
use crate::core::Core;
use crate::event::FaultKind;
use crate::numbers::Numbers;

impl Rounds {
    /// Why a sum cannot be used, if so. Nothing is passed on that the next one could object to.
    pub(super) fn objection(
        &mut self,
        core: &mut Core,
        (heard, signed): (&Heard, bool),
        leg: &Leg,
    ) -> Option<(TroubleKind, &'static str)> {
        let Phase::Exchanging(exchange) = &self.phase else { return None };
        let from = self.members[leg.partner];
        let count = heard.said.count;
        if heard.said.start != self.model.digest() {
            return Some((TroubleKind::Differs, "digests differ"));
        }
        if !exchange.sum.takes(&leg.part, &heard.numbers) {
            core.fault(from, FaultKind::WrongLength, self.round);
            return Some((TroubleKind::Malformed, "a sum of another kind"));
        }
        // Masked words are uniform: there is nothing to be seen in them before the end.
        let too_large = match &heard.numbers {
            Numbers::Words(_) => false,
            Numbers::Reals(values) => {
                let largest = largest_sum(count, core.settings.largest_norm);
                // Incoming numbers are finite, and their squares add up in double precision: no NaN here.
                values.squared_norm() > largest * largest
            }
        };
        if count > exchange.largest_count(leg.partner) || too_large {
            core.fault(from, FaultKind::TooLarge, self.round);
            return Some((TroubleKind::Malformed, "a sum is larger than honest contributions can be"));
        }
        if !signed {
            core.fault(from, FaultKind::BadSignature, self.round);
            return Some((TroubleKind::Malformed, "a sum is not signed"));
        }
        None
    }
}

/// The largest norm of a sum of so many honest contributions. The slack grows with the number, by more than what rounding can add where two sums are
/// added: so no honest member passes on what the next one refuses.
fn largest_sum(count: u32, largest_norm: f64) -> f64 {
    const SLACK: f64 = 1e-6;
    if count == 0 {
        return 0.0; // Nothing was added to it: zeros.
    }
    let count = f64::from(count);
    count * largest_norm * (1.0 + SLACK * (1.0 + count.log2()))
}
