//! Vector loops of the models, compiled for the widest instructions that the processor has.
//!
//! Each kernel is a plain loop that the compiler vectorises; [`pulp`] chooses the version at run time. Results depend
//! on the processor only through fused multiply-add, never on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use privacy::vectorised;
use rayon::prelude::*;

use super::small;

/// Numbers of one task: 64 KiB; less would not be worth handing over.
const PIECE: usize = 1 << 14;
/// Numbers from which on several threads work on them.
const WORTH_THREADS: usize = 4 * PIECE;

/// `out = left · right`, on one thread: the batch is what is divided among threads, not a product.
pub(crate) fn multiply(mut out: MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    if small::multiply(&mut out, left, right) {
        return;
    }
    matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
}

/// A row-major matrix over the beginning of `values`.
pub(crate) fn matrix(values: &[f32], rows: usize, columns: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(&values[..rows * columns], rows, columns)
}

/// A row-major matrix to write to, over the beginning of `values`.
pub(crate) fn matrix_mut(values: &mut [f32], rows: usize, columns: usize) -> MatMut<'_, f32> {
    MatMut::from_row_major_slice_mut(&mut values[..rows * columns], rows, columns)
}

/// `values[i] += addend[i]`.
pub(crate) fn add(values: &mut [f32], addend: &[f32]) {
    in_pieces(values, addend, |value, more| *value += more);
}

/// `sums[i] += addend[i]`, in double precision.
pub(crate) fn add_to_doubles(sums: &mut [f64], addend: &[f32]) {
    vectorised(
        #[inline(always)]
        || sums.iter_mut().zip(addend).for_each(|(sum, &more)| *sum += f64::from(more)),
    );
}

/// `values[i] += factor · addend[i]`.
pub(crate) fn add_scaled(values: &mut [f32], factor: f32, addend: &[f32]) {
    in_pieces(values, addend, |value, more| *value += factor * more);
}

/// `values[i] = factor · values[i] + addend[i]`.
pub(crate) fn scale_and_add(values: &mut [f32], factor: f32, addend: &[f32]) {
    in_pieces(values, addend, |value, more| *value = factor * *value + more);
}

/// `out[i] = left[i] + right[i]`.
pub(crate) fn sum_of_two(out: &mut [f32], left: &[f32], right: &[f32]) {
    let apply = |((out, left), right): ((&mut [f32], &[f32]), &[f32])| {
        vectorised(
            #[inline(always)]
            || {
                let pairs = left.iter().zip(right);
                out.iter_mut().zip(pairs).for_each(|(out, (&left, &right))| *out = left + right);
            },
        );
    };
    if out.len() < WORTH_THREADS {
        return apply(((out, left), right));
    }
    let pieces = out.par_chunks_mut(PIECE).zip(left.par_chunks(PIECE)).zip(right.par_chunks(PIECE));
    pieces.for_each(apply);
}

/// Applies `f` to each value and its partner; long vectors on several threads.
fn in_pieces(values: &mut [f32], others: &[f32], f: impl Fn(&mut f32, f32) + Sync) {
    let apply = |(values, others): (&mut [f32], &[f32])| {
        vectorised(
            #[inline(always)]
            || values.iter_mut().zip(others).for_each(|(value, &other)| f(value, other)),
        );
    };
    if values.len() < WORTH_THREADS {
        return apply((values, others));
    }
    values.par_chunks_mut(PIECE).zip(others.par_chunks(PIECE)).for_each(apply);
}

/// Adds `bias` to every row.
pub(crate) fn add_to_rows(rows: &mut [f32], bias: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(bias.len()) {
                row.iter_mut().zip(bias).for_each(|(value, &more)| *value += more);
            }
        },
    );
}

/// The sum of all rows.
pub(crate) fn sum_of_rows(out: &mut [f32], rows: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for row in rows.chunks_exact(out.len()) {
                out.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
            }
        },
    );
}

/// Multiplies row `i` by `factors[i]`. A factor of zero writes zeros, also over NaN and infinities.
pub(crate) fn scale_rows(rows: &mut [f32], factors: &[f32]) {
    let width = rows.len() / factors.len().max(1);
    vectorised(
        #[inline(always)]
        || {
            for (row, &factor) in rows.chunks_exact_mut(width.max(1)).zip(factors) {
                if factor == 0.0 {
                    row.fill(0.0);
                } else if factor != 1.0 {
                    row.iter_mut().for_each(|value| *value *= factor);
                }
            }
        },
    );
}

/// `norms[i] = ‖row i‖²` in double precision: not finite where a value is not.
pub(crate) fn squared_norms_of_rows(norms: &mut [f64], rows: &[f32]) {
    let width = rows.len() / norms.len().max(1);
    vectorised(
        #[inline(always)]
        || {
            for (norm, row) in norms.iter_mut().zip(rows.chunks_exact(width.max(1))) {
                *norm = squared_norm(row);
            }
        },
    );
}

