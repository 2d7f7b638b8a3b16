//! What a walk must not forget, in the form of a [`Snapshot`](crate::node::Snapshot): its tokens as words in place of a roster, which a walk does not have, and their
//! numbers behind those of the node's own model.
//!
//! Invariant: whatever is read back was written so; anything else is nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::custody::{Held, Origin};
use crate::PeerIx;
use crate::values::Values;

/// The first word: a roster begins with a member, and there are never so many.
const MARK: u32 = u32::from_be_bytes(*b"WAL2");
/// Words of a copy.
const COPY: usize = 9;

/// Tokens as they are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The newest generation and hop of each token that went on from here.
    pub(super) passed: BTreeMap<u32, (u32, u32)>,
    /// Tokens that have ended.
    pub(super) over: BTreeSet<u32>,
    /// What was sent and is not safe yet: to whom, and whether they had it.
    pub(super) copies: Vec<(Held, PeerIx, bool)>,
    /// The newest of each token that went on from here, as it was then.
    pub(super) last: BTreeMap<u32, Held>,
}

/// Tokens that went on from here, that have ended, and as they were when they left.
pub(super) type Past<'a> = (&'a BTreeMap<u32, (u32, u32)>, &'a BTreeSet<u32>, &'a BTreeMap<u32, Held>);

impl Kept {
    /// The words, and the numbers of all with the model in front.
    pub(super) fn written<'a>(
        (passed, over, last): Past<'_>,
        copies: impl Iterator<Item = (&'a Held, PeerIx, bool)> + Clone,
        model: &Values,
    ) -> (Vec<u32>, Values) {
        let mut words = vec![MARK, passed.len() as u32];
        passed.iter().for_each(|(&token, &(generation, hop))| words.extend([token, generation, hop]));
        words.push(over.len() as u32);
        words.extend(over);
        words.push(copies.clone().count() as u32);
        let mut numbers = model.as_slice().to_vec();
        for (held, to, confirmed) in copies {
            let origin = held.origin.map_or([u32::MAX; 3], |from| [from.peer, from.hop, from.generation]);
            words.extend([held.token, held.hop, held.generation, to, u32::from(confirmed)]);
            words.extend(origin);
            words.push(u32::from(held.origin.is_some()));
            numbers.extend_from_slice(held.values.as_slice());
        }
        words.push(last.len() as u32);
        for held in last.values() {
            words.extend([held.token, held.generation, held.hop]);
            numbers.extend_from_slice(held.values.as_slice());
        }
        // Each was sent before, or follows from what was.
        (words, Values::derived(numbers))
    }

    /// From words and numbers, and the model in front of them, for models of so many parameters.
    pub(super) fn read(words: &[u32], numbers: &Values, parameters: usize) -> Option<(Self, Values)> {
        let (&mark, mut rest) = words.split_first()?;
        if mark != MARK {
            return None;
        }
        let passed = take(&mut rest, 3)?.chunks_exact(3).map(|word| (word[0], (word[1], word[2]))).collect();
        let over = take(&mut rest, 1)?.iter().copied().collect();
        let copies = take(&mut rest, COPY)?;
        let mut vectors = numbers.as_slice().chunks_exact(parameters.max(1));
        let model = Values::derived(vectors.next()?.to_vec());
        let copies = copies.chunks_exact(COPY).map(|word| {
            let origin = Origin { peer: word[5], hop: word[6], generation: word[7] };
            let held = Held {
                token: word[0],
                hop: word[1],
                generation: word[2],
                values: Values::derived(vectors.next()?.to_vec()),
                origin: (word[8] == 1).then_some(origin),
            };
            (held.hop > 0).then_some((held, word[3], word[4] == 1))
        });
        let copies = copies.collect::<Option<_>>()?;
        let last = take(&mut rest, 3)?.chunks_exact(3).map(|word| {
            let (token, generation, hop) = (word[0], word[1], word[2]);
            let values = Values::derived(vectors.next()?.to_vec());
            Some((token, Held { token, hop, generation, values, origin: None }))
        });
        let last = last.collect::<Option<_>>()?;
        rest.is_empty().then_some((Self { passed, over, copies, last }, model))
    }
}

/// A list with its length in front, of so many words each.
fn take<'a>(words: &mut &'a [u32], each: usize) -> Option<&'a [u32]> {
    let (&count, rest) = words.split_first()?;
    let (list, rest) = rest.split_at_checked((count as usize).checked_mul(each)?)?;
    *words = rest;
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_a_roster_is_not_taken_for_it() {
        let held = |token, origin| Held {
            token,
            hop: 4,
            generation: 1,
            values: Values::derived(vec![token as f32, 0.5]),
            origin,
        };
        let origin = Some(Origin { peer: 2, hop: 3, generation: 1 });
        let copies = [(held(0, origin), 3, true), (held(7, None), 1, false)];
        let (passed, over) = (BTreeMap::from([(0, (1, 3)), (5, (0, 9))]), BTreeSet::from([5]));
        let model = Values::derived(vec![-1.0, 2.0]);
        let all = copies.iter().map(|(held, to, confirmed)| (held, *to, *confirmed));
        let last = BTreeMap::from([(5, held(5, None)), (7, held(7, None))]);
        let (words, numbers) = Kept::written((&passed, &over, &last), all, &model);
        let (kept, back) = Kept::read(&words, &numbers, 2).unwrap();
        let same = |(one, other): (&Held, &Held)| (one.name(), &one.values) == (other.name(), &other.values);
        assert!(kept.last.len() == 2 && kept.last.values().zip(last.values()).all(same));
        assert_eq!((kept.passed, kept.over, back), (passed, over, model.clone()));
        for ((held, to, confirmed), (was, was_to, was_confirmed)) in kept.copies.iter().zip(&copies) {
            assert_eq!((held.name(), held.origin, &held.values), (was.name(), was.origin, &was.values));
            assert_eq!((to, confirmed), (was_to, was_confirmed));
        }
        for cut in 0..words.len() {
            assert!(Kept::read(&words[..cut], &numbers, 2).is_none(), "{cut}");
        }
        assert!(Kept::read(&words, &model, 2).is_none(), "numbers are missing");
        assert!(Kept::read(&[0, 1, 2], &model, 2).is_none() && Kept::read(&[], &model, 2).is_none());
    }
}
