//! What follows from all contributions: the mean, or who is out.

use std::sync::Arc;

use privacy::mechanisms::grid::{WordSize, Words};
use proofs::Blame;

use super::pool::{Pool, Round, Verdict};
use crate::PeerIx;
use crate::algorithm::rounds::robust::Open;
use crate::algorithm::rounds::{Phase, Rounds, rounds_settings};
use crate::core::Core;
use crate::event::FaultKind;

impl Rounds {
    /// All have heard the same: everybody comes to the same verdict.
    pub(in crate::algorithm::rounds) fn close_proved(&mut self, core: &mut Core, pool: &Pool) {
        let verdict = self.verdict(core, pool);
        match verdict.as_deref() {
            Some(Ok(total)) => self.take_total(core, total),
            Some(Err(blamed)) => self.on_unproved(core, blamed),
            None => self.call_assembly(core, "there is no mask for this roster", None),
        }
    }

    /// Whom the contributions name that are here is stated also where others call an assembly before this member has heard of all that they have the same: what somebody
    /// told this member proves nothing, whatever it told others.
    pub(in crate::algorithm::rounds) fn judge(&mut self, core: &mut Core) {
        let settings = core.settings.clone();
        let Some(pool) = &rounds_settings(&settings).proved else { return };
        let is_open = |open: &Open| open.set.is_some() && !open.done && open.unproved.is_empty();
        if !matches!(self.phase, Phase::Hearing(_)) || !self.robust.last().is_some_and(is_open) {
            return;
        }
        let verdict = self.verdict(core, pool);
        if let Some(Err(blamed)) = verdict.as_deref() {
            self.name(core, blamed);
        }
    }

    fn verdict(&self, core: &Core, pool: &Pool) -> Option<Arc<Verdict>> {
        let (open, wearing) = (self.robust.last()?, self.wearing.as_ref()?);
        let on = core.settings.mechanism.words()?;
        let (context, _) = wearing.for_proofs((open.round, open.start), &on.mechanism)?;
        let round = Round {
            context: &context,
            members: &open.members,
            unmasked: wearing.unmasked(),
            numbers: core.settings.initial.len(),
        };
        let rules = pool.rules(&round)?;
        let parts = open.parts.iter().map(|(&member, part)| (member, &part.numbers));
        Some(pool.verdict((&rules, &context), open.set?, parts))
    }

    /// The mean of whoever had data left to give.
    fn take_total(&mut self, core: &mut Core, total: &[i64]) {
        let Some(open) = self.robust.last_mut() else { return };
        open.done = true;
        let count = open.parts.values().filter(|part| part.count > 0).count() as u32;
        let settings = core.settings.clone();
        let Some(on) = settings.mechanism.words().filter(|_| count > 0) else {
            let reason = "nobody has anything left to give: attempts that came to nothing have used it up";
            self.break_round(core, reason, None);
            return self.end(core, reason, false);
        };
        let words = Words::of(WordSize::Bits64, total.iter().copied());
        let divisor = on.divisor.map_or(1.0, |divisor| divisor * f64::from(count));
        let mean = on.mechanism.grid().means(&words, total.len(), divisor);
        self.phase = Phase::Waiting;
        self.step(core, (mean, 1), count);
        self.next(core);
    }

    /// Nothing shows of such a round, and it cost what it would have cost anyway. Everybody says whom it names; more than may be hostile say the same.
    fn on_unproved(&mut self, core: &mut Core, blamed: &[Blame]) {
        self.name(core, blamed);
        let reason: Vec<String> = blamed.iter().take(MOST_NAMED).map(Blame::to_string).collect();
        self.call_assembly(core, &reason.join("; "), None);
    }

    fn name(&mut self, core: &mut Core, blamed: &[Blame]) {
        let (round, me) = (self.round, core.me);
        let pairs = pairs(blamed);
        for &(member, _) in pairs.iter().filter(|(one, other)| one == other && *one != me) {
            core.fault(member, FaultKind::Unproved, round);
        }
        if let Some(open) = self.robust.last_mut() {
            open.unproved = pairs;
        }
    }
}

/// As they are stated: a member twice, or two.
fn pairs(blamed: &[Blame]) -> Vec<(PeerIx, PeerIx)> {
    let pair = |blame: &Blame| match *blame {
        Blame::Member { member, .. } => (member, member),
        Blame::Pair { first, second } => (first, second),
    };
    blamed.iter().map(pair).collect()
}

/// As many are in the reason of a broken round; all are in the standings.
const MOST_NAMED: usize = 8;