/// `bounds[i]` ≥ ‖row i‖², and above it by less than a relative 2⁻¹⁵; not finite where a value is not. Twice as fast as
/// [`squared_norms_of_rows`], for rows that need no exact norm.
///
/// Sixteen running sums in single precision: no square passes through more than R = width/16 + 7 roundings, all to nearest and of numbers
/// that are not negative, so the true sum is at most 1/(1 − R·2⁻²⁴) times the computed one, and 2⁻¹⁴⁹ for each square that underflowed.
pub(crate) fn bound_squared_norms_of_rows(bounds: &mut [f64], rows: &[f32]) {
    const LANES: usize = 16;
    const WORTH_IT: std::ops::Range<usize> = 2 * LANES..1 << 12;
    let width = rows.len() / bounds.len().max(1);
    if !WORTH_IT.contains(&width) {
        return squared_norms_of_rows(bounds, rows);
    }
    let roundings = (width / LANES + 7) as f64;
    let factor = 1.0 / (1.0 - roundings * f64::from(f32::EPSILON) / 2.0) * (1.0 + f64::EPSILON);
    let underflow = width as f64 * f64::exp2(-149.0);
    vectorised(
        #[inline(always)]
        || {
            for (bound, row) in bounds.iter_mut().zip(rows.chunks_exact(width)) {
                let (chunks, rest) = row.as_chunks::<LANES>();
                let mut sums = [0.0_f32; LANES];
                if !rest.is_empty() {
                    let mut last = [0.0; LANES];
                    last[..rest.len()].copy_from_slice(rest);
                    sums = last.map(|x| x * x);
                }
                for chunk in chunks {
                    sums.iter_mut().zip(chunk).for_each(|(sum, &x)| *sum += x * x);
                }
                *bound = f64::from(sum_by_halves(sums)) * factor + underflow;
                // An overflow of single precision is no overflow of the norm.
                if !bound.is_finite() {
                    *bound = squared_norm(row);
                }
            }
        },
    );
}

/// By name and not in a loop: the compiler keeps these in registers.
#[inline(always)]
fn sum_by_halves(sums: [f32; 16]) -> f32 {
    let eight: [f32; 8] = std::array::from_fn(|i| sums[i] + sums[i + 8]);
    let four: [f32; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// ‖row‖² in double precision.
pub(crate) fn squared_norm_of(row: &[f32]) -> f64 {
    vectorised(
        #[inline(always)]
        || squared_norm(row),
    )
}

#[inline(always)]
fn squared_norm(row: &[f32]) -> f64 {
    const LANES: usize = 8;
    let square = |x: f32| f64::from(x) * f64::from(x);
    let mut sums = [0.0_f64; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|&x| square(x)).sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &x)| *sum += square(x));
    }
    // By halves: a chain of eight additions would take as long as a short row.
    for i in 0..4 {
        sums[i] += sums[i + 4];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `values[i] = max(values[i], 0)`; NaN stays NaN.
pub(crate) fn relu(values: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = if *value < 0.0 { 0.0 } else { *value }),
    );
}

/// Stops the signal where the activation is zero.
pub(crate) fn relu_backward(signal: &mut [f32], activation: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (signal, &active) in signal.iter_mut().zip(activation) {
                *signal = if active <= 0.0 { 0.0 } else { *signal };
            }
        },
    );
}

/// `values[i] = tanh(values[i])`.
pub(crate) fn tanh(values: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = tanh_one(*value)),
    );
}

/// Multiplies the signal by the slope 1 − a² of the hyperbolic tangent.
pub(crate) fn tanh_backward(signal: &mut [f32], activation: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (signal, &active) in signal.iter_mut().zip(activation) {
                *signal *= 1.0 - active * active;
            }
        },
    );
}

/// `values[i] = 1/(1 + exp(−values[i]))`.
pub(crate) fn sigmoid(values: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || values.iter_mut().for_each(|value| *value = 1.0 / (1.0 + exp_one(-*value))),
    );
}

/// Each row of `classes` numbers becomes probabilities: exp(z − max)/Σ.
pub(crate) fn softmax_rows(values: &mut [f32], classes: usize) {
    vectorised(
        #[inline(always)]
        || {
            for row in values.chunks_exact_mut(classes) {
                // NaN is passed over here and found again by the subtraction.
                let top = row.iter().fold(f32::NEG_INFINITY, |top, &z| if z > top { z } else { top });
                row.iter_mut().for_each(|value| *value -= top);
            }
            // One pass over everything: rows are short, and this is the loop worth vectorising.
            values.iter_mut().for_each(|value| *value = exp_one(*value));
            for row in values.chunks_exact_mut(classes) {
                let inverse = 1.0 / row.iter().sum::<f32>();
                row.iter_mut().for_each(|value| *value *= inverse);
            }
        },
    );
}

