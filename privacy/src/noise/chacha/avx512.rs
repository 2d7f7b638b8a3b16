//! Registers of four blocks, and words are rotated by one instruction: more than twice as fast as with AVX2.

use std::arch::x86_64::__m512i as Row;

use pulp::x86::V4;

use super::rows::{Registers, blocks};
use super::{Block, KeyStream};

/// Blocks at a time: 28 of 32 registers hold them, since every operation waits two cycles for the one before on some processors.
const MANY: usize = 28;
/// Blocks at a time for a short rest.
const FEW: usize = 8;

pub(super) struct Fill<'a, 'k> {
    pub(super) simd: V4,
    pub(super) from: &'a KeyStream<'k>,
    pub(super) out: &'a mut [Block],
}

impl pulp::NullaryFnOnce for Fill<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (registers, mut next) = (Avx512(self.simd), self.from.next_block);
        let (whole, rest) = self.out.as_chunks_mut::<MANY>();
        for out in whole {
            blocks::<{ MANY / 4 }, _>(registers, self.from, next, out);
            next += MANY as u64;
        }
        if rest.len() > FEW {
            let mut last = [[0; 8]; MANY];
            blocks::<{ MANY / 4 }, _>(registers, self.from, next, &mut last);
            rest.copy_from_slice(&last[..rest.len()]);
        } else if !rest.is_empty() {
            let mut last = [[0; 8]; FEW];
            blocks::<{ FEW / 4 }, _>(registers, self.from, next, &mut last);
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }
}

#[derive(Clone, Copy)]
struct Avx512(V4);

impl Registers for Avx512 {
    type Row = Row;
    const BLOCKS: usize = 4;

    #[inline(always)]
    fn row(self, words: [u32; 4]) -> Row {
        pulp::cast([words; 4])
    }

    #[inline(always)]
    fn counters(self, first: u64, stream: u64) -> Row {
        let block = |i| [first.wrapping_add(i), stream];
        pulp::cast([block(0), block(1), block(2), block(3)])
    }

    #[inline(always)]
    fn add(self, x: Row, y: Row) -> Row {
        self.0.avx512f._mm512_add_epi32(x, y)
    }

    #[inline(always)]
    fn xor(self, x: Row, y: Row) -> Row {
        self.0.avx512f._mm512_xor_si512(x, y)
    }

    #[inline(always)]
    fn turn<const BITS: i32>(self, x: Row) -> Row {
        self.0.avx512f._mm512_rol_epi32::<BITS>(x)
    }

    #[inline(always)]
    fn shift<const PLACES: usize>(self, x: Row) -> Row {
        match PLACES {
            1 => self.0.avx512f._mm512_shuffle_epi32::<0b00_11_10_01>(x),
            2 => self.0.avx512f._mm512_shuffle_epi32::<0b01_00_11_10>(x),
            3 => self.0.avx512f._mm512_shuffle_epi32::<0b10_01_00_11>(x),
            _ => unreachable!("a row has four places"),
        }
    }

    #[inline(always)]
    fn write(self, [a, b, c, d]: [Row; 4], out: &mut [Block]) {
        // Quarters are rows of blocks: a transposition of four by four.
        let avx512 = self.0.avx512f;
        let low = |x, y| avx512._mm512_shuffle_i32x4::<0b01_00_01_00>(x, y);
        let high = |x, y| avx512._mm512_shuffle_i32x4::<0b11_10_11_10>(x, y);
        let even = |x, y| avx512._mm512_shuffle_i32x4::<0b10_00_10_00>(x, y);
        let odd = |x, y| avx512._mm512_shuffle_i32x4::<0b11_01_11_01>(x, y);
        let halves = [(low(a, b), low(c, d)), (high(a, b), high(c, d))];
        for (out, (ab, cd)) in out.chunks_exact_mut(2).zip(halves) {
            out[0] = pulp::cast(even(ab, cd));
            out[1] = pulp::cast(odd(ab, cd));
        }
    }
}
