//! The arithmetic of a mixing step: a weighted sum, made in double precision and rounded once.

/// Numbers that are summed at once: their sums stay in registers while all terms are read.
const BLOCK: usize = 32;

/// Overwrites `out` with `length` numbers, `Σ weight · values`, summed in the order given, so that the bits do not depend on who came first.
///
/// # Panics
/// If a term is shorter than that.
pub(crate) fn weighted_sum(out: &mut Vec<f32>, length: usize, terms: &[(f64, &[f32])]) {
    out.resize(length, 0.0);
    privacy::vectorised(
        #[inline(always)]
        || {
            let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
            for (index, block) in blocks.iter_mut().enumerate() {
                let mut sums = [0.0_f64; BLOCK];
                add_all(&mut sums, index * BLOCK, terms);
                round_all(block, &sums);
            }
            let mut sums = [0.0_f64; BLOCK];
            let sums = &mut sums[..rest.len()];
            add_all(sums, length - rest.len(), terms);
            round_all(rest, sums);
        },
    );
}

/// Whether the weights of a mixing step add up to one, as they must for the mean to stay where it is.
pub(crate) fn keeps_the_mean(terms: &[(f64, &[f32])]) -> bool {
    (terms.iter().map(|(weight, _)| weight).sum::<f64>() - 1.0).abs() < 1e-9
}

#[inline(always)]
fn add_all(sums: &mut [f64], at: usize, terms: &[(f64, &[f32])]) {
    for (weight, values) in terms {
        let values = &values[at..at + sums.len()];
        sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += weight * f64::from(value));
    }
}

/// A sum that overflows would be refused by everybody who hears it.
#[inline(always)]
fn round_all(out: &mut [f32], sums: &[f64]) {
    const MAX: f64 = f32::MAX as f64;
    out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = sum.clamp(-MAX, MAX) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted_sum(length: usize, terms: &[(f64, &[f32])]) -> Vec<f32> {
        // Of another length and not zero: nothing of it may show.
        let mut out = vec![7.0; 40];
        super::weighted_sum(&mut out, length, terms);
        out
    }

    #[test]
    fn a_long_sum_is_that_of_its_numbers_and_overflow_stays_finite() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 1300] {
            let (a, b): (Vec<f32>, Vec<f32>) = (0..length).map(|i| (i as f32, 1.0 - 2.0 * i as f32)).unzip();
            let expected: Vec<f32> = (0..length).map(|i| 0.25 - 0.25 * i as f32).collect();
            assert_eq!(weighted_sum(length, &[(0.25, &a), (0.25, &b)]), expected, "{length}");
        }
        assert_eq!(weighted_sum(1, &[(2.0, &[f32::MAX])]), [f32::MAX]);
    }

    #[test]
    fn the_order_of_terms_is_the_order_of_addition() {
        // In double precision 1e17 + 8 − 1e17 is 0 or 16, and 8 only where the large ones cancel first.
        let (large, small) = ([1e17_f32; BLOCK + 3], [8.0_f32; BLOCK + 3]);
        let sum = |terms: &[(f64, &[f32])]| weighted_sum(BLOCK + 3, terms);
        assert!(sum(&[(1.0, &large), (-1.0, &large), (1.0, &small)]).iter().all(|&value| value == 8.0));
        assert!(sum(&[(1.0, &large), (1.0, &small), (-1.0, &large)]).iter().all(|&value| value != 8.0));
    }
}
