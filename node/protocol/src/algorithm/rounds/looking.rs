//! Looks into masked rounds, as one member takes part in them. The stages are those of [`agreement`](crate::agreement): each decision begins the next assembly.
//!
//! Invariants: nothing is projected before what it costs is on record; for one round projections on the directions of one seed leave this process, and on no others;
//! keys of streams are kept as long as their round may be looked into.

use privacy::event::DpEvent;

use super::masks::Wearing;
use super::trace::Traced;
use super::{Phase, Rounds};
use crate::PeerIx;
use crate::account::ReleaseKind;
use crate::agreement::{
    Barred, Decision, Dispute, Fingerprint, Inspection, Look, Measure, Projected, Shown, Wanted, next_link,
    says_so,
};
use crate::core::Core;
use crate::event::RunEvent;
use crate::masks::{Hidden, Lie};
use crate::node::{Output, Record};

/// What secrets of this process are for: one is opened, the other link by link.
const DRAW: &str = "murmur secret draw 1";
const COINS: &str = "murmur secret coins 1";

/// What this member knows of looks.
#[derive(Default)]
pub(super) struct Looking {
    /// What it wants to look into.
    wants: Option<Wanted>,
    /// The look that goes on, by decision.
    now: Option<Inspection>,
    barred: Barred,
    /// Its coins of this epoch.
    chain: Vec<Fingerprint>,
    /// Who was thrown out before the look that goes on.
    banned: Vec<PeerIx>,
    /// The round that is looked into, and how well it was hidden.
    kept: Option<(Traced, Option<Hidden>)>,
    /// What was projected of which round, for which seed.
    projected: Option<(u32, Fingerprint, Option<Projected>)>,
    /// The record of what that costs, which is not durable yet.
    recording: Option<(u64, DpEvent)>,
}

impl Looking {
    /// Whether a record is awaited, before which nothing more is said.
    pub(super) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Whether a look goes on.
    pub(super) fn is_under_way(&self) -> bool {
        self.now.is_some()
    }
}

impl Rounds {
    /// Whether a total that is too long is looked into.
    pub(super) fn may_look(&self, core: &Core) -> bool {
        core.settings.certify && self.round >= self.looking.barred.until && self.measure(core).is_some()
    }

    fn measure(&self, core: &Core) -> Option<Measure> {
        core.settings.algorithm.looks()?.measure(core.settings.mechanism.words()?)
    }

    /// Whether coins are tossed, which are known by decisions only.
    pub(super) fn has_coins(&self, core: &Core) -> bool {
        core.settings.algorithm.looks().is_some_and(|looks| looks.own > 0.0)
    }

    /// The total of the round that is over is longer than honest ones are: no step is taken with it.
    pub(super) fn look_into(&mut self, core: &mut Core) {
        self.looking.wants = Some(Wanted { round: self.round, coin: None });
        self.trace.done();
        self.phase = Phase::Contributing;
        self.call_assembly(core, "the total is longer than honest ones are: the round is looked into", None);
    }

    /// Whether this member's own coin says to look into the round that is over; nobody else knew.
    pub(super) fn tosses(&mut self, core: &Core) -> bool {
        let coin = self.coin(core, self.round);
        self.looking.wants = coin.map(|coin| Wanted { round: self.round, coin: Some(coin.0) });
        coin.is_some()
    }

    /// The coin of a round, where it says to look and others can check that.
    fn coin(&self, core: &Core, round: u32) -> Option<Fingerprint> {
        let (measure, decision) = (self.measure(core)?, self.agreeing.machine.as_ref()?.decision());
        let coins = decision.coins.iter().find(|coins| coins.member == core.me)?;
        let after = round.checked_sub(decision.next_round)? as usize;
        let coin = *self.looking.chain.iter().rev().nth(after + 1)?;
        let is_heeded = coins.heeded < measure.tosses && self.looking.chain.last() == Some(&coins.head);
        (is_heeded && says_so(coin, round, measure.toss)).then_some(coin)
    }

