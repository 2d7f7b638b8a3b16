//! A member's part in a round in the open: its contribution to all, everybody's to it, then by digest what all have heard, and the step.

use std::collections::VecDeque;
use std::sync::Arc;

use super::inbox::Inbox;
use super::open::{Open, Part};
use super::rule::Means;
use super::{Said, What};
use crate::PeerIx;
use crate::agreement::{Fingerprint, OPEN, RoundRecord, SETS, Signature, TroubleKind};
use crate::algorithm::rounds::{Phase, Rounds, Say, patience, rounds_settings};
use crate::core::Core;
use crate::event::FaultKind;
use crate::numbers::Numbers;
use crate::recipients::Recipients;
use crate::values::Values;

/// Rounds that a standing has room for, and that somebody may still ask about.
const KEPT: usize = 2;

/// What a member keeps of rounds in the open.
#[derive(Default)]
pub(in crate::algorithm::rounds) struct State {
    pub(super) inbox: Inbox,
    pub(super) rounds: VecDeque<Open>,
    pub(super) means: Arc<Means>,
}

impl State {
    /// An epoch begins: nothing of the one before counts.
    pub(in crate::algorithm::rounds) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The round under way.
    pub(in crate::algorithm::rounds) fn last(&self) -> Option<&Open> {
        self.rounds.back()
    }

    /// The same, to be changed.
    pub(in crate::algorithm::rounds) fn last_mut(&mut self) -> Option<&mut Open> {
        self.rounds.back_mut()
    }

    /// As they are stated; `None` where there were none.
    pub(in crate::algorithm::rounds) fn records(&self) -> Option<Vec<RoundRecord>> {
        (!self.rounds.is_empty()).then(|| self.rounds.iter().map(Open::record).collect())
    }

    /// Whom the round under way waits for.
    pub(in crate::algorithm::rounds) fn awaited(&self) -> Option<PeerIx> {
        self.rounds.back().and_then(Open::awaited)
    }

    /// Whether the round under way waits for this member too.
    pub(in crate::algorithm::rounds) fn owes(&self, member: PeerIx) -> bool {
        self.rounds.back().is_some_and(|open| match open.set {
            None => open.missing().any(|other| other == member),
            Some(_) => open.others().any(|other| other == member) && !open.sets.contains_key(&member),
        })
    }

    /// Why the round under way is left. That two are silent to each other who are apart for it already is nothing new.
    pub(in crate::algorithm::rounds) fn leave(
        &mut self,
        kind: TroubleKind,
        with: PeerIx,
        apart: &[(PeerIx, PeerIx, u32)],
    ) {
        let Some(open) = self.rounds.back_mut() else { return };
        let pair = (open.me().min(with), open.me().max(with));
        let known = apart.iter().any(|&(one, other, until)| (one, other) == pair && open.round < until);
        if kind == TroubleKind::Malformed || !known {
            open.leave(kind, with);
        }
    }

    fn begin(&mut self, open: Open) {
        self.inbox.forget_before(open.round);
        if self.rounds.len() == KEPT {
            self.rounds.pop_front();
        }
        self.rounds.push_back(open);
    }
}

impl Rounds {
    /// The contribution goes to all.
    pub(in crate::algorithm::rounds) fn open(&mut self, core: &mut Core, numbers: Numbers, count: u32) {
        let Ok(position) = self.members.binary_search(&core.me) else {
            return self.call_assembly(core, "this node has no seat", None);
        };
        let own = Part::new(count, numbers, None, false);
        self.robust.begin(Open::new((self.round, self.model.digest()), self.members.clone(), position, own));
        self.phase = Phase::Hearing(patience(core));
        self.tell_part(core, self.round, None);
        self.hear(core);
    }

    /// Tells a contribution of mine, to all or to one who lacks it.
    pub(super) fn tell_part(&self, core: &mut Core, round: u32, to: Option<PeerIx>) {
        let Some(open) = self.robust.rounds.iter().find(|open| open.round == round) else { return };
        let Some(own) = open.parts.get(&core.me) else { return };
        let what = What::Mine { count: own.count };
        self.tell_open(core, (open, to), (OPEN, own.digest), &what, Some(&own.numbers));
    }

