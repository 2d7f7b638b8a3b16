//! `variance`, `stddev`: features (a², √2·a(1 − a), (1 − a)²), whose norm is a² + (1 − a)² ≤ 1.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use crate::columns::Bounds;
use crate::estimate::{Estimate, norm};

/// What three coordinates say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Records that have a value.
    pub count: Estimate,
    /// Their sum.
    pub sum: Estimate,
    /// Their mean.
    pub mean: Estimate,
    /// Their variance (divided by N, not N − 1); may be negative under noise.
    pub variance: Estimate,
    /// Its root; 0 where the variance is negative.
    pub stddev: Estimate,
}

/// Everything from the noisy sum of the three features.
#[must_use]
pub fn variance(bounds: Bounds, [above, middle, below]: [f64; 3], noise: f64) -> Moments {
    let (low, range) = (bounds.low, bounds.range());
    let count = above + SQRT_2 * middle + below;
    let total = above + FRAC_1_SQRT_2 * middle;
    let (p, v) = (total / count, above / count);
    let by_mean = [1.0 - p, FRAC_1_SQRT_2 - SQRT_2 * p, -p];
    let by_variance = [
        1.0 - v - 2.0 * p * (1.0 - p),
        -SQRT_2 * v - 2.0 * p * (FRAC_1_SQRT_2 - SQRT_2 * p),
        -v + 2.0 * p * p,
    ];
    // The sum is lo·N + R·total, linear in the three.
    let by_sum = [low + range, SQRT_2 * low + FRAC_1_SQRT_2 * range, low];
    let value = range * range * (v - p * p);
    let deviation = range * range * noise * norm(&by_variance) / count;
    let root = value.max(0.0).sqrt();
    let variance = Estimate::new(value, deviation).sampled(value * (range * range - value) / count);
    Moments {
        count: Estimate::new(count, 2.0 * noise).sampled(count),
        sum: Estimate::new(low * count + range * total, noise * norm(&by_sum)),
        mean: Estimate::new(low + range * p, range * noise * norm(&by_mean) / count)
            .sampled(value.max(0.0) / count),
        variance,
        stddev: Estimate {
            value: root,
            deviation: deviation / (2.0 * root),
            sampling: variance.sampling.map(|sampling| sampling / (4.0 * value)),
        },
    }
}
