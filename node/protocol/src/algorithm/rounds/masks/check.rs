//! Four words behind every contribution: 1 where data were added, and three zeros.
//!
//! In the total they show how many added data, and that all masks are gone: who left one in, or told others of another roster, round or model,
//! leaves words there that are as good as random, and the total is void but for a chance of 2⁻⁹⁶.

use privacy::mechanisms::grid::{WordSize, Words};

use crate::agreement::CheckWords;
use crate::numbers;

/// How many.
pub(in crate::algorithm::rounds) const CHECK_WORDS: usize = 4;

/// How many of them are zeros; they come last, under masks with keys of their own.
pub(in crate::algorithm::rounds) const ZEROS: usize = 3;

/// The zeros, before they are masked.
pub(super) fn zeros(size: WordSize) -> Words {
    Words::zeros(size, ZEROS)
}

/// Appends what says whether data were added.
pub(super) fn append_count(words: &mut Words, has_data: bool) {
    words.extend([i64::from(has_data)]);
}

/// Three words as they are opened.
pub(super) fn opened(words: &Words) -> CheckWords {
    let mut centred = words.centred();
    let up = match words.size() {
        WordSize::Bits32 => 32,
        WordSize::Bits64 => 0,
    };
    CheckWords(std::array::from_fn(|_| (centred.next().unwrap_or(0) as u64) << up))
}

/// Those of a sum that was sent, where it `ends` with them, with all that comes before them as bytes.
pub(in crate::algorithm::rounds) fn split(
    words: &numbers::Words,
    ends: bool,
) -> (Vec<u8>, Option<CheckWords>) {
    let before = words.len().saturating_sub(if ends { ZEROS } else { 0 });
    let narrow = words.as_32().unwrap_or_default().iter().map(|&word| u64::from(word) << 32);
    let all: Vec<u64> = narrow.chain(words.as_64().unwrap_or_default().iter().copied()).collect();
    let zeros = <[u64; ZEROS]>::try_from(&all[before..]).ok().map(CheckWords);
    let up = 8 - words.width() as usize;
    (all[..before].iter().flat_map(|word| word.to_le_bytes().into_iter().skip(up)).collect(), zeros)
}

/// How many of `contributors` added data, by a total; `None` where it is void. A number that cannot be is a lie whose author nothing shows: it is read as all of them, which
/// gives it the least effect, and less than lies that nobody notices.
pub(super) fn count(total: &Words, contributors: usize) -> Option<u32> {
    let before = total.len().checked_sub(CHECK_WORDS)?;
    let mut check = total.centred().skip(before);
    let count = check.next()?;
    let can_be = (0..=contributors as i64).contains(&count);
    let count = if can_be { count } else { contributors as i64 };
    check.all(|word| word == 0).then_some(count as u32)
}
