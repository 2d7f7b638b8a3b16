//! The outputs of a dense layer for the few records of a small participant.
//!
//! faer packs both sides before it multiplies, which costs more than a product of this size. Here only the weights are turned, and the sums of a
//! few records stay in registers. Every output is one chain of fused multiply-adds over the inputs in their order, as faer makes it, so the
//! bits do not depend on which of the two is used.

use std::cell::RefCell;

use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef};
use privacy::vectorised;

/// Multiplications up to which this is used: 0.4 µs instead of 0.8 for 10 records, 64 inputs and 10 outputs.
const SMALL: usize = 1 << 14;
/// Inputs up to which this is used.
const DEEPEST: usize = 256;
/// Outputs that are summed at once: one or two registers.
pub(super) const LANES: usize = 16;
/// Records that are worked on at a time: ten chains of sums, more than an addition takes cycles.
const RECORDS: usize = 5;

thread_local! {
    /// Weights by input, kept between calls.
    static TURNED: RefCell<Vec<[f32; LANES]>> = const { RefCell::new(Vec::new()) };
}

/// Overwrites `out` with `left · right` and says so, if that is small and lies in memory as a layer does: records by row, weights by output.
pub(super) fn multiply(out: &mut MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>) -> bool {
    let (inputs, outputs) = (left.ncols(), right.ncols());
    // faer has a way of its own where one side is a single vector, and ends a chain after a few hundred inputs.
    let is_a_matrix = left.nrows() > 1 && outputs > 1;
    let is_small = left.nrows() * inputs * outputs <= SMALL && inputs <= DEEPEST && is_a_matrix;
    let (Some(left), Some(weights)) = (left.try_as_row_major(), right.try_as_col_major()) else {
        return false;
    };
    let Some(mut out) = out.rb_mut().try_as_row_major_mut().filter(|_| is_small) else { return false };
    TURNED.with_borrow_mut(|turned| {
        turned.resize(inputs, [0.0; LANES]);
        for first in (0..outputs).step_by(LANES) {
            let block = first..outputs.min(first + LANES);
            let empty: &[f32] = &[];
            let lane = |lane| block.clone().nth(lane).map_or(empty, |output| weights.col(output).as_slice());
            turn(turned, &std::array::from_fn(lane));
            for row in (0..left.nrows()).step_by(RECORDS) {
                // Rows beyond the last are worked on for nothing: the last one again.
                let last = left.nrows() - 1;
                let records = std::array::from_fn(|at| left.row((row + at).min(last)).as_slice());
                for (row, sums) in (row..=last).zip(sums(&records, turned)) {
                    out.rb_mut().row_mut(row).as_slice_mut()[block.clone()]
                        .copy_from_slice(&sums[..block.len()]);
                }
            }
        }
    });
    true
}

/// Puts the weights of all lanes side by side, input by input. Lanes without weights stay as they are, or become zero.
fn turn(turned: &mut [[f32; LANES]], lanes: &[&[f32]; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        return simd.vectorize(super::turn::Turn { simd, turned, lanes });
    }
    turn_from(0, turned, lanes);
}

/// The same for the inputs from `first` on, one number after the other.
#[inline(always)]
pub(super) fn turn_from(first: usize, turned: &mut [[f32; LANES]], lanes: &[&[f32]; LANES]) {
    for (lane, weights) in lanes.iter().enumerate().filter(|(_, weights)| !weights.is_empty()) {
        let pairs = turned[first..].iter_mut().zip(&weights[first..]);
        pairs.for_each(|(turned, &weight)| turned[lane] = weight);
    }
}

fn sums(records: &[&[f32]; RECORDS], turned: &[[f32; LANES]]) -> [[f32; LANES]; RECORDS] {
    // Each record by name: sums in a list would be kept in memory.
    let [a, b, c, d, e] = records.map(|record| &record[..turned.len()]);
    vectorised(
        #[inline(always)]
        || {
            let mut sums_a = [0.0_f32; LANES];
            let (mut sums_b, mut sums_c, mut sums_d, mut sums_e) = (sums_a, sums_a, sums_a, sums_a);
            for (at, weights) in turned.iter().enumerate() {
                add(&mut sums_a, a[at], weights);
                add(&mut sums_b, b[at], weights);
                add(&mut sums_c, c[at], weights);
                add(&mut sums_d, d[at], weights);
                add(&mut sums_e, e[at], weights);
            }
            [sums_a, sums_b, sums_c, sums_d, sums_e]
        },
    )
}

#[inline(always)]
fn add(sums: &mut [f32; LANES], input: f32, weights: &[f32; LANES]) {
    sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum = input.mul_add(weight, *sum));
}

#[cfg(test)]
mod tests {
    use faer::linalg::matmul::matmul;
    use faer::{Accum, Par};

    use super::super::kernel::{matrix, matrix_mut};
    use super::*;

    #[test]
    fn the_product_is_that_of_faer_to_the_last_bit() {
        let mut state = 1_u32;
        let mut numbers = |count: usize| -> Vec<f32> {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 16_777_216.0 - 0.5
            };
            (0..count).map(|_| next()).collect()
        };
        let shapes = [
            (2, 1, 2),
            (2, 3, 5),
            (5, 64, 10),
            (10, 64, 10),
            (11, 65, 16),
            (7, 30, 17),
            (3, 100, 33),
            (4, 256, 16),
            (32, 256, 2),
        ];
        for (rows, inputs, outputs) in shapes {
            let (left, weights) = (numbers(rows * inputs), numbers(outputs * inputs));
            let (mut ours, mut theirs) = (vec![7.0; rows * outputs], vec![7.0; rows * outputs]);
            let right = matrix(&weights, outputs, inputs).transpose();
            assert!(multiply(&mut matrix_mut(&mut ours, rows, outputs), matrix(&left, rows, inputs), right));
            let out = matrix_mut(&mut theirs, rows, outputs);
            matmul(out, Accum::Replace, matrix(&left, rows, inputs), right, 1.0, Par::Seq);
            assert_eq!(ours, theirs, "{rows} × {inputs} × {outputs}");
        }
    }

    #[test]
    fn other_layouts_and_large_products_are_left_to_faer() {
        let (left, right, mut out) = (vec![0.0; 64], vec![0.0; 64], vec![0.0; 64]);
        let mut out = matrix_mut(&mut out, 8, 8);
        assert!(!multiply(&mut out, matrix(&left, 8, 8), matrix(&right, 8, 8)));
        assert!(!multiply(&mut out, matrix(&left, 8, 8).transpose(), matrix(&right, 8, 8).transpose()));
    }
}
