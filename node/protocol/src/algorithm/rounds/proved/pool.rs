//! Rules and verdicts that were made last, by whichever participant came first: a simulation has many in one process. What comes out follows from what went in,
//! so it does not matter who made it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use proofs::{Bits, Blame, Lie, Rules, Shown, verify};

use crate::PeerIx;
use crate::agreement::Fingerprint;
use crate::numbers::{Numbers, Words};

/// The sum of all contributions, or who is to blame that there is none.
pub(super) type Verdict = Result<Vec<i64>, Vec<Blame>>;

/// So many verdicts are kept: members are one attempt apart at most.
const KEPT: usize = 4;

/// See above.
#[derive(Default)]
pub(in crate::algorithm::rounds) struct Pool(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    rules: Option<(Vec<u8>, Arc<Rules>)>,
    verdicts: VecDeque<(Fingerprint, Arc<Verdict>)>,
}

/// A round: what names it, its members, who of them share no masks, and how many numbers a contribution has.
pub(super) struct Round<'a> {
    pub(super) context: &'a [u8],
    pub(super) members: &'a [PeerIx],
    pub(super) unmasked: &'a [(PeerIx, PeerIx)],
    pub(super) numbers: usize,
}

impl Pool {
    /// What all members of a round go by; `None` where there can be no such round.
    pub(super) fn rules(&self, round: &Round<'_>) -> Option<Arc<Rules>> {
        let mut kept = self.0.lock().ok()?;
        let before = kept.rules.as_ref().filter(|(_, rules)| rules.numbers() == round.numbers);
        let rules = match before {
            Some((context, rules)) if context == round.context => return Some(rules.clone()),
            Some((_, rules)) => rules.again(round.context, round.members),
            None => Rules::new(round.context, round.members, round.numbers, Bits::ThirtyTwo),
        };
        let rules = Arc::new(rules.ok()?.without(round.unmasked));
        kept.rules = Some((round.context.to_vec(), rules.clone()));
        Some(rules)
    }

    /// What follows from all contributions of a round; `set` names them.
    ///
    /// # Guarantee
    /// As [`verify`].
    ///
    /// # Assumes
    /// As there.
    pub(super) fn verdict<'a>(
        &self,
        (rules, context): (&Rules, &[u8]),
        set: Fingerprint,
        parts: impl Iterator<Item = (PeerIx, &'a Numbers)>,
    ) -> Arc<Verdict> {
        let name = Fingerprint::of("murmur proved set 1", &[context, &set.0].concat());
        let Ok(mut kept) = self.0.lock() else { return Arc::new(checked(rules, parts)) };
        if let Some((_, verdict)) = kept.verdicts.iter().find(|(of, _)| *of == name) {
            return verdict.clone();
        }
        // Others who ask meanwhile wait: they want the same.
        let verdict = Arc::new(checked(rules, parts));
        kept.verdicts.push_back((name, verdict.clone()));
        let old = kept.verdicts.len().saturating_sub(KEPT);
        kept.verdicts.drain(..old);
        verdict
    }
}

fn checked<'a>(rules: &Rules, parts: impl Iterator<Item = (PeerIx, &'a Numbers)>) -> Verdict {
    let shown: Vec<Shown> = parts.filter_map(|(author, numbers)| shown_by(rules, author, numbers)).collect();
    // All have told something: what is missing was none of theirs.
    let named = |blame: Blame| match blame {
        Blame::Member { member, lie: Lie::Missing } => Blame::Member { member, lie: Lie::Malformed },
        blame => blame,
    };
    verify(rules, &shown).map_err(|blamed| blamed.into_iter().map(named).collect())
}

/// What a member told, where it is of the right form and its own.
fn shown_by(rules: &Rules, author: PeerIx, numbers: &Numbers) -> Option<Shown> {
    let words = numbers.words()?.as_32()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Shown::from_bytes(&bytes, rules).ok().filter(|shown| shown.member == author)
}

/// As it travels.
pub(super) fn told(shown: &Shown) -> Words {
    let bytes = shown.to_bytes();
    Words::modulo_32(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Contributions are never printed.
impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pool")
    }
}
