//! `sum`, `mean`: features (a, 1 − a) with a = (x − lo)/(hi − lo), norm at most 1.

use crate::columns::Bounds;
use crate::estimate::Estimate;

/// What two coordinates say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Records that have a value.
    pub count: Estimate,
    /// Their sum.
    pub sum: Estimate,
    /// Their mean; unusable where the count is lost in noise, see [`super::too_few`].
    pub mean: Estimate,
}

/// Count, sum and mean from the noisy sum of (a, 1 − a).
#[must_use]
pub fn mean(bounds: Bounds, [above, below]: [f64; 2], noise: f64) -> Mean {
    let range = bounds.range();
    let count = above + below;
    let share = above / count;
    let spread = (share * share + (1.0 - share) * (1.0 - share)).sqrt();
    // Nothing on (lo, hi) with this mean varies more (Bhatia and Davis 2000).
    let variance = range * range * (share * (1.0 - share)).clamp(0.0, 0.25);
    Mean {
        count: Estimate::new(count, noise * std::f64::consts::SQRT_2).sampled(count),
        sum: Estimate::new(
            bounds.low * count + range * above,
            noise * (bounds.low * bounds.low + bounds.high * bounds.high).sqrt(),
        ),
        mean: Estimate::new(bounds.low + range * share, range * noise * spread / count)
            .sampled(variance / count),
    }
}

/// The deviation of a mean over `records` records before anything is asked: from the best case (all in the middle) to
/// the worst (all at one bound).
#[must_use]
pub fn expected(bounds: Bounds, records: f64, noise: f64) -> (f64, f64) {
    let worst = bounds.range() * noise / records;
    (worst * std::f64::consts::FRAC_1_SQRT_2, worst)
}
