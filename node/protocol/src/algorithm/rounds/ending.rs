//! How a round ends: with a step that everybody takes, void, or broken; and what it cost.

use privacy::mechanisms::grid::Words;

use super::carried::Carried;
use super::leverage::Leverages;
use super::masks::Wearing;
use super::{Phase, Rounds, Settling};
use crate::PeerIx;
use crate::contribution::{Budget, Contribution};
use crate::core::Core;
use crate::event::RunEvent;

impl Rounds {
    /// All sums are in: everybody takes the same step.
    pub(super) fn finish_round(&mut self, core: &mut Core) {
        let Phase::Exchanging(exchange) = std::mem::replace(&mut self.phase, Phase::Waiting) else { return };
        let start = self.model.digest();
        let (sum, divisor, count) = match exchange.sum {
            Carried::Reals(sum) => (sum, exchange.count, exchange.count),
            Carried::Words(total) => match self.unmasked(core, &total) {
                Some((mean, count)) => (mean, count.min(1), count),
                None => return self.on_void(core),
            },
        };
        self.model.advance(&core.settings, sum, divisor);
        let (round, epoch, end) = (self.round, self.epoch, self.model.digest());
        core.log(RunEvent::RoundDone { round, epoch, start, end, count });
        self.trace.done();
        // That everybody was in this round from the same model proves the round before.
        self.settle(core, true);
        if self.released.take().is_some() {
            let drawn = core.settings.algorithm.drawn(&core.settings.key, round, self.members.len());
            let leverages = Leverages::of_count(exchange.plan, drawn, count as usize);
            self.settling = Some(Settling { members: self.members.clone(), leverages });
        }
        let stops = self.agreeing.boundary.is_some_and(|boundary| self.next_round >= boundary);
        if stops && self.model.version() < core.settings.rounds {
            self.call_assembly(core, "somebody knocked", None);
        } else {
            self.start_round(core);
        }
    }

    /// The mean of a masked total, and how many added data; `None` where masks are left in it.
    pub(super) fn unmasked(&self, core: &Core, total: &Words) -> Option<(Vec<f32>, u32)> {
        let on = core.settings.mechanism.words()?;
        Wearing::mean(total, self.members.len(), &on.mechanism, on.divisor)
    }

    /// A masked total that is none: members were told different things, or somebody lied. It shows nothing, and cost what it would have cost anyway.
    pub(super) fn on_void(&mut self, core: &mut Core) {
        self.phase = Phase::Contributing;
        if let Some(wearing) = &mut self.wearing {
            wearing.forget();
        }
        self.call_assembly(core, "the total is void: masks are left in it", None);
    }

    /// Charges the last finished round for what was really seen, or in full if it did not end in consensus.
    pub(super) fn settle(&mut self, core: &mut Core, agreed: bool) {
        let Some(settling) = self.settling.take() else { return };
        let settings = core.settings.clone();
        let position = settling.members.binary_search(&core.me).ok();
        let source = position.filter(|_| agreed && Budget::looks_at_peers(&settings));
        let Some(source) = source else { return core.budget.charge_in_full() };
        let leverages = settling.leverages.towards_all(source, &settling.members, settings.nodes);
        core.budget.charge(&settings, &leverages);
    }

    /// Gives up the round that is under way, if one is.
    pub(super) fn break_round(&mut self, core: &mut Core, reason: &str, missing: Option<PeerIx>) {
        if !matches!(self.phase, Phase::Contributing | Phase::Exchanging(_)) {
            return;
        }
        let (round, epoch, start) = (self.round, self.epoch, self.model.digest());
        core.log(RunEvent::RoundBroken { round, epoch, start, missing, reason: reason.into() });
        if self.released.take().is_some() {
            core.budget.charge_in_full();
        }
        if !self.contribution.is_recording() {
            self.contribution = Contribution::None;
        }
    }
}
