//! The inner loop of both large products: six rows of sums, sixteen columns wide, held in twelve of sixteen registers.
//!
//! Every sum is made in one chain of fused multiply-adds in the order of its terms. So it depends neither on the size of the tile that it
//! happens to lie in nor on the thread that makes it.

use std::arch::x86_64::__m256 as Lanes;

use pulp::x86::V3;

/// Rows of a tile.
pub(super) const TALL: usize = 6;
/// Columns of a tile: two registers.
pub(super) const WIDE: usize = 16;

/// One row of a tile or of a panel: as long as a line of the cache.
pub(super) type Line = [f32; WIDE];

/// `Σ_i factors(i)[r] · panel[i]` for each row r.
#[inline(always)]
pub(super) fn tile<const R: usize>(
    simd: V3,
    panel: &[Line],
    factors: impl Fn(usize) -> [f32; R],
) -> [Line; R] {
    let zero = simd.avx._mm256_setzero_ps();
    let mut sums = [[zero; 2]; R];
    for (i, line) in panel.iter().enumerate() {
        let [left, right]: [Lanes; 2] = pulp::cast(*line);
        for (sums, factor) in sums.iter_mut().zip(factors(i)) {
            let factor = simd.avx._mm256_set1_ps(factor);
            sums[0] = simd.fma._mm256_fmadd_ps(factor, left, sums[0]);
            sums[1] = simd.fma._mm256_fmadd_ps(factor, right, sums[1]);
        }
    }
    // Not `map`, which is a call of its own here.
    let mut out = [[0.0; WIDE]; R];
    out.iter_mut().zip(&sums).for_each(|(out, &sums)| *out = pulp::cast(sums));
    out
}

/// Calls `$f::<R>(…)` with the number of rows `$rows` as the constant R.
macro_rules! with_rows {
    ($rows:expr, $f:ident($($argument:expr),* $(,)?)) => {
        match $rows {
            0 => {}
            1 => $f::<1>($($argument),*),
            2 => $f::<2>($($argument),*),
            3 => $f::<3>($($argument),*),
            4 => $f::<4>($($argument),*),
            5 => $f::<5>($($argument),*),
            _ => $f::<6>($($argument),*),
        }
    };
}
pub(super) use with_rows;
