//! Rows of weights turned to columns in registers, where the processor has AVX-512: one by one, the stores would take longer than the product
//! that the weights are turned for.

use std::arch::x86_64::{__m512, __m512i};

use pulp::x86::V4;

use super::small::{LANES, turn_from};

/// Puts the weights of all lanes side by side, input by input; lanes without weights become zero.
pub(super) struct Turn<'a> {
    pub(super) simd: V4,
    pub(super) turned: &'a mut [[f32; LANES]],
    pub(super) lanes: &'a [&'a [f32]; LANES],
}

impl pulp::NullaryFnOnce for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { simd, turned, lanes } = self;
        let (blocks, _) = turned.as_chunks_mut::<LANES>();
        let done = blocks.len() * LANES;
        for (at, block) in blocks.iter_mut().enumerate() {
            let row = |lane: usize| -> __m512 {
                let row = lanes[lane].get(at * LANES..).and_then(|row| row.first_chunk::<LANES>());
                pulp::cast(row.copied().unwrap_or_default())
            };
            let columns = transposed(simd, std::array::from_fn(row));
            block.iter_mut().zip(columns).for_each(|(out, column)| *out = pulp::cast(column));
        }
        turn_from(done, turned, lanes);
    }
}

/// Rows become columns by shuffling them like cards, four times.
#[inline(always)]
fn transposed(simd: V4, mut rows: [__m512; LANES]) -> [__m512; LANES] {
    const HALF: usize = LANES / 2;
    // By turns from the first register and, from 16 on, from the second: their lower halves, or their upper ones.
    let halves: [__m512i; 2] = [0, HALF as u32].map(|from| {
        pulp::cast(std::array::from_fn::<u32, LANES, _>(|i| from + i as u32 / 2 + 16 * (i as u32 % 2)))
    });
    for _ in 0..LANES.ilog2() {
        rows = std::array::from_fn(|i| {
            simd.avx512f._mm512_permutex2var_ps(rows[i / 2], halves[i % 2], rows[HALF + i / 2])
        });
    }
    rows
}
