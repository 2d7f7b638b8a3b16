//! How a round ends: with a step that everybody takes, void, or broken; and what it cost.

use privacy::mechanisms::grid::Words;

use super::carried::Carried;
use super::leverage::Leverages;
use super::masks::{Opening, Wearing};
use super::{Phase, Rounds, Settling};
use crate::PeerIx;
use crate::contribution::{Budget, Contribution};
use crate::core::Core;
use crate::event::RunEvent;

impl Rounds {
    /// All sums are in: everybody takes the same step.
    pub(super) fn finish_round(&mut self, core: &mut Core) {
        let Phase::Exchanging(exchange) = std::mem::replace(&mut self.phase, Phase::Waiting) else { return };
        let (sum, divisor, count) = match exchange.sum {
            Carried::Reals(sum) => (sum, exchange.count, exchange.count),
            Carried::Words(total) => match self.unmasked(core, &total) {
                Some(mean) if mean.too_long && self.may_look(core) => return self.look_into(core),
                Some(Mean { mean, count, .. }) => (mean, count.min(1), count),
                None => return self.on_void(core),
            },
        };
        self.step(core, (sum, divisor), count);
        if self.released.take().is_some() {
            let drawn = core.settings.algorithm.drawn(&core.settings.key, self.round, self.members.len());
            let leverages = Leverages::of_count(exchange.meetings.plan, drawn, count as usize);
            debug_assert!(self.settling.is_none(), "the step settles the round before: one is open at most");
            self.settling = Some(Settling { members: self.members.clone(), leverages });
        }
        if self.model.version() < core.settings.rounds && self.tosses(core) {
            return self.call_assembly(core, "this node's coin says to look into the round", None);
        }
        self.next(core);
    }

    /// The step that all take, with the sum of so many contributions; `count` added data.
    pub(super) fn step(&mut self, core: &mut Core, (sum, divisor): (Vec<f32>, u32), count: u32) {
        let start = self.model.digest();
        self.model.advance(&core.settings, sum, divisor);
        let (round, epoch, end) = (self.round, self.epoch, self.model.digest());
        core.log(RunEvent::RoundDone { round, epoch, start, end, count });
        self.trace.done();
        self.unfinished = self.round.saturating_add(1);
        // That everybody was in this round from the same model proves the round before.
        self.settle(core, true);
    }

    /// After a round: the next one, or a stop for somebody who knocked.
    pub(super) fn next(&mut self, core: &mut Core) {
        let stops = self.agreeing.boundary.is_some_and(|boundary| self.next_round >= boundary);
        if stops && self.model.version() < core.settings.rounds {
            self.call_assembly(core, "somebody knocked", None);
        } else {
            self.start_round(core);
        }
    }

    /// The mean of a masked total; `None` where masks are left in it.
    fn unmasked(&self, core: &Core, total: &Words) -> Option<Mean> {
        let on = core.settings.mechanism.words()?;
        let members = self.members.len();
        let settings = &core.settings;
        let drawn = settings.algorithm.drawn(&settings.key, self.round, members);
        let contributors = drawn.map_or(members, |drawn| drawn.iter().filter(|one| **one).count());
        let (mut mean, count) = Wearing::mean(total, contributors, on)?;
        let too_long =
            shorten(&mut mean, members as f64 * core.settings.largest_norm / f64::from(count.max(1)));
        Some(Mean { mean, count, too_long })
    }

    /// What this member adds to its words where it is one that lies.
    pub(super) fn lie(&self, core: &Core, words: &mut Words, opening: &mut Opening) {
        let Some((lie, _)) = self.lies.filter(|(_, from)| core.now >= *from) else { return };
        let mut others = self.members.iter().copied().filter(|&member| member != core.me);
        let is_masked =
            |&other: &PeerIx| !opening.unmasked.contains(&(core.me.min(other), core.me.max(other)));
        if let Some(other) = others.find(is_masked) {
            lie.tell(words, opening, (core.me, other), longest_each(core).unwrap_or(0));
        }
    }

    /// A masked total that is none: members were told different things, or somebody lied. It shows nothing, and cost what it would have cost anyway. What
    /// everybody states about it names who lied, or two of whom one did.
    pub(super) fn on_void(&mut self, core: &mut Core) {
        self.trace.done();
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
        if !matches!(self.phase, Phase::Contributing | Phase::Exchanging(_) | Phase::Hearing(_)) {
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

/// A number, in steps, of which a contribution has as many as it has parameters and is as long as an honest one can be.
fn longest_each(core: &Core) -> Option<i64> {
    let on = core.settings.mechanism.words()?;
    let each = core.settings.largest_norm / libm::sqrt(core.settings.initial.len() as f64);
    Some((each * on.divisor? / on.mechanism.grid().real(1)) as i64)
}

/// The mean of a masked total.
struct Mean {
    mean: Vec<f32>,
    /// How many added data.
    count: u32,
    /// Whether it was longer than contributions of honest members can come to, and is scaled down to that.
    too_long: bool,
}

/// Scales a mean down to what contributions of honest members can come to: words under masks have no bound of their own, so that one member could add anything. It has
/// everybody's room now, and no more.
fn shorten(mean: &mut [f32], largest: f64) -> bool {
    let square: f64 = mean.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    let norm = libm::sqrt(square);
    if norm > largest {
        let scale = largest / norm;
        mean.iter_mut().for_each(|value| *value = (f64::from(*value) * scale) as f32);
    }
    norm > largest
}
