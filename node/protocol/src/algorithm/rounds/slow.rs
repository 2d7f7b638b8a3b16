//! Members whose contributions take long.
//!
//! Who has nothing to give after [`Timeouts::slow`](crate::Timeouts::slow) gives nothing: zeros, or noise alone where the others count on it. So the round ends, with everybody in
//! it, and nobody has to decide anything. What comes out of the computation later is dropped: it was not recorded, nothing of it was sent, and it costs nothing. Until then
//! the member adds nothing to the rounds that pass, and waits in none; with the first round after that it adds data again.

use super::{Phase, Rounds};
use crate::Time;
use crate::contribution::Contribution;
use crate::core::Core;
use crate::event::RunEvent;
use crate::work::Computed;

/// How this member keeps up.
#[derive(Debug, Default)]
pub(super) struct Slow {
    /// When the contribution that is under way is too late.
    until: Time,
    /// The round of a contribution that was too late and is still being computed.
    under_way: Option<u32>,
}

impl Rounds {
    /// Asked before a contribution is begun: whether an earlier one is still being computed. Then the round goes on without.
    pub(super) fn is_late(&mut self, core: &mut Core) -> bool {
        self.slow.until = self.began.after(core.settings.timeouts.slowest());
        let is_late = self.slow.under_way.is_some();
        if is_late {
            self.sit_out(core);
        }
        is_late
    }

    /// When this member goes on without its data.
    pub(super) fn sits_out_at(&self) -> Option<Time> {
        matches!(self.contribution, Contribution::Computing { .. }).then_some(self.slow.until)
    }

    pub(super) fn contributing_tick(&mut self, core: &mut Core) {
        let Contribution::Computing { round, .. } = self.contribution else { return };
        if core.now < self.slow.until || round != self.round {
            return;
        }
        self.slow.under_way = Some(round);
        self.contribution = Contribution::None;
        let limit = core.settings.timeouts.slowest() as f64 / 1e6;
        let reason = format!("its contribution was not there within {limit} s (`timeouts.slow`)");
        core.log(RunEvent::Refused { round, reason });
        self.sit_out(core);
    }

    /// What nobody waits for any more is there: the next round can have data.
    pub(super) fn is_free_again(&mut self, computed: &Computed) {
        if computed.has_data() && self.slow.under_way == Some(computed.round) {
            self.slow.under_way = None;
        }
    }

    fn sit_out(&mut self, core: &mut Core) {
        debug_assert!(matches!(self.phase, Phase::Contributing), "only who would contribute sits out");
        self.rest_before(core, self.round.saturating_add(1));
        self.add_no_data(core);
    }
}
