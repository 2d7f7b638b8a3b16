//! Masked rounds in which every member proves what it adds (`privacy.proofs = "range"`), for one average.
//!
//! As in the open, every member tells all the same and then, by digest, what it has heard. What it tells is its contribution under masks modulo the order of ristretto255, with
//! commitments and proofs ([`proofs`]): everybody checks that all numbers are in range and all masks cancel, and adds up. Who proves nothing is named by all who hear
//! it, a pair that committed to two different masks too, and more than may be hostile must have said so before it counts
//! ([`blame`](crate::agreement)). The next attempt goes on without them.
//!
//! Invariants: nothing is used of a round before all members have heard the same; every attempt has masks, blindings and noise of its own, and is charged as one
//! masked round; keys of masks are decided, so that two honest members never differ about a mask.

mod closing;
mod making;
mod pool;

pub(super) use pool::Pool;

/// More numbers would take seconds each to prove.
pub(crate) const MOST_NUMBERS: usize = proofs::MOST_NUMBERS;
/// More members would each check minutes of proofs.
pub(crate) const MOST_MEMBERS: usize = 64;
/// Attempts beside the first for which a plan has room, of all but as many as may be hostile: whoever spoils one is out of the next, and all who lie in one attempt are named
/// together.
pub(super) const SPARE: u32 = 1;

/// Words of the longest that a member shows: commitments, masked numbers and openings, commitments to the mask of each pair, and the proof.
pub(crate) fn most_words(numbers: usize, members: usize) -> usize {
    const PROOF: usize = 32 * (9 + 2 * 15);
    1 + 8 * numbers * (2 + members) + PROOF / 4
}
