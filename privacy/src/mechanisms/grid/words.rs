//! Vectors of words modulo 2³² or 2⁶⁴: sums are the same bits in any order.

use serde::{Deserialize, Serialize};

use crate::noise::mask;

/// How long a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WordSize {
    /// Modulo 2³².
    #[serde(rename = "32")]
    Bits32,
    /// Modulo 2⁶⁴.
    #[serde(rename = "64")]
    Bits64,
}

impl WordSize {
    /// 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// The largest integer that a word holds with its sign, as a double (2⁶³ − 1 becomes 2⁶³).
    pub fn half(self) -> f64 {
        match self {
            Self::Bits32 => f64::from(i32::MAX),
            Self::Bits64 => i64::MAX as f64,
        }
    }
}

/// A vector modulo 2³² or 2⁶⁴.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Modulo 2³².
    Narrow(Vec<u32>),
    /// Modulo 2⁶⁴.
    Wide(Vec<u64>),
}

/// Vectors that cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{length} words of {bits} bits cannot be added to {expected_length} of {expected_bits} bits")]
pub struct WordsError {
    length: usize,
    bits: u32,
    expected_length: usize,
    expected_bits: u32,
}

impl Words {
    /// Zeros.
    pub fn zeros(size: WordSize, length: usize) -> Self {
        match size {
            WordSize::Bits32 => Self::Narrow(vec![0; length]),
            WordSize::Bits64 => Self::Wide(vec![0; length]),
        }
    }

    /// The integers modulo the size.
    pub fn of(size: WordSize, integers: impl IntoIterator<Item = i64>) -> Self {
        match size {
            WordSize::Bits32 => Self::Narrow(integers.into_iter().map(|x| x as u32).collect()),
            WordSize::Bits64 => Self::Wide(integers.into_iter().map(|x| x as u64).collect()),
        }
    }

    /// How long each word is.
    pub fn size(&self) -> WordSize {
        match self {
            Self::Narrow(_) => WordSize::Bits32,
            Self::Wide(_) => WordSize::Bits64,
        }
    }

    /// How many words.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds word by word.
    ///
    /// # Errors
    /// If the other has another length or size; nothing is added then.
    pub fn add(&mut self, other: &Self) -> Result<(), WordsError> {
        self.combine(other, u32::wrapping_add, u64::wrapping_add)
    }

    /// Subtracts word by word.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn subtract(&mut self, other: &Self) -> Result<(), WordsError> {
        self.combine(other, u32::wrapping_sub, u64::wrapping_sub)
    }

    /// Adds the [mask](mask) of a key.
    ///
    /// # Guarantee
    /// As [`mask::add_stream_u32`].
    ///
    /// # Assumes
    /// As [`mask::add_stream_u32`].
    pub fn add_mask(&mut self, key: &[u8; 32]) {
        match self {
            Self::Narrow(words) => mask::add_stream_u32(key, words),
            Self::Wide(words) => mask::add_stream_u64(key, words),
        }
    }

    /// Adds the masks of some keys and takes away those of others, in one pass.
    ///
    /// # Guarantee
    /// As [`mask::combine_streams_u32`].
    ///
    /// # Assumes
    /// As [`mask::add_stream_u32`].
    pub fn combine_masks(&mut self, masks: &[mask::Signed<'_>]) {
        match self {
            Self::Narrow(words) => mask::combine_streams_u32(masks, words),
            Self::Wide(words) => mask::combine_streams_u64(masks, words),
        }
    }

    /// Appends integers, modulo the size.
    pub fn extend(&mut self, integers: impl IntoIterator<Item = i64>) {
        match self {
            Self::Narrow(words) => words.extend(integers.into_iter().map(|x| x as u32)),
            Self::Wide(words) => words.extend(integers.into_iter().map(|x| x as u64)),
        }
    }

    fn combine(
        &mut self,
        other: &Self,
        narrow: impl Fn(u32, u32) -> u32,
        wide: impl Fn(u64, u64) -> u64,
    ) -> Result<(), WordsError> {
        match (&mut *self, other) {
            (Self::Narrow(a), Self::Narrow(b)) if a.len() == b.len() => {
                a.iter_mut().zip(b).for_each(|(a, &b)| *a = narrow(*a, b));
            }
            (Self::Wide(a), Self::Wide(b)) if a.len() == b.len() => {
                a.iter_mut().zip(b).for_each(|(a, &b)| *a = wide(*a, b));
            }
            _ => return Err(self.mismatch(other)),
        }
        Ok(())
    }

    fn mismatch(&self, other: &Self) -> WordsError {
        WordsError {
            length: other.len(),
            bits: other.size().bits(),
            expected_length: self.len(),
            expected_bits: self.size().bits(),
        }
    }

    /// Each word as the integer nearest to zero that it can stand for.
    pub fn centred(&self) -> Centred<'_> {
        match self {
            Self::Narrow(words) => Centred::Narrow(words.iter()),
            Self::Wide(words) => Centred::Wide(words.iter()),
        }
    }
}

/// The integers of [`Words::centred`].
#[derive(Clone, Debug)]
pub enum Centred<'a> {
    /// Modulo 2³².
    Narrow(std::slice::Iter<'a, u32>),
    /// Modulo 2⁶⁴.
    Wide(std::slice::Iter<'a, u64>),
}

impl Iterator for Centred<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.nth(0)
    }

    /// Without a look at those that are left out.
    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<i64> {
        match self {
            Self::Narrow(words) => words.nth(skipped).map(|&word| i64::from(word as i32)),
            Self::Wide(words) => words.nth(skipped).map(|&word| word as i64),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Narrow(words) => words.size_hint(),
            Self::Wide(words) => words.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZES: [WordSize; 2] = [WordSize::Bits32, WordSize::Bits64];

    proptest! {
        #[test]
        fn sums_are_the_same_in_any_order_and_masks_cancel(
            rows in proptest::collection::vec(proptest::collection::vec(any::<i64>(), 5), 1..6), mask in proptest::collection::vec(any::<i64>(), 5),
        ) {
            for size in SIZES {
                let sum = |rows: &mut dyn Iterator<Item = &Vec<i64>>| {
                    let mut total = Words::zeros(size, 5);
                    rows.for_each(|row| total.add(&Words::of(size, row.iter().copied())).unwrap());
                    total
                };
                let forwards = sum(&mut rows.iter());
                let mut backwards = sum(&mut rows.iter().rev());
                prop_assert_eq!(&forwards, &backwards);
                let mask = Words::of(size, mask.iter().copied());
                backwards.add(&mask).unwrap();
                backwards.subtract(&mask).unwrap();
                prop_assert_eq!(&forwards, &backwards);
            }
        }
    }

    #[test]
    fn small_integers_come_back_with_their_sign() {
        let integers = [0, 1, -1, i64::from(i32::MAX), i64::from(i32::MIN)];
        for size in SIZES {
            assert_eq!(Words::of(size, integers).centred().collect::<Vec<_>>(), integers);
        }
        assert_eq!(Words::of(WordSize::Bits32, [1 << 31]).centred().next(), Some(-(1 << 31)));
    }

    #[test]
    fn words_of_other_length_or_size_are_refused_and_change_nothing() {
        let mut words = Words::zeros(WordSize::Bits32, 3);
        for other in [Words::of(WordSize::Bits32, [1; 2]), Words::of(WordSize::Bits64, [1; 3])] {
            let error = words.add(&other).unwrap_err();
            assert!(error.to_string().contains("3 of 32 bits"), "{error}");
        }
        assert_eq!(words, Words::zeros(WordSize::Bits32, 3));
    }
}
