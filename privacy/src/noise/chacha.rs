//! The key stream of ChaCha in bulk, three times two blocks at a time where the processor has AVX2.
//!
//! `rand_chacha` works on four blocks at a time, and its steps wait for each other; with six they overlap, which is 1.4 times as
//! fast with twelve rounds and 1.8 times with eight (`cargo bench -p privacy --bench noise`). Everywhere else `rand_chacha` fills in.
//! The stream is the same in both cases: ChaCha with a 64-bit block counter and a 64-bit stream number.

use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_chacha::{ChaCha8Rng, ChaCha12Rng};

/// One block of the key stream: eight words, little-endian as the cipher defines them.
pub(super) type Block = [u64; 8];

/// How many rounds; even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    Eight,
    Twelve,
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
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            simd.vectorize(avx2::Fill { simd, from: self, out });
            self.next_block += out.len() as u64;
            return;
        }
        self.fill_portably(out);
    }

    fn fill_portably(&mut self, out: &mut [Block]) {
        fn fill(rng: &mut impl Rng, out: &mut [Block]) {
            out.iter_mut().flatten().for_each(|word| *word = rng.next_u64());
        }
        // A block is sixteen words of 32 bits.
        let position = u128::from(self.next_block) * 16;
        match self.rounds {
            Rounds::Eight => {
                let mut rng = ChaCha8Rng::from_seed(*self.key);
                rng.set_stream(self.stream);
                rng.set_word_pos(position);
                fill(&mut rng, out);
            }
            Rounds::Twelve => {
                let mut rng = ChaCha12Rng::from_seed(*self.key);
                rng.set_stream(self.stream);
                rng.set_word_pos(position);
                fill(&mut rng, out);
            }
        }
        self.next_block += out.len() as u64;
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! A register holds one row of two blocks; `pulp` makes the instructions safe by a token that the processor has them.

    use std::arch::x86_64::__m256i as Row;

    use pulp::x86::V3;

    use super::{Block, KeyStream, Rounds};

    /// Pairs of blocks that are worked on side by side: 12 of 16 registers hold them, so that little is spilled.
    const PAIRS: usize = 3;

    /// The first row of every block: "expand 32-byte k".
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

    #[derive(Clone, Copy)]
    struct Pair {
        a: Row,
        b: Row,
        c: Row,
        d: Row,
    }

    /// Byte shuffles that rotate every 32-bit word to the left.
    struct Turns {
        by_16: Row,
        by_8: Row,
    }

    pub(super) struct Fill<'a, 'k> {
        pub(super) simd: V3,
        pub(super) from: &'a KeyStream<'k>,
        pub(super) out: &'a mut [Block],
    }

    impl pulp::NullaryFnOnce for Fill<'_, '_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let (simd, mut next) = (self.simd, self.from.next_block);
            let (turns, (whole, rest)) = (turns(), self.out.as_chunks_mut());
            for out in whole {
                six_blocks(simd, self.from, &turns, next, out);
                next += 2 * PAIRS as u64;
            }
            if !rest.is_empty() {
                let mut last = [[0; 8]; 2 * PAIRS];
                six_blocks(simd, self.from, &turns, next, &mut last);
                rest.copy_from_slice(&last[..rest.len()]);
            }
        }
    }

    #[inline(always)]
    fn six_blocks(simd: V3, from: &KeyStream<'_>, turns: &Turns, first: u64, out: &mut [Block; 2 * PAIRS]) {
        let double_rounds = match from.rounds {
            Rounds::Eight => 4,
            Rounds::Twelve => 6,
        };
        let start: [Pair; PAIRS] = std::array::from_fn(|pair| begin(from, first + 2 * pair as u64));
        let mut state = start;
        for _ in 0..double_rounds {
            columns(simd, &mut state, turns);
            // Diagonals become columns, and back.
            shift_rows::<0b00_11_10_01, 0b10_01_00_11>(simd, &mut state);
            columns(simd, &mut state, turns);
            shift_rows::<0b10_01_00_11, 0b00_11_10_01>(simd, &mut state);
        }
        let (out, _) = out.as_chunks_mut::<2>();
        for ((out, end), start) in out.iter_mut().zip(state).zip(start) {
            let sum = |x, y| simd.avx2._mm256_add_epi32(x, y);
            let (a, b) = (sum(end.a, start.a), sum(end.b, start.b));
            let (c, d) = (sum(end.c, start.c), sum(end.d, start.d));
            // The low halves are the rows of the first block, the high ones those of the second.
            let half = |x, y| {
                (
                    simd.avx2._mm256_permute2x128_si256::<0x20>(x, y),
                    simd.avx2._mm256_permute2x128_si256::<0x31>(x, y),
                )
            };
            let ((first_ab, second_ab), (first_cd, second_cd)) = (half(a, b), half(c, d));
            *out = [pulp::cast([first_ab, first_cd]), pulp::cast([second_ab, second_cd])];
        }
    }

    #[inline(always)]
    fn begin(from: &KeyStream<'_>, block: u64) -> Pair {
        let key: [[u32; 4]; 2] = pulp::cast(*from.key);
        Pair {
            a: pulp::cast([CONSTANTS; 2]),
            b: pulp::cast([key[0]; 2]),
            c: pulp::cast([key[1]; 2]),
            d: pulp::cast([block, from.stream, block.wrapping_add(1), from.stream]),
        }
    }

    #[inline(always)]
    fn turns() -> Turns {
        let by = |bytes: u8| -> Row {
            let shuffle: [u8; 16] = std::array::from_fn(|i| (i as u8 & !3) | ((i as u8 + 4 - bytes) & 3));
            pulp::cast([shuffle; 2])
        };
        // Hidden from the compiler, which would make two shuffles of halves out of the first.
        Turns { by_16: std::hint::black_box(by(2)), by_8: by(1) }
    }

    /// The quarter rounds of all columns; one operation of all pairs after the other, so that none waits.
    #[inline(always)]
    fn columns(simd: V3, state: &mut [Pair; PAIRS], turns: &Turns) {
        let avx2 = simd.avx2;
        for x in state.iter_mut() {
            x.a = avx2._mm256_add_epi32(x.a, x.b);
            x.d = avx2._mm256_shuffle_epi8(avx2._mm256_xor_si256(x.d, x.a), turns.by_16);
        }
        for x in state.iter_mut() {
            x.c = avx2._mm256_add_epi32(x.c, x.d);
            x.b = rotated::<12, 20>(simd, avx2._mm256_xor_si256(x.b, x.c));
        }
        for x in state.iter_mut() {
            x.a = avx2._mm256_add_epi32(x.a, x.b);
            x.d = avx2._mm256_shuffle_epi8(avx2._mm256_xor_si256(x.d, x.a), turns.by_8);
        }
        for x in state.iter_mut() {
            x.c = avx2._mm256_add_epi32(x.c, x.d);
            x.b = rotated::<7, 25>(simd, avx2._mm256_xor_si256(x.b, x.c));
        }
    }

    #[inline(always)]
    fn rotated<const LEFT: i32, const RIGHT: i32>(simd: V3, x: Row) -> Row {
        let avx2 = simd.avx2;
        avx2._mm256_or_si256(avx2._mm256_slli_epi32::<LEFT>(x), avx2._mm256_srli_epi32::<RIGHT>(x))
    }

    /// Moves the second, third and fourth row by one, two and three places (or back).
    #[inline(always)]
    fn shift_rows<const SECOND: i32, const FOURTH: i32>(simd: V3, state: &mut [Pair; PAIRS]) {
        for x in state.iter_mut() {
            x.b = simd.avx2._mm256_shuffle_epi32::<SECOND>(x.b);
            x.c = simd.avx2._mm256_shuffle_epi32::<0b01_00_11_10>(x.c);
            x.d = simd.avx2._mm256_shuffle_epi32::<FOURTH>(x.d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key stream with an uneven key, stream number and position.
    fn stream(rounds: Rounds, key: &[u8; 32], next_block: u64) -> KeyStream<'_> {
        KeyStream { rounds, key, stream: 0x0123_4567_89ab_cdef, next_block }
    }

    #[test]
    fn the_stream_is_that_of_rand_chacha_for_every_length_and_position() {
        let key: [u8; 32] = std::array::from_fn(|i| (7 * i + 1) as u8);
        for rounds in [Rounds::Eight, Rounds::Twelve] {
            // The last position is where the low half of the counter overflows.
            for position in [0, 5, u64::from(u32::MAX) - 2] {
                for length in 0..30 {
                    let (mut fast, mut slow) = (vec![[0; 8]; length], vec![[0; 8]; length]);
                    let (mut ours, mut theirs) =
                        (stream(rounds, &key, position), stream(rounds, &key, position));
                    ours.fill(&mut fast);
                    theirs.fill_portably(&mut slow);
                    assert_eq!(fast, slow, "{rounds:?}, {length} blocks from {position}");
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
