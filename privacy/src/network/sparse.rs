//! Sparse matrix times a block of vectors: the inner loop of every analysis on graphs.
//!
//! A block holds `width` vectors interleaved (node-major), so one entry of the matrix serves a whole SIMD register.
//! Sums run in a fixed order, with separate multiply and add: the same bits on every machine.

use crate::vectorised;
use topology::MixingMatrix;

/// Lanes of one register-sized piece of a block; widths are multiples of it.
pub(crate) const LANES: usize = 8;

/// Widths that have products of their own.
const WIDTH_1: usize = LANES;
const WIDTH_2: usize = 2 * LANES;
const WIDTH_3: usize = 3 * LANES;

/// Rounds a number of vectors up to a block width.
pub(crate) fn padded(vectors: usize) -> usize {
    vectors.div_ceil(LANES) * LANES
}

/// A matrix in compressed sparse rows whose rows need not sum to one.
#[derive(Debug, Clone)]
pub(crate) struct Csr {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// `W` itself: `out = W x` mixes the states.
    pub(crate) fn forward(matrix: &MixingMatrix) -> Self {
        let mut csr = Self { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for node in 0..matrix.nodes() {
            let (columns, values) = matrix.row(node);
            csr.columns.extend_from_slice(columns);
            csr.values.extend_from_slice(values);
            csr.offsets.push(csr.columns.len());
        }
        csr
    }

    /// The transpose: `out = Wᵀ x` pushes coefficient rows one step back in time.
    pub(crate) fn backward(matrix: &MixingMatrix) -> Self {
        let (offsets, columns, values) = matrix.transpose();
        Self { offsets, columns, values }
    }

    /// The same matrix with the absolute values of its entries.
    pub(crate) fn absolute(mut self) -> Self {
        self.values.iter_mut().for_each(|value| *value = value.abs());
        self
    }

    /// D A D⁻¹ for the diagonal matrix D of `scales`.
    pub(crate) fn rescaled(mut self, scales: &[f64]) -> Self {
        for row in 0..self.nodes() {
            for at in self.offsets[row]..self.offsets[row + 1] {
                self.values[at] *= scales[row] / scales[self.columns[at] as usize];
            }
        }
        self
    }

    /// Number of rows.
    pub(crate) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// `out = A x` for blocks of `width` interleaved vectors.
    pub(crate) fn multiply(&self, width: usize, x: &[f64], out: &mut [f64]) {
        assert!(width.is_multiple_of(LANES), "a block width is a multiple of {LANES}");
        assert!(x.len() == self.nodes() * width && out.len() == x.len(), "block and matrix sizes differ");
        vectorised(
            #[inline(always)]
            || match width {
                // The usual widths are known to the compiler, and so are the places of their pieces.
                WIDTH_1 => self.multiply_all::<WIDTH_1>(x, out),
                WIDTH_2 => self.multiply_all::<WIDTH_2>(x, out),
                WIDTH_3 => self.multiply_all::<WIDTH_3>(x, out),
                _ => self.multiply_wide(width, x, out),
            },
        );
    }

    #[inline(always)]
    fn multiply_all<const L: usize>(&self, x: &[f64], out: &mut [f64]) {
        let (pieces, _) = x.as_chunks::<L>();
        let (targets, _) = out.as_chunks_mut::<L>();
        let mut start = 0;
        for (target, &end) in targets.iter_mut().zip(&self.offsets[1..]) {
            let row = (&self.columns[start..end], &self.values[start..end]);
            *target = sum_of_products(row, |column| &pieces[column as usize]);
            start = end;
        }
    }

    #[inline(always)]
    fn multiply_wide(&self, width: usize, x: &[f64], out: &mut [f64]) {
        let mut lane = 0;
        while lane + WIDTH_3 <= width {
            self.multiply_lanes::<WIDTH_3>(width, lane, x, out);
            lane += WIDTH_3;
        }
        match width - lane {
            WIDTH_2 => self.multiply_lanes::<WIDTH_2>(width, lane, x, out),
            WIDTH_1 => self.multiply_lanes::<WIDTH_1>(width, lane, x, out),
            _ => {}
        }
    }

    #[inline(always)]
    fn multiply_lanes<const L: usize>(&self, width: usize, lane: usize, x: &[f64], out: &mut [f64]) {
        let piece = |column: u32| -> &[f64; L] {
            let start = column as usize * width + lane;
            x[start..start + L].try_into().expect("the piece has L lanes")
        };
        for row in 0..self.nodes() {
            let range = self.offsets[row]..self.offsets[row + 1];
            let entries = (&self.columns[range.clone()], &self.values[range]);
            let start = row * width + lane;
            let target: &mut [f64; L] =
                (&mut out[start..start + L]).try_into().expect("the piece has L lanes");
            *target = sum_of_products(entries, piece);
        }
    }

    /// `out = A x` for one vector.
    pub(crate) fn multiply_one(&self, x: &[f64], out: &mut [f64]) {
        for (row, slot) in out.iter_mut().enumerate() {
            let range = self.offsets[row]..self.offsets[row + 1];
            let entries = self.columns[range.clone()].iter().zip(&self.values[range]);
            *slot = entries.map(|(&column, &value)| value * x[column as usize]).sum();
        }
    }
}

/// Σ value · piece(column) over the entries of a row.
#[inline(always)]
fn sum_of_products<'a, const L: usize>(
    (columns, values): (&[u32], &[f64]),
    piece: impl Fn(u32) -> &'a [f64; L],
) -> [f64; L] {
    // Two sums at a time: one alone would wait for its own last addition.
    let (columns, last_column) = columns.as_chunks::<2>();
    let (values, last_value) = values.as_chunks::<2>();
    let mut even = [0.0f64; L];
    let mut odd = [0.0f64; L];
    for (column, value) in columns.iter().zip(values) {
        let (first, second) = (piece(column[0]), piece(column[1]));
        for at in 0..L {
            even[at] += value[0] * first[at];
            odd[at] += value[1] * second[at];
        }
    }
    if let ([column], [value]) = (last_column, last_value) {
        let last = piece(*column);
        for at in 0..L {
            even[at] += value * last[at];
        }
    }
    for at in 0..L {
        even[at] += odd[at];
    }
    even
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_product_equals_single_products_in_every_lane() {
        let matrix =
            MixingMatrix::new(vec![0, 2, 3, 5], vec![0, 1, 1, 0, 2], vec![0.25, 0.75, 1.0, 0.5, 0.5])
                .unwrap();
        for csr in [Csr::forward(&matrix), Csr::backward(&matrix)] {
            for width in [8, 16, 24, 40] {
                let x: Vec<f64> = (0..3 * width).map(|i| (i * i % 17) as f64 - 3.0).collect();
                let mut out = vec![0.0; 3 * width];
                csr.multiply(width, &x, &mut out);
                for lane in 0..width {
                    let single: Vec<f64> = (0..3).map(|node| x[node * width + lane]).collect();
                    let mut expected = vec![0.0; 3];
                    csr.multiply_one(&single, &mut expected);
                    let found: Vec<f64> = (0..3).map(|node| out[node * width + lane]).collect();
                    // Small whole numbers and quarters: every order of summation is exact.
                    assert_eq!(found, expected, "width {width}, lane {lane}");
                }
            }
        }
    }
}
