//! The key stream of ChaCha in bulk: 28 blocks at a time where the processor has AVX-512, six where it has AVX2.
//!
//! `rand_chacha` works on four blocks at a time, and its steps wait for each other; with six they overlap, which is 1.4 times as
//! fast with twelve rounds and 1.8 times with eight (`cargo bench -p murmuration-privacy --bench noise`). Everywhere else `rand_chacha` fills in.
//! The stream is the same in all cases: ChaCha with a 64-bit block counter and a 64-bit stream number.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod rows;
mod single;

pub(super) use single::keys;

use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_chacha::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};

/// One block of the key stream: eight words, little-endian as the cipher defines them.
pub(super) type Block = [u64; 8];

/// The first row of every block: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// How many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    Eight,
    Twelve,
    Twenty,
}

impl Rounds {
    /// Pairs of rounds, one on columns and one on diagonals.
    fn doubled(self) -> usize {
        match self {
            Self::Eight => 4,
            Self::Twelve => 6,
            Self::Twenty => 10,
        }
    }
}

/// A position in one stream of one key.
#[derive(Clone, Debug)]
pub(super) struct KeyStream<'a> {
    pub(super) rounds: Rounds,
    pub(super) key: &'a [u8; 32],
    pub(super) stream: u64,
    pub(super) next_block: u64,
}

/// Words of a stream one by one, for those who need few; none is made before the first is asked for.
pub(super) struct Words<'a> {
    stream: KeyStream<'a>,
    blocks: [Block; 6],
    used: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(stream: KeyStream<'a>) -> Self {
        let blocks = [[0; 8]; 6];
        Self { stream, used: blocks.as_flattened().len(), blocks }
    }

    pub(super) fn next(&mut self) -> u64 {
        if self.used == self.blocks.as_flattened().len() {
            self.stream.fill(&mut self.blocks);
            self.used = 0;
        }
        self.used += 1;
        self.blocks.as_flattened()[self.used - 1]
    }
}

impl KeyStream<'_> {
    /// Overwrites `out` with the next blocks.
    pub(super) fn fill(&mut self, out: &mut [Block]) {
        if let [only] = out {
            *only = single::block(self.rounds, self.key, self.stream, self.next_block);
            self.next_block += 1;
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V4::try_new() {
            return self.fill_by_fours(simd, out);
        } else if let Some(simd) = pulp::x86::V3::try_new() {
            return self.fill_by_pairs(simd, out);
        }
        self.fill_portably(out);
    }

    #[cfg(target_arch = "x86_64")]
    fn fill_by_fours(&mut self, simd: pulp::x86::V4, out: &mut [Block]) {
        simd.vectorize(avx512::Fill { simd, from: self, out });
        self.next_block += out.len() as u64;
    }

    #[cfg(target_arch = "x86_64")]
    fn fill_by_pairs(&mut self, simd: pulp::x86::V3, out: &mut [Block]) {
        simd.vectorize(avx2::Fill { simd, from: self, out });
        self.next_block += out.len() as u64;
    }

    fn fill_portably(&mut self, out: &mut [Block]) {
        macro_rules! fill_from {
            ($rng:ident) => {{
                let mut rng = $rng::from_seed(*self.key);
                rng.set_stream(self.stream);
                // A block is sixteen words of 32 bits.
                rng.set_word_pos(u128::from(self.next_block) * 16);
                out.iter_mut().flatten().for_each(|word| *word = rng.next_u64());
            }};
        }
        match self.rounds {
            Rounds::Eight => fill_from!(ChaCha8Rng),
            Rounds::Twelve => fill_from!(ChaCha12Rng),
            Rounds::Twenty => fill_from!(ChaCha20Rng),
        }
        self.next_block += out.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key stream with an uneven key, stream number and position.
    fn stream(rounds: Rounds, key: &[u8; 32], next_block: u64) -> KeyStream<'_> {
        KeyStream { rounds, key, stream: 0x0123_4567_89ab_cdef, next_block }
    }

    type Fill = fn(&mut KeyStream<'_>, &mut [Block]);

    /// Every way to fill that this processor has.
    fn ways() -> Vec<(&'static str, Fill)> {
        let mut ways: Vec<(_, Fill)> = vec![("as chosen", |stream, out| stream.fill(out))];
        #[cfg(target_arch = "x86_64")]
        {
            if pulp::x86::V3::try_new().is_some() {
                ways.push(("AVX2", |stream, out| {
                    stream.fill_by_pairs(pulp::x86::V3::try_new().expect("asked before"), out);
                }));
            }
            if pulp::x86::V4::try_new().is_some() {
                ways.push(("AVX-512", |stream, out| {
                    stream.fill_by_fours(pulp::x86::V4::try_new().expect("asked before"), out);
                }));
            }
        }
        ways
    }

    #[test]
    fn the_stream_is_that_of_rand_chacha_for_every_length_and_position() {
        let key: [u8; 32] = std::array::from_fn(|i| (7 * i + 1) as u8);
        for rounds in [Rounds::Eight, Rounds::Twelve, Rounds::Twenty] {
            // The last position is where the low half of the counter overflows.
            for position in [0, 5, u64::from(u32::MAX) - 2] {
                for (length, (way, fill)) in
                    (0..60).flat_map(|length| ways().into_iter().map(move |way| (length, way)))
                {
                    let (mut fast, mut slow) = (vec![[0; 8]; length], vec![[0; 8]; length]);
                    let (mut ours, mut theirs) =
                        (stream(rounds, &key, position), stream(rounds, &key, position));
                    fill(&mut ours, &mut fast);
                    theirs.fill_portably(&mut slow);
                    assert_eq!(fast, slow, "{way}, {rounds:?}, {length} blocks from {position}");
                    assert_eq!(ours.next_block, theirs.next_block);
                }
            }
        }
    }

    #[test]
    fn filling_in_parts_is_filling_at_once() {
        let key = [9; 32];
        let mut whole = [[0; 8]; 40];
        stream(Rounds::Twelve, &key, 0).fill(&mut whole);
        let (mut parts, mut from) = ([[0; 8]; 40], stream(Rounds::Twelve, &key, 0));
        let (first, rest) = parts.split_at_mut(7);
        from.fill(first);
        from.fill(rest);
        assert_eq!(whole, parts);
    }
}