    /// The coins of the epoch that begins after this one, the last known to all.
    fn chain(&self, core: &Core) -> Vec<Fingerprint> {
        let Some(wearing) = self.wearing.as_ref().filter(|_| self.has_coins(core)) else { return Vec::new() };
        let first = Fingerprint(wearing.draw(COINS, (core.settings.run, self.epoch), core.me));
        let length = super::settings::most_numbers(core.settings.rounds) as usize + 1;
        std::iter::successors(Some(first), |link| Some(next_link(*link))).take(length).collect()
    }

    /// What a standing says about looks; nothing where none are made.
    pub(super) fn look(&self, core: &Core) -> Option<Look> {
        let wearing = self.wearing.as_ref().filter(|_| core.settings.algorithm.looks().is_some())?;
        let draw = |epoch: u32| wearing.draw(DRAW, (core.settings.run, epoch), core.me);
        let commitment = |epoch: u32| Look::commitment(core.me, draw(epoch));
        let coins = self.chain(core).last().copied().unwrap_or_default();
        let (measure, draw_of) = (self.measure(core), commitment(self.epoch));
        let mut look = Look { draw: draw_of, measure, coins, ..Look::default() };
        let Some(now) = &self.looking.now else {
            return Some(Look { wants: self.looking.wants, ..look });
        };
        if now.seed.is_none() {
            let committed = self.epoch.wrapping_sub(1);
            let opens =
                now.draws.contains(&(core.me, commitment(committed))) && !self.lies_now(core, Lie::NoDraw);
            look.drawn = opens.then(|| draw(committed));
            return Some(look);
        }
        if let (Some((kept, _)), Some((of, seed, projected))) = (&self.looking.kept, &self.looking.projected)
            && (*of, Some(*seed)) == (now.round, now.seed)
        {
            look.bound = Some(kept.record());
            look.projected.clone_from(projected);
            look.shown = now.disputes.iter().filter_map(|dispute| shown(core.me, kept, dispute)).collect();
        }
        Some(look)
    }

    /// What a decision says about a look. The round is kept from its beginning to its end.
    pub(super) fn learn_look(&mut self, core: &mut Core, decision: &Decision) {
        let before = self.looking.now.take();
        let goes_on = |now: &Inspection| before.as_ref().is_some_and(|it| it.round == now.round);
        match &decision.inspection {
            Some(now) if goes_on(now) => {}
            Some(now) => {
                let hidden = core.settings.algorithm.hidden(self.members.len());
                self.looking.kept = self.trace.take(now.round).map(|kept| (kept, hidden));
            }
            None => self.looking.kept = None,
        }
        if let Some(before) = before.filter(|_| decision.inspection.is_none()) {
            let fresh = |member: &&PeerIx| !self.looking.banned.contains(*member);
            let named = decision.banned.iter().filter(fresh).copied().collect();
            let (round, forced) = (before.round, before.forced);
            core.log(RunEvent::Inspected { round, epoch: decision.epoch, forced, named });
        }
        self.looking.chain = self.chain(core);
        if decision.inspection.is_none() {
            self.looking.banned.clone_from(&decision.banned);
        }
        self.looking.wants = None;
        (self.looking.now, self.looking.barred) = (decision.inspection.clone(), decision.barred);
    }

    /// The next stage of a look: it begins at once, but for the record of what projections cost.
    pub(super) fn look_on(&mut self, core: &mut Core) {
        let seed = self.looking.now.as_ref().and_then(|now| Some((now.round, now.seed?)));
        // What was projected stays as it is; another seed for the same round is not answered.
        let opened = self.looking.projected.as_ref().map(|(round, ..)| *round);
        if let Some((round, seed)) = seed.filter(|(round, _)| opened != Some(*round)) {
            if self.record_look(core, round) {
                return; // Until it is durable.
            }
            self.project(core, (round, seed));
        }
        self.call_assembly(core, "a round is looked into", None);
    }

