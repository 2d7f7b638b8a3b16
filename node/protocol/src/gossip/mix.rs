//! The arithmetic of a mixing step: a weighted sum, made in double precision and rounded once.

/// Numbers that are summed at once: small enough for the first cache, long enough to vectorise.
const BLOCK: usize = 512;

/// `out = Σ weight · values`, in the order given, so that the bits do not depend on who came first.
pub(crate) fn weighted_sum(out: &mut [f32], terms: &[(f64, &[f32])]) {
    const MAX: f64 = f32::MAX as f64;
    privacy::vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0_f64; BLOCK];
            for (at, block) in out.chunks_mut(BLOCK).enumerate() {
                let sums = &mut sums[..block.len()];
                sums.fill(0.0);
                for (weight, values) in terms {
                    let values = &values[at * BLOCK..][..sums.len()];
                    sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += weight * f64::from(value));
                }
                // A sum that overflows would be refused by everybody who hears it.
                block.iter_mut().zip(&*sums).for_each(|(out, &sum)| *out = sum.clamp(-MAX, MAX) as f32);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sum_is_that_of_its_numbers_and_overflow_stays_finite() {
        let (a, b): (Vec<f32>, Vec<f32>) = (0..1300).map(|i| (i as f32, 1.0 - i as f32)).unzip();
        let mut out = vec![7.0; 1300];
        weighted_sum(&mut out, &[(0.5, &a), (0.5, &b)]);
        assert!(out.iter().all(|&value| value == 0.5));
        weighted_sum(&mut out[..1], &[(2.0, &[f32::MAX])]);
        assert_eq!(out[0], f32::MAX);
    }
}
