//! The square root of counting up: T is lower-triangular Toeplitz with r_0 = 1, r_i = r_{i−1}(2i − 1)/(2i), and T·T has ones on
//! and below the diagonal.
//!
//! A record in bin j adds column j of T; cumulative counts are then a multiplication by T away and have a deviation of
//! s·√Σ r_i² that grows with the logarithm of the number of bins, not with its root (Fichtenberger, Henzinger and
//! Upadhyay 2023; Li et al. 2015).

use crate::estimate::{dot, norm, square};

/// r_0, …, r_{B−1}.
#[must_use]
pub fn coefficients(bins: usize) -> Vec<f64> {
    let mut row = Vec::with_capacity(bins);
    let mut value = 1.0;
    for i in 0..bins {
        if i > 0 {
            value *= (2 * i - 1) as f64 / (2 * i) as f64;
        }
        row.push(value);
    }
    row
}

/// ρ_B = √Σ r_i²: how far one record moves the sum.
#[must_use]
pub fn sensitivity(bins: usize) -> f64 {
    norm(&coefficients(bins))
}

/// The whole numbers that a record adds: r_i·2^F, rounded.
#[must_use]
pub fn integer_column(bins: usize, bits: u32) -> Vec<i64> {
    let scale = (1_u64 << bits) as f64;
    coefficients(bins).into_iter().map(|r| (r * scale).round_ties_even() as i64).collect()
}

/// The exact squared sensitivity of those whole numbers: a record of the first bin moves all of them.
#[must_use]
pub fn squared_sensitivity(column: &[i64]) -> u128 {
    column.iter().map(|&r| u128::from(r.unsigned_abs()).pow(2)).sum()
}

/// From sums of columns back to cumulative counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoder {
    /// F_j = Σ_i row_i·y_{j−i}, in the units of y that people read (grid divided out).
    row: Vec<f64>,
}

impl Decoder {
    /// The inverse for the ideal coefficients, which is T itself.
    #[must_use]
    pub fn ideal(bins: usize) -> Self {
        Self { row: coefficients(bins) }
    }

    /// The inverse for whole numbers: l_0 = 1/r_0, l_k = (1 − Σ_{i=1..k} r_i l_{k−i})/r_0, times 2^F. Multiplying by T instead would
    /// be biased by the rounding, which adds up over the bins.
    #[must_use]
    pub fn of_integers(column: &[i64], bits: u32) -> Self {
        let scale = (1_u64 << bits) as f64;
        let column: Vec<f64> = column.iter().map(|&r| r as f64 / scale).collect();
        let mut row: Vec<f64> = Vec::with_capacity(column.len());
        for k in 0..column.len() {
            let before: f64 = (1..=k).map(|i| column[i] * row[k - i]).sum();
            row.push((1.0 - before) / column[0]);
        }
        Self { row }
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.row.len()
    }

    /// The coefficients themselves.
    #[must_use]
    pub fn row(&self) -> &[f64] {
        &self.row
    }

    /// Cumulative counts from the noisy sum.
    #[must_use]
    pub fn cumulative(&self, sum: &[f64]) -> Vec<f64> {
        (0..sum.len()).map(|j| (0..=j).map(|i| self.row[i] * sum[j - i]).sum()).collect()
    }

    /// |row_j of T − q·row_B of T|: the deviation of F_j − q·F_B for noise 1.
    #[must_use]
    pub fn rank_deviation(&self, bin: usize, q: f64) -> f64 {
        let last = self.row.len() - 1;
        // Row j has r_{j−i} at i ≤ j; row B − 1 has r_{B−1−i} at all i.
        let difference = |i: usize| (if i <= bin { self.row[bin - i] } else { 0.0 }) - q * self.row[last - i];
        let differences: Vec<f64> = (0..self.row.len()).map(difference).collect();
        norm(&differences)
    }

    /// The deviation of the total F_B for noise 1.
    #[must_use]
    pub fn total_deviation(&self) -> f64 {
        square(&self.row).sqrt()
    }

    /// |T′c|: the deviation of Σ c_j F_j for noise 1.
    #[must_use]
    pub fn functional_deviation(&self, weights: &[f64]) -> f64 {
        let adjoint: Vec<f64> =
            (0..weights.len()).map(|i| dot(&self.row[..weights.len() - i], &weights[i..])).collect();
        norm(&adjoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_times_itself_counts_up() {
        let row = coefficients(40);
        for k in 0..40 {
            let entry: f64 = (0..=k).map(|i| row[i] * row[k - i]).sum();
            assert!((entry - 1.0).abs() < 1e-13, "{k}: {entry}");
        }
    }

    #[test]
    fn whole_numbers_are_decoded_without_bias() {
        let column = integer_column(300, 6);
        let decoder = Decoder::of_integers(&column, 6);
        // One record in bin 7 and two in bin 200.
        let mut sum = vec![0.0; 300];
        for (bin, records) in [(7, 1.0), (200, 2.0)] {
            for i in bin..300 {
                sum[i] += records * column[i - bin] as f64 / 64.0;
            }
        }
        for (j, f) in decoder.cumulative(&sum).into_iter().enumerate() {
            let expected = f64::from(u8::from(j >= 7)) + 2.0 * f64::from(u8::from(j >= 200));
            assert!((f - expected).abs() < 1e-9, "{j}: {f}");
        }
    }
}
