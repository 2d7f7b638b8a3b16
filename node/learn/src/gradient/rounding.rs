//! What single precision does to the clip bound.
//!
//! In exact arithmetic blanking one example moves a sum of clipped gradients by at most C. Sums in single precision round,
//! and how they round depends on all terms: with one term gone, every later rounding may change. So the computed sum can
//! move by a little more than C, and a guarantee must pay for it.
//!
//! # Which records are neighbours
//! One record is there or is blank: it keeps its place, its coins fall as before, and it contributes nothing
//! (*zero-out* adjacency, Kairouz et al., "Practical and private (deep) learning without sampling or shuffling", 2021). The
//! number of places is public, as dividing by the expected batch size needs anyway. So the sizes of samples, the chunks
//! and everything below are the same for neighbours, and the analysis of Poisson sampling is that for adding or
//! removing a record.
//!
//! # The bound
//! Each clipped contribution t_i is a vector of norm at most C
//! ([`ClipNorm::factor`](privacy::clip::ClipNorm::factor) rounds to that side). A sum of m such contributions, added in any
//! order in which no number passes through more than k roundings, has an error of norm at most γ_k·Σ‖t_i‖ ≤ γ_k·m·C with
//! γ_k = k·u/(1 − k·u) and u = 2⁻²⁴ (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, §4.2).
//!
//! Places are cut into chunks of n rows and groups of [`GROUP_ROWS`]. Chunks of a group are added in single precision,
//! groups in double precision. Only the group of the changed record rounds differently: 2·γ_k·256·C with
//! k = n + 256/n + 2. At the end the whole sum of B contributions, of norm at most B·C, is rounded to single precision
//! once: 2·u·B·C. (Batches of up to one group per lane skip double precision: γ_lanes instead of u.) In all, the
//! sum moves by at most
//!
//! > C·(1 + s),  s = 2·γ_k·min(B, 256) + 2·u·B (+ 2·γ_lanes·min(B, 256·lanes)).
//!
//! Models with a large first layer work on a whole group at once ([`GroupPass`](crate::model::GroupPass)), with n = 128: a product is exact
//! until it is added (fused), passes through at most 128 roundings in the chain of its block and one for each further block of the
//! group. There are no lanes to add. So k and the bound are the same or smaller, whichever way a batch takes.
//!
//! s is 0.2 % for B = 256 and 0.4 % for B = 16,384, and for large models, whose chunks have 128 rows, 0.4 % and 0.6 %: worst cases that no data come near.
//! [`ClippedSum`](super::ClippedSum) counts C·(1 + s) as its sensitivity, so noise is larger by the factor 1 + s and the
//! event is exactly the one asked for.

/// Half the distance from 1 to the next f32: the relative error of one rounding.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Rows that are added in single precision before double precision takes over.
pub const GROUP_ROWS: usize = 256;

/// s: by how much, relative to C, the computed sum over `rows` places can move beyond C when one record is blanked.
pub fn slack(rows: usize, chunk_rows: usize, lanes: usize) -> f64 {
    let in_group = gamma(roundings_in_group(chunk_rows)) * rows.min(GROUP_ROWS) as f64;
    let over_lanes = gamma(lanes) * rows.min(lanes * GROUP_ROWS) as f64;
    2.0 * (in_group + over_lanes + UNIT * rows as f64)
}

/// The same when a record is really taken out, so that all later records move up by one place: every group may then round
/// differently. For comparison; the guarantee is about blanks.
pub fn slack_of_removal(rows: usize, chunk_rows: usize, lanes: usize) -> f64 {
    2.0 * gamma(roundings_in_group(chunk_rows) + lanes + 1) * rows as f64
}

/// One for each row of a chunk, one for each chunk of a group, and two for the product and for double precision.
fn roundings_in_group(chunk_rows: usize) -> usize {
    chunk_rows + GROUP_ROWS.div_ceil(chunk_rows) + 2
}

fn gamma(roundings: usize) -> f64 {
    let all = roundings as f64 * UNIT;
    all / (1.0 - all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_is_what_the_text_above_says() {
        let small = slack(256, 64, 2);
        assert!((0.0020..0.0024).contains(&small), "{small}");
        let large = slack(16_384, 64, 2);
        assert!((0.0038..0.0044).contains(&large), "{large}");
        let wide = [slack(256, 128, 2), slack(16_384, 128, 2)];
        assert!((0.0038..0.0044).contains(&wide[0]) && (0.0056..0.0064).contains(&wide[1]), "{wide:?}");
    }

    #[test]
    fn the_slack_grows_with_the_batch_and_with_the_chunk() {
        assert!(slack(512, 64, 2) > slack(256, 64, 2));
        assert!(slack(512, 128, 2) > slack(512, 64, 2));
        assert!(slack_of_removal(4_096, 64, 2) > slack(4_096, 64, 2));
    }
}
