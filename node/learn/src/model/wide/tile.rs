//! The inner loop of both large products: some rows of sums, two registers wide, held in three quarters of the registers.
//!
//! Every sum is made in one chain of fused multiply-adds in the order of its terms. So it depends neither on the size of the tile that it
//! happens to lie in, nor on the thread that makes it, nor on the width of registers.

use pulp::x86::{V3, V4};
use pulp::{NullaryFnOnce, Simd, bytemuck};

/// Instructions with fused multiply-add, and how many rows of sums their registers hold.
pub(super) trait Tiles: Simd {
    /// Rows of a tile.
    const TALL: usize;
    /// Columns of a tile: two registers.
    const WIDE: usize = 2 * Self::F32_LANES;

    /// Runs what was compiled for these instructions.
    fn run<F: NullaryFnOnce>(self, f: F) -> F::Output;
}

/// Sixteen registers of eight numbers.
impl Tiles for V3 {
    const TALL: usize = 6;

    fn run<F: NullaryFnOnce>(self, f: F) -> F::Output {
        self.vectorize(f)
    }
}

/// Thirty-two registers of sixteen numbers: twelve rows would fit too, but batches and layers are more often multiples of eight.
impl Tiles for V4 {
    const TALL: usize = 8;

    fn run<F: NullaryFnOnce>(self, f: F) -> F::Output {
        self.vectorize(f)
    }
}

/// One row of a tile or of a panel: one or two lines of the cache.
pub(super) type Line<S> = [<S as Simd>::f32s; 2];

/// The numbers of some lines.
#[inline(always)]
pub(super) fn numbers<S: Tiles>(lines: &[Line<S>]) -> &[f32] {
    bytemuck::cast_slice(lines)
}

/// The numbers of some lines, to write to.
#[inline(always)]
pub(super) fn numbers_mut<S: Tiles>(lines: &mut [Line<S>]) -> &mut [f32] {
    bytemuck::cast_slice_mut(lines)
}

/// A line of zeros.
#[inline(always)]
pub(super) fn zeros<S: Tiles>() -> Line<S> {
    bytemuck::Zeroable::zeroed()
}

/// `Σ_i factors(i)[r] · panel[i]` for each row r.
#[inline(always)]
pub(super) fn tile<const R: usize, S: Tiles>(
    simd: S,
    panel: &[Line<S>],
    factors: impl Fn(usize) -> [f32; R],
) -> [Line<S>; R] {
    let mut sums = [zeros::<S>(); R];
    for (i, &[left, right]) in panel.iter().enumerate() {
        for (sums, factor) in sums.iter_mut().zip(factors(i)) {
            let factor = simd.splat_f32s(factor);
            sums[0] = simd.mul_add_f32s(factor, left, sums[0]);
            sums[1] = simd.mul_add_f32s(factor, right, sums[1]);
        }
    }
    sums
}

/// Calls `$f::<R, _>(…)` with the number of rows `$rows` as the constant R.
macro_rules! with_rows {
    ($rows:expr, $f:ident($($argument:expr),* $(,)?)) => {
        match $rows {
            0 => {}
            1 => $f::<1, _>($($argument),*),
            2 => $f::<2, _>($($argument),*),
            3 => $f::<3, _>($($argument),*),
            4 => $f::<4, _>($($argument),*),
            5 => $f::<5, _>($($argument),*),
            6 => $f::<6, _>($($argument),*),
            7 => $f::<7, _>($($argument),*),
            _ => $f::<8, _>($($argument),*),
        }
    };
}
pub(super) use with_rows;