    /// Tells what I have heard, by digest.
    pub(super) fn tell_set(&self, core: &mut Core, round: u32, to: Option<PeerIx>) {
        let Some(open) = self.robust.rounds.iter().find(|open| open.round == round) else { return };
        let Some(set) = open.set else { return };
        self.tell_open(core, (open, to), (SETS, set), &What::Heard { set }, None);
    }

    /// One message to all that is signed where sums are, and then for each receiver.
    fn tell_open(
        &self,
        core: &mut Core,
        (open, to): (&Open, Option<PeerIx>),
        (stage, digest): (u32, Fingerprint),
        what: &What,
        numbers: Option<&Numbers>,
    ) {
        let receivers: Vec<PeerIx> = to.map_or_else(|| open.others().collect(), |to| vec![to]);
        let (epoch, start, place) = (self.epoch, open.start, (open.round, 0));
        let mut say = |to: Recipients, signature: Option<Signature>| {
            let said = Say::Robust(Box::new(Said { epoch, start, what: what.clone(), signature }));
            match numbers {
                Some(numbers) => core.send(to, place, said, numbers.clone()),
                None => core.tell(to, place, said),
            }
        };
        if !self.signs(open.round) {
            return say(receivers.into_iter().collect(), None);
        }
        for to in receivers {
            let step = open.step(stage, (open.me(), to));
            say(to.into(), self.sign_sum((open.round, step), to, digest));
        }
    }

    /// Takes in what has come, and goes on as far as it allows.
    pub(super) fn hear(&mut self, core: &mut Core) {
        if !matches!(self.phase, Phase::Hearing(_)) || !self.hear_parts(core) {
            return;
        }
        let Some(open) = self.robust.rounds.back_mut() else { return };
        if open.missing().next().is_some() {
            return self.on_place(core);
        }
        if open.set.is_none() {
            open.set = Some(open.digest());
            self.phase = Phase::Hearing(patience(core));
            self.tell_set(core, self.round, None);
        }
        if self.hear_sets(core) {
            self.close(core);
        }
    }

    /// Contributions that have come; `false` where the round broke over one.
    fn hear_parts(&mut self, core: &mut Core) -> bool {
        let Some(open) = self.robust.rounds.back() else { return false };
        let (round, missing) = (open.round, open.missing().collect::<Vec<_>>());
        // One more than may lie: one of them does not.
        let enough = core.settings.hostile as usize + 1;
        for from in missing {
            let own = self.robust.inbox.take_part((round, from));
            let copied =
                || self.robust.inbox.copied(from, enough).map(|(count, numbers)| (None, count, numbers));
            let heard = own.and_then(|(said, numbers)| match said.what {
                What::Mine { count } => Some((Some(said), count, numbers)),
                _ => None,
            });
            let Some((said, count, numbers)) = heard.or_else(copied) else { continue };
            let signature = said.as_ref().and_then(|said| said.signature);
            let part = Part::new(count, numbers, signature, said.is_none());
            if let Some((kind, reason)) = self.open_objection(core, from, (said.as_ref(), &part)) {
                self.call_about(core, reason, kind, from);
                return false;
            }
            let Some(open) = self.robust.rounds.back_mut() else { return false };
            open.parts.insert(from, part);
            self.refresh(core);
        }
        true
    }

    /// Why a contribution cannot be used.
    fn open_objection(
        &self,
        core: &mut Core,
        from: PeerIx,
        (said, part): (Option<&Said>, &Part),
    ) -> Option<(TroubleKind, &'static str)> {
        if said.is_some_and(|said| said.start != self.model.digest()) {
            return Some((TroubleKind::Differs, "digests differ"));
        }
        let largest = if part.count == 0 { 0.0 } else { core.settings.largest_norm };
        // What is shown is looked at when all of it is here.
        let squared = part.numbers.reals().map_or(0.0, Values::squared_norm);
        if part.count > 1 || squared > largest * largest {
            core.fault(from, FaultKind::TooLarge, self.round);
            return Some((TroubleKind::Malformed, "a contribution is larger than honest ones can be"));
        }
        if said.is_some() && !self.is_open_signed(core.me, (OPEN, from), (part.digest, part.signature)) {
            core.fault(from, FaultKind::BadSignature, self.round);
            return Some((TroubleKind::Malformed, "a contribution is not signed"));
        }
        None
    }

