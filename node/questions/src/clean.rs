//! What is known of every true answer, made true of the noisy one: post-processing, so free.
//!
//! Intervals are of the raw figures; these are what people look at.

/// The nearest counts that are not negative and keep the total, or 0 where that is negative: one constant is
/// subtracted and the rest cut at 0 (Euclidean projection onto a scaled simplex).
#[must_use]
pub fn nonnegative(counts: &[f64]) -> Vec<f64> {
    let total = counts.iter().sum::<f64>().max(0.0);
    let mut falling = counts.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut constant) = (0.0, 0.0);
    for (index, &value) in falling.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (index + 1) as f64;
        // The largest set of kept coordinates in which the smallest stays positive.
        if value > candidate {
            constant = candidate;
        }
    }
    if total == 0.0 {
        return vec![0.0; counts.len()];
    }
    counts.iter().map(|value| (value - constant).max(0.0)).collect()
}

/// The nearest row that never falls, in least squares with equal weights (pool adjacent violators).
#[must_use]
pub fn nondecreasing(values: &[f64]) -> Vec<f64> {
    // Pools of (sum, length): a pool that lies below the one before is joined to it.
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(sum, length)) = pools.last()
            && sum / length as f64 >= pool.0 / pool.1 as f64
        {
            pool = (pool.0 + sum, pool.1 + length);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(sum, length)| std::iter::repeat_n(sum / length as f64, length)).collect()
}

/// The nearest row that never rises.
#[must_use]
pub fn nonincreasing(values: &[f64]) -> Vec<f64> {
    let negative: Vec<f64> = values.iter().map(|value| -value).collect();
    nondecreasing(&negative).into_iter().map(|value| -value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pools_are_means_of_violators() {
        assert_eq!(nondecreasing(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(nonincreasing(&[3.0, 1.0, 2.0]), [3.0, 1.5, 1.5]);
        assert_eq!(nondecreasing(&[]), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn the_projection_keeps_the_total_and_no_other_feasible_point_is_nearer(
            counts in prop::collection::vec(-20.0f64..50.0, 1..12), other in prop::collection::vec(0.0f64..1.0, 12),
        ) {
            let total = counts.iter().sum::<f64>().max(0.0);
            let cleaned = nonnegative(&counts);
            prop_assert!(cleaned.iter().all(|&value| value >= 0.0));
            prop_assert!((cleaned.iter().sum::<f64>() - total).abs() < 1e-9);
            // A convex set: the projection makes an obtuse angle with every feasible point.
            let weight: f64 = other[..counts.len()].iter().sum::<f64>().max(1e-9);
            let angle: f64 = (0..counts.len())
                .map(|i| (counts[i] - cleaned[i]) * (other[i] / weight * total - cleaned[i]))
                .sum();
            prop_assert!(angle <= 1e-6, "{angle}");
        }

        #[test]
        fn a_monotone_row_is_a_fixed_point(mut values in prop::collection::vec(-5.0f64..5.0, 0..20)) {
            values.sort_by(f64::total_cmp);
            let once = nondecreasing(&values);
            prop_assert!(once.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
