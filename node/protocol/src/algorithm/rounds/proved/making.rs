//! A member's own contribution, shown to all.

use privacy::mechanisms::grid::NoisyWords;
use proofs::{Member, Pad};
use zeroize::{Zeroize, Zeroizing};

use super::pool::{Pool, Round, told};
use crate::algorithm::rounds::{Lie, Rounds, rounds_settings};
use crate::core::Core;
use crate::numbers::Words;

/// What a secret of this process is for.
const BLINDING: &str = "murmur proof blinding 1";

impl Rounds {
    /// The contribution goes to all, masked and proved. Whether data are in it is said beside it.
    ///
    /// # Guarantee
    /// As [`Member::show`]: whatever else happens, all that is learnt of the others' numbers is their sum, and whether each member had data left to give.
    ///
    /// # Assumes
    /// As there: the round's number was never used before in this process, and the words have fresh noise.
    pub(in crate::algorithm::rounds) fn prove(&mut self, core: &mut Core, noisy: NoisyWords, has_data: bool) {
        let settings = core.settings.clone();
        let pool = rounds_settings(&settings).proved.as_ref();
        match pool.and_then(|pool| self.shown(core, pool, noisy)) {
            Some(words) => self.open(core, words.into(), u32::from(has_data)),
            None => self.call_assembly(core, "there is no mask for this roster", None),
        }
    }

    fn shown(&self, core: &Core, pool: &Pool, noisy: NoisyWords) -> Option<Words> {
        let on = core.settings.mechanism.words()?;
        let wearing = self.wearing.as_ref()?;
        let (context, keys) = wearing.for_proofs((self.round, self.model.digest()), &on.mechanism)?;
        let words = noisy.into_words();
        let mut values: Vec<i64> = words.centred().collect();
        let numbers = values.len();
        let rules = pool.rules(&Round {
            context: &context,
            members: &self.members,
            unmasked: wearing.unmasked(),
            numbers,
        })?;
        let mut pads: Vec<Pad> = keys.into_iter().map(|(with, key)| Pad { with, key }).collect();
        let lie = self.lies.filter(|(_, from)| core.now >= *from).map(|(lie, _)| lie);
        match (lie, pads.first_mut()) {
            // Another mask than the other end has.
            (Some(Lie::FalseMask), Some(pad)) => pad.key[0] ^= 1,
            (Some(Lie::LongWords), _) => values.fill(i64::from(i32::MAX)),
            _ => {}
        }
        let place = (core.settings.run, self.epoch);
        let secret = wearing.draw(&format!("{BLINDING} {}", self.round), place, core.me);
        let member = Member { rules: &rules, position: core.me };
        let shown = member.show(&values, &pads, Zeroizing::new(secret));
        values.zeroize();
        let mut shown = shown.ok()?;
        match lie {
            Some(Lie::HugeWords) => shown.danger_other(1 << 40),
            Some(Lie::OutOfRange) => shown.danger_beyond(&rules, 1 << 40),
            _ => {}
        }
        Some(told(&shown))
    }
}