    /// Puts down what projections cost; `false` where there are no data in the round.
    fn record_look(&mut self, core: &mut Core, round: u32) -> bool {
        let Some((kept, Some(hidden))) = &self.looking.kept else { return false };
        // Where looks are in the price of every round, the record of the contribution pays for this one.
        if hidden.look == 0.0 || !kept.opening().is_some_and(|opening| opening.has_data) {
            return false;
        }
        let settings = core.settings.clone();
        core.budget.charge_look(&settings, (core.me, *hidden));
        let (id, release) = (core.next_record, event(&settings.release, hidden.look));
        core.next_record += 1;
        core.outputs.push(Output::Record(Record { id, round, release: release.clone(), among: None }));
        self.looking.recording = Some((id, release));
        self.phase = Phase::Waiting;
        true
    }

    /// The record of a look is durable: projections may be stated. `false` for other records.
    pub(super) fn on_look_recorded(&mut self, core: &mut Core, record: u64) -> bool {
        let Some((_, release)) = self.looking.recording.take_if(|(id, _)| *id == record) else {
            return false;
        };
        if let Some((round, seed)) = self.looking.now.as_ref().and_then(|now| Some((now.round, now.seed?))) {
            let release = Some(release);
            let (token, generation, among, loss) = (0, 0, None, None);
            core.log(RunEvent::Released { round, token, generation, release, among, loss });
            self.project(core, (round, seed));
            self.call_assembly(core, "a round is looked into", None);
        }
        true
    }

    fn project(&mut self, core: &Core, (round, seed): (u32, Fingerprint)) {
        let projected = self.projected(core, seed);
        self.looking.projected = Some((round, seed, projected));
    }

    /// Projections of the round that is looked into.
    ///
    /// # Guarantee
    /// With what else is known of the round they cost what [`Looks::price`](super::masks::Looks::price) says.
    ///
    /// # Assumes
    /// The seed was decided on after all members of the round were bound to their words, and is the only one of this round.
    fn projected(&self, core: &Core, seed: Fingerprint) -> Option<Projected> {
        let (kept, measure) = (&self.looking.kept.as_ref()?.0, self.looking.now.as_ref()?.measure);
        let (rows, size) = (measure.rows(seed).ok()?, measure.size());
        let truth = kept.projected(&rows, size);
        let Some((lie, _)) = self.lies.filter(|(_, from)| core.now >= *from) else { return Some(truth) };
        let length = Wearing::length(core.settings.initial.len(), core.settings.mechanism.words()?);
        lie.project(truth, (&rows, size), (core.me, kept.opening()?, length))
    }

    /// Whether this member tells that lie.
    pub(super) fn lies_now(&self, core: &Core, what: Lie) -> bool {
        self.lies.is_some_and(|(lie, from)| lie == what && core.now >= from)
    }
}

/// What this member shows where it is one of two that contradict each other.
fn shown(me: PeerIx, kept: &Traced, dispute: &Dispute) -> Option<Shown> {
    let sent = dispute.one == me;
    let other = if sent { dispute.other } else { dispute.one };
    match dispute.step {
        _ if dispute.one != me && dispute.other != me => None,
        None => Some(Shown::Stream((kept.opening()?.key_with(other)?, other))),
        Some(step) => kept.shown(step, other, sent),
    }
}

/// A look as an event: Gaussian noise with which a contribution, seen by everybody, loses this part of what `release` does, and no sample.
fn event(release: &DpEvent, part: f64) -> DpEvent {
    match ReleaseKind::of(release).noise_multiplier() {
        Some(noise) => {
            DpEvent::Gaussian { noise_multiplier: noise / libm::sqrt(part) * (1.0 - 4.0 * f64::EPSILON) }
        }
        None => DpEvent::NonPrivate,
    }
}
