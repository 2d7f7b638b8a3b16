//! Registers of two blocks; `pulp` makes the instructions safe by a token that the processor has them.

use std::arch::x86_64::__m256i as Row;

use pulp::x86::V3;

use super::rows::{Registers, blocks};
use super::{Block, KeyStream};

/// Pairs of blocks that are worked on side by side: 12 of 16 registers hold them, so that little is spilled.
const PAIRS: usize = 3;

pub(super) struct Fill<'a, 'k> {
    pub(super) simd: V3,
    pub(super) from: &'a KeyStream<'k>,
    pub(super) out: &'a mut [Block],
}

impl pulp::NullaryFnOnce for Fill<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (registers, mut next) = (Avx2::new(self.simd), self.from.next_block);
        let (whole, rest) = self.out.as_chunks_mut::<{ 2 * PAIRS }>();
        for out in whole {
            blocks::<PAIRS, _>(registers, self.from, next, out);
            next += out.len() as u64;
        }
        if !rest.is_empty() {
            let mut last = [[0; 8]; 2 * PAIRS];
            blocks::<PAIRS, _>(registers, self.from, next, &mut last);
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }
}

/// AVX2 cannot rotate words, but whole bytes can be shuffled.
#[derive(Clone, Copy)]
struct Avx2 {
    simd: V3,
    by_16: Row,
    by_8: Row,
}

impl Avx2 {
    #[inline(always)]
    fn new(simd: V3) -> Self {
        let by = |bytes: u8| -> Row {
            let shuffle: [u8; 16] = std::array::from_fn(|i| (i as u8 & !3) | ((i as u8 + 4 - bytes) & 3));
            pulp::cast([shuffle; 2])
        };
        // Hidden from the compiler, which would make two shuffles of halves out of the first.
        Self { simd, by_16: std::hint::black_box(by(2)), by_8: by(1) }
    }

    #[inline(always)]
    fn turn_by_shifts<const LEFT: i32, const RIGHT: i32>(self, x: Row) -> Row {
        let avx2 = self.simd.avx2;
        avx2._mm256_or_si256(avx2._mm256_slli_epi32::<LEFT>(x), avx2._mm256_srli_epi32::<RIGHT>(x))
    }
}

impl Registers for Avx2 {
    type Row = Row;
    const BLOCKS: usize = 2;

    #[inline(always)]
    fn row(self, words: [u32; 4]) -> Row {
        pulp::cast([words; 2])
    }

    #[inline(always)]
    fn counters(self, first: u64, stream: u64) -> Row {
        pulp::cast([first, stream, first.wrapping_add(1), stream])
    }

    #[inline(always)]
    fn add(self, x: Row, y: Row) -> Row {
        self.simd.avx2._mm256_add_epi32(x, y)
    }

    #[inline(always)]
    fn xor(self, x: Row, y: Row) -> Row {
        self.simd.avx2._mm256_xor_si256(x, y)
    }

    #[inline(always)]
    fn turn<const BITS: i32>(self, x: Row) -> Row {
        match BITS {
            16 => self.simd.avx2._mm256_shuffle_epi8(x, self.by_16),
            8 => self.simd.avx2._mm256_shuffle_epi8(x, self.by_8),
            12 => self.turn_by_shifts::<12, 20>(x),
            7 => self.turn_by_shifts::<7, 25>(x),
            _ => unreachable!("the cipher turns by 16, 12, 8 and 7 bits"),
        }
    }

    #[inline(always)]
    fn shift<const PLACES: usize>(self, x: Row) -> Row {
        match PLACES {
            1 => self.simd.avx2._mm256_shuffle_epi32::<0b00_11_10_01>(x),
            2 => self.simd.avx2._mm256_shuffle_epi32::<0b01_00_11_10>(x),
            3 => self.simd.avx2._mm256_shuffle_epi32::<0b10_01_00_11>(x),
            _ => unreachable!("a row has four places"),
        }
    }

    #[inline(always)]
    fn write(self, [a, b, c, d]: [Row; 4], out: &mut [Block]) {
        // The low halves are the rows of the first block, the high ones those of the second.
        let avx2 = self.simd.avx2;
        let low = |x, y| avx2._mm256_permute2x128_si256::<0x20>(x, y);
        let high = |x, y| avx2._mm256_permute2x128_si256::<0x31>(x, y);
        out[0] = pulp::cast([low(a, b), low(c, d)]);
        out[1] = pulp::cast([high(a, b), high(c, d)]);
    }
}
