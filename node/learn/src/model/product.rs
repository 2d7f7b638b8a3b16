//! The gradient of a dense layer's weights as one matrix product, for batches of any size.
//!
//! Large ones go to faer. For the few records of a small participant its packing costs more than the product, so these have a loop of their own:
//! sums in registers, in a fixed order that no processor changes.

use privacy::vectorised;

use super::kernel::{self, matrix, matrix_mut};

/// Multiplications up to which the plain loop is used: 0.32 µs instead of 0.5 for 10 records, 64 inputs and 10 outputs.
const SMALL: usize = 1 << 14;
/// Columns that are summed at once: eight registers of eight.
const COLUMNS: usize = 64;
/// Columns of one register, for what remains.
const LANES: usize = 8;

/// Records and width of the two sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) fan_in: usize,
    pub(crate) fan_out: usize,
}

/// `out = signalᵀ · inputs`: Σ over records of signal × input, one row per output.
///
/// # Guarantee
/// No product passes through more than `rows` + 1 roundings, as [`rounding`](crate::gradient::rounding) counts on.
pub(crate) fn gradient(out: &mut [f32], signal: &[f32], inputs: &[f32], shape: Shape) {
    let Shape { rows, fan_in, fan_out } = shape;
    if rows * fan_in * fan_out > SMALL {
        return kernel::multiply(
            matrix_mut(out, fan_out, fan_in),
            matrix(signal, rows, fan_out).transpose(),
            matrix(inputs, rows, fan_in),
        );
    }
    vectorised(
        #[inline(always)]
        || {
            for (output, row) in out.chunks_exact_mut(fan_in).enumerate() {
                let (wide, rest) = row.as_chunks_mut::<COLUMNS>();
                let (narrow, rest) = rest.as_chunks_mut::<LANES>();
                let mut at = (output, 0);
                for block in wide {
                    *block = sum_of_products(signal, inputs, shape, at);
                    at.1 += COLUMNS;
                }
                for block in narrow {
                    *block = sum_of_products(signal, inputs, shape, at);
                    at.1 += LANES;
                }
                for value in rest {
                    [*value] = sum_of_products(signal, inputs, shape, at);
                    at.1 += 1;
                }
            }
        },
    );
}

/// `N` columns of one output's row, record after record.
#[inline(always)]
fn sum_of_products<const N: usize>(
    signal: &[f32],
    inputs: &[f32],
    Shape { rows, fan_in, fan_out }: Shape,
    (output, column): (usize, usize),
) -> [f32; N] {
    let mut sums = [0.0_f32; N];
    for row in 0..rows {
        let factor = signal[row * fan_out + output];
        let input = &inputs[row * fan_in + column..][..N];
        sums.iter_mut().zip(input).for_each(|(sum, &value)| *sum += factor * value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }

    /// Widths on both sides of every block, and products on both sides of what is small.
    #[test]
    fn the_product_is_that_of_the_definition_in_double_precision() {
        for fan_in in [1, 7, 8, 9, 63, 64, 72, 137] {
            for (rows, fan_out) in [(0, 3), (1, 1), (3, 5), (10, 10), (2, 11), (64, 4)] {
                let shape = Shape { rows, fan_in, fan_out };
                let (inputs, signal) = (numbers(rows * fan_in, 1), numbers(rows * fan_out, 3));
                let mut out = vec![7.0; fan_out * fan_in];
                gradient(&mut out, &signal, &inputs, shape);
                for (at, &found) in out.iter().enumerate() {
                    let (output, column) = (at / fan_in, at % fan_in);
                    let term = |row: usize| {
                        f64::from(signal[row * fan_out + output]) * f64::from(inputs[row * fan_in + column])
                    };
                    let exact: f64 = (0..rows).map(term).sum();
                    assert!((f64::from(found) - exact).abs() < 1e-5, "{shape:?}: {at}");
                }
            }
        }
    }
}
