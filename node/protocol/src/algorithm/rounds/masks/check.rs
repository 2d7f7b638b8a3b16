//! Four words behind every contribution: 1 where data were added, and three zeros.
//!
//! In the total they show how many added data, and that all masks are gone: who left one in, or told others of another roster, round or model,
//! leaves words there that are as good as random, and the total is void but for a chance of 2⁻⁹⁶.

use privacy::mechanisms::grid::Words;

/// How many.
pub(in crate::algorithm::rounds) const CHECK_WORDS: usize = 4;

/// Appends them to a contribution.
pub(super) fn append(words: &mut Words, has_data: bool) {
    words.extend([i64::from(has_data), 0, 0, 0]);
}

/// How many of `members` added data, by a total; `None` where it is void.
pub(super) fn count(total: &Words, members: usize) -> Option<u32> {
    let before = total.len().checked_sub(CHECK_WORDS)?;
    let mut check = total.centred().skip(before);
    let count = check.next()?;
    let whole = check.all(|word| word == 0) && (0..=members as i64).contains(&count);
    whole.then_some(count as u32)
}
