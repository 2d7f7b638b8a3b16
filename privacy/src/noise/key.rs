//! The key of one bulk call, and the chunks that are made from it.

use super::chacha::{KeyStream, Rounds, Words};
use super::integer::{self, IntegerNormal};
use super::normal;

/// A ChaCha key with the number of rounds it is to be used with. Used for one bulk call, then forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// For private noise. The best attack known reaches seven rounds; twelve keep a margin.
    TwelveRounds([u8; 32]),
    /// For seeded noise: 1.4 times as fast, measured on words.
    EightRounds([u8; 32]),
}

impl Key {
    /// The words of chunk `index`: the beginning of stream 2·`index`.
    pub(super) fn fill_words(&self, index: usize, chunk: &mut [u64]) {
        let mut from = self.stream(2 * index as u64);
        let (whole, rest) = chunk.as_chunks_mut::<8>();
        from.fill(whole);
        if !rest.is_empty() {
            let mut last = [[0; 8]];
            from.fill(&mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
        }
    }

    /// Replaces each value of chunk `index` by `f(value, fresh standard normal)`. Sample `j` is made from word `j` of stream 2·`index`; the
    /// few that need more words take them from stream 2·`index` + 1.
    pub(super) fn combine<T: Copy>(&self, index: usize, chunk: &mut [T], f: impl Fn(T, f64) -> T) {
        let mut spare = Words::new(self.stream(2 * index as u64 + 1));
        normal::combine(&mut self.stream(2 * index as u64), &mut || spare.next(), chunk, f);
        if matches!(self, Self::TwelveRounds(_)) {
            normal::forget();
        }
    }

    /// As [`combine`](Self::combine), with integers of a law.
    pub(super) fn combine_integers<T: Copy>(
        &self,
        law: &IntegerNormal,
        index: usize,
        chunk: &mut [T],
        f: impl Fn(T, i64) -> T,
    ) {
        let mut spare = Words::new(self.stream(2 * index as u64 + 1));
        integer::combine(law, &mut self.stream(2 * index as u64), &mut || spare.next(), chunk, f);
        if matches!(self, Self::TwelveRounds(_)) {
            integer::forget();
        }
    }

    fn stream(&self, number: u64) -> KeyStream<'_> {
        let (rounds, key) = match self {
            Self::TwelveRounds(key) => (Rounds::Twelve, key),
            Self::EightRounds(key) => (Rounds::Eight, key),
        };
        KeyStream { rounds, key, stream: number, next_block: 0 }
    }
}
