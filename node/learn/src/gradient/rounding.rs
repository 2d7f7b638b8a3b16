//! What single precision does to the clip bound.
//!
//! In exact arithmetic adding or removing one example moves a sum of clipped gradients by at most C. Sums in single
//! precision round, and how they round depends on all terms: with one term more, every later rounding may change. So
//! the computed sum can move by a little more than C, and a guarantee must pay for it.
//!
//! # The bound
//! Each clipped contribution t_i is a vector of f32 factors whose product has norm at most C
//! ([`ClipNorm::factor`](privacy::clip::ClipNorm::factor) rounds to that side). A sum of B such contributions, added in any
//! order in which no number passes through more than k roundings, has an error of norm at most γ_k·Σ‖t_i‖ ≤ γ_k·B·C with
//! γ_k = k·u/(1 − k·u) and u = 2⁻²⁴ (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, §4.2). Two sums, with
//! and without one example, therefore differ by at most
//!
//! > C·(1 + s),  s = 2·γ_k·B.
//!
//! Sums are made in chunks of n rows, the chunks of a lane are added up, then the lanes: k = n + B/(n·lanes) + lanes + 2.
//! For B = 256, n = 64 and two lanes s is 0.2 %; a worst case that no data come near. [`ClippedSum`](super::ClippedSum)
//! counts C·(1 + s) as its sensitivity, so noise is larger by the factor 1 + s and the event is exactly the one asked for.
//!
//! B must not depend on the data: it is a capacity, computed from the public expected size of a Poisson sample, that a
//! draw exceeds with probability below 1e-30; a sample that does is refused.

/// Half the distance from 1 to the next f32: the relative error of one rounding.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// The largest sample that is provided for: `expected` plus twelve standard deviations and a bit, never more than all
/// records. By Bernstein's inequality a Poisson sample is larger with probability below exp(−72) ≈ 5e-32.
pub fn capacity(expected: f64, population: usize) -> usize {
    let margin = expected + 12.0 * expected.sqrt() + 48.0;
    (margin.ceil() as usize).min(population)
}

/// s: by how much, relative to C, the computed sum of up to `capacity` clipped contributions can move beyond C when one of
/// them is added or removed.
pub fn slack(capacity: usize, chunk_rows: usize, lanes: usize) -> f64 {
    let per_lane = capacity.div_ceil(lanes * chunk_rows);
    let roundings = (chunk_rows + per_lane + lanes + 2) as f64;
    let gamma = roundings * UNIT / (1.0 - roundings * UNIT);
    2.0 * gamma * capacity as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_of_a_batch_of_256_is_a_fifth_of_a_percent() {
        let s = slack(256, 64, 2);
        assert!((0.0020..0.0023).contains(&s), "{s}");
    }

    #[test]
    fn the_slack_grows_with_the_batch_and_with_the_chunk() {
        assert!(slack(512, 64, 2) > slack(256, 64, 2));
        assert!(slack(512, 64, 2) > slack(512, 32, 2));
    }

    #[test]
    fn the_capacity_never_exceeds_the_population() {
        assert_eq!(capacity(100.0, 100), 100);
        assert_eq!(capacity(100.0, 100_000), 268);
    }
}