/// exp in single precision to 2 units in the last place: x = n·ln 2 + r, a polynomial in r, and n put in the exponent.
/// Below −87 the result is the smallest normal number or so, above 88 it is infinity. NaN stays NaN.
#[inline(always)]
fn exp_one(x: f32) -> f32 {
    /// 1.5·2²³: adding it rounds to an integer, which then sits in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with trailing zeros so that n times it is exact (Cody and Waite).
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // Minimax on [−ln 2/2, ln 2/2] (Cephes).
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    let mantissa = p * r * r + r + 1.0;
    // Two halves of the exponent, so that 2^128 overflows to infinity by arithmetic and not by bits.
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    let scale = |n: i32| f32::from_bits(((n + 127) as u32) << 23);
    mantissa * scale(half) * scale(n - half)
}

#[inline(always)]
fn tanh_one(x: f32) -> f32 {
    let square = x * x;
    // Near zero 1 − 2/(e^{2x}+1) would cancel; the odd series is good to 1e-7 relative below 0.3.
    let series = x
        * (1.0
            + square
                * (-0.333_333_34
                    + square * (0.133_333_34 + square * (-0.053_968_254 + square * 0.021_869_488))));
    let closed = 1.0 - 2.0 / (exp_one(2.0 * x) + 1.0);
    if square < 0.09 { series } else { closed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_right_to_three_units_in_the_last_place_over_its_range() {
        for i in -8_600..8_850 {
            let x = i as f32 * 0.01;
            let exact = libm::exp(f64::from(x));
            let error = (f64::from(exp_one(x)) - exact).abs() / exact;
            assert!(error < 3.0 * f64::from(f32::EPSILON), "exp({x}) is off by {error}");
        }
        assert_eq!(exp_one(0.0), 1.0);
        assert_eq!(exp_one(1e30), f32::INFINITY);
        assert!(exp_one(-1e30) < 2e-38);
        assert!(exp_one(f32::NAN).is_nan());
    }

    #[test]
    fn tanh_is_right_to_four_units_in_the_last_place() {
        let mut values: Vec<f32> = (-2_000..2_000).map(|i| i as f32 * 0.005).collect();
        let before = values.clone();
        tanh(&mut values);
        for (x, y) in before.iter().zip(&values) {
            let exact = libm::tanh(f64::from(*x));
            assert!((f64::from(*y) - exact).abs() <= 4.0 * f64::from(f32::EPSILON) * exact.abs(), "{x}: {y}");
        }
        let mut far = [1e30, -1e30, f32::NAN];
        tanh(&mut far);
        assert!(far[0] == 1.0 && far[1] == -1.0 && far[2].is_nan());
    }

    #[test]
    fn softmax_of_huge_logits_is_finite_and_sums_to_one() {
        let mut values = [1e30, 0.0, -1e30, 0.0, 1.0, 2.0];
        softmax_rows(&mut values, 3);
        assert_eq!(values[..3], [1.0, values[1], values[2]]);
        assert!((values[3..].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn bounds_of_squared_norms_are_above_them_and_near() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        };
        for width in [1, 10, 32, 33, 64, 100, 784, 4_095, 5_000] {
            for scale in [1.0_f32, 1e-25, 1e15, 1e25] {
                let rows: Vec<f32> = (0..3 * width).map(|_| scale * next()).collect();
                let (mut bounds, mut exact) = ([0.0; 3], [0.0; 3]);
                bound_squared_norms_of_rows(&mut bounds, &rows);
                squared_norms_of_rows(&mut exact, &rows);
                for (bound, exact) in bounds.iter().zip(exact) {
                    // Squares of 1e-25 are below the smallest single: 2⁻¹⁴⁹ each is all that can be said of them.
                    let near = exact * (1.0 + f64::exp2(-15.0)) + width as f64 * f64::exp2(-148.0);
                    assert!((exact..=near).contains(bound), "{width} × {scale}: {bound} for {exact}");
                }
            }
        }
        // Where rounding always goes down: squares just above a tie would be the worst, ones with a long mantissa are bad enough.
        let rows = [1.000_000_1_f32; 512];
        let mut bound = [0.0];
        bound_squared_norms_of_rows(&mut bound, &rows);
        assert!(bound[0] >= 512.0 * f64::from(1.000_000_1_f32).powi(2));
        let mut bounds = [0.0; 2];
        let broken: Vec<f32> = (0..128)
            .map(|i| {
                if i == 5 {
                    f32::NAN
                } else if i == 100 {
                    f32::INFINITY
                } else {
                    1.0
                }
            })
            .collect();
        bound_squared_norms_of_rows(&mut bounds, &broken);
        assert!(bounds.iter().all(|bound| !bound.is_finite()));
    }

    #[test]
    fn a_factor_of_zero_removes_nan_and_infinity() {
        let mut rows = [f32::NAN, f32::INFINITY, 2.0, 4.0];
        scale_rows(&mut rows, &[0.0, 0.5]);
        assert_eq!(rows, [0.0, 0.0, 1.0, 2.0]);
    }
}