    /// What others have heard; `true` once all have said so, and heard the same.
    fn hear_sets(&mut self, core: &mut Core) -> bool {
        let Some(open) = self.robust.rounds.back() else { return false };
        let (round, mine) = (open.round, open.set);
        let missing: Vec<PeerIx> = open.others().filter(|other| !open.sets.contains_key(other)).collect();
        for from in missing {
            let Some((set, signature)) = self.robust.inbox.take_set((round, from)) else { continue };
            if !self.is_open_signed(core.me, (SETS, from), (set, signature)) {
                core.fault(from, FaultKind::BadSignature, round);
                self.call_about(core, "a digest is not signed", TroubleKind::Malformed, from);
                return false;
            }
            let Some(open) = self.robust.rounds.back_mut() else { return false };
            open.sets.insert(from, (set, signature));
            if Some(set) != mine {
                // Who told two things, or tells of what it did not hear, is found from what all state.
                self.call_assembly(core, "members heard different contributions", None);
                return false;
            }
            self.refresh(core);
        }
        let done = self.robust.rounds.back().is_some_and(|open| open.awaited().is_none());
        if !done {
            self.on_place(core);
        }
        done
    }

    fn is_open_signed(
        &self,
        me: PeerIx,
        (stage, from): (u32, PeerIx),
        (digest, signature): (Fingerprint, Option<Signature>),
    ) -> bool {
        let Some(open) = self.robust.rounds.back() else { return false };
        let step = open.step(stage, (from, me));
        !self.signs(open.round) || self.is_sum_signed((open.round, step), (from, me), (digest, signature))
    }

    /// Something came: whoever is missing is given as long again, up to the end of all patience.
    fn refresh(&mut self, core: &Core) {
        if let Phase::Hearing(patience) = &mut self.phase {
            patience.until = core.now.after(core.settings.timeouts.silence).min(patience.latest);
        }
    }

    /// All have the same: everybody takes the same step.
    fn close(&mut self, core: &mut Core) {
        let settings = core.settings.clone();
        let rounds = rounds_settings(&settings);
        if let Some(pool) = &rounds.proved {
            return self.close_proved(core, pool);
        }
        let Some((robust, open)) = rounds.robust.zip(self.robust.rounds.back_mut()) else { return };
        open.done = true;
        let contributions: Vec<(PeerIx, &[f32])> = open
            .parts
            .iter()
            .filter(|(_, part)| part.count > 0)
            .filter_map(|(&member, part)| Some((member, part.numbers.reals()?.as_slice())))
            .collect();
        let (count, set) = (contributions.len() as u32, open.set.unwrap_or_default());
        let folded = rounds.pool.after(&self.robust.means, set, &contributions, robust.tolerate);
        self.robust.means = folded.means.clone();
        // What was sent was in the open.
        if self.released.take().is_some() {
            core.budget.charge_in_full();
        }
        let step = folded.step.clone();
        let divisor = u32::from(step.is_some());
        let step = step.unwrap_or_else(|| vec![0.0; settings.initial.len()]);
        // The last round is over too: nothing is left to break.
        self.phase = Phase::Waiting;
        self.step(core, (step, divisor), count);
        self.next(core);
    }

    pub(in crate::algorithm::rounds) fn hearing_tick(&mut self, core: &mut Core) {
        let Phase::Hearing(patience) = &mut self.phase else { return };
        let Some(open) = self.robust.rounds.back() else { return };
        let (round, silent) = (open.round, open.awaited());
        if core.now >= patience.until {
            return match silent {
                Some(peer) => self.call_about(core, "a peer is silent", TroubleKind::Silent, peer),
                None => self.call_assembly(core, "a round does not end", None),
            };
        }
        if core.now < patience.again {
            return;
        }
        patience.again = core.now.after(core.settings.timeouts.resend);
        let (epoch, start) = (self.epoch, self.model.digest());
        let want =
            |of| Say::Robust(Box::new(Said { epoch, start, what: What::Want { of }, signature: None }));
        let others: Vec<PeerIx> = open.others().collect();
        if open.set.is_none() {
            // Whoever has it passes it on: nobody is silent to one member alone.
            for of in open.missing() {
                core.tell(others.iter().copied().collect::<Recipients>(), (round, 0), want(of));
            }
        } else {
            for of in others.into_iter().filter(|other| !open.sets.contains_key(other)) {
                core.tell(of, (round, 0), want(of));
            }
        }
    }
}
