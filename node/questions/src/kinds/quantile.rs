//! `quantile`, `median`, and everything else that is read off a cumulative count.

use super::root::Decoder;
use crate::clean::nondecreasing;
use crate::columns::Bounds;
use crate::estimate::{Estimate, half_width_in_deviations};

/// Cumulative counts over bins of equal width, with their noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Cumulative<'a> {
    decoder: &'a Decoder,
    bounds: Bounds,
    noise: f64,
    /// F as decoded, without bias.
    pub raw: Vec<f64>,
    /// F made monotone and cut at 0.
    pub monotone: Vec<f64>,
}

/// A quantile with the band of ranks that gave its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The value, by straight lines inside a bin.
    pub value: f64,
    /// Left edge of the first bin of the interval.
    pub low: f64,
    /// Right edge of its last bin.
    pub high: f64,
    /// Half of the band of ranks, in records.
    pub half_width: f64,
    /// Whether the band is wider than half of all records.
    pub too_few: bool,
}

impl<'a> Cumulative<'a> {
    /// From the noisy sum of columns of T.
    #[must_use]
    pub fn new(decoder: &'a Decoder, bounds: Bounds, sum: &[f64], noise: f64) -> Self {
        let raw = decoder.cumulative(sum);
        let monotone = nondecreasing(&raw).into_iter().map(|f| f.max(0.0)).collect();
        Self { decoder, bounds, noise, raw, monotone }
    }

    /// Records that have a value.
    #[must_use]
    pub fn count(&self) -> Estimate {
        let count = self.raw.last().copied().unwrap_or(0.0);
        Estimate::new(count, self.noise * self.decoder.total_deviation()).sampled(count)
    }

    /// Width of a bin.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.bounds.range() / self.raw.len() as f64
    }

    /// Noise on each coordinate.
    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn decoder(&self) -> &Decoder {
        self.decoder
    }

    /// The middle of bin j.
    pub(super) fn middle(&self, bin: usize) -> f64 {
        self.bounds.low + (bin as f64 + 0.5) * self.width()
    }

    /// Raw counts in the bins.
    #[must_use]
    pub fn bins(&self) -> Vec<f64> {
        differences(&self.raw)
    }

    /// The q-quantile. With `population` the band also holds the sampling of ranks, q(1 − q)N.
    #[must_use]
    pub fn quantile(&self, q: f64, population: bool) -> Quantile {
        let total = self.monotone.last().copied().unwrap_or(0.0);
        let rank = q * total;
        let last = self.monotone.len() - 1;
        let bin = self.first_at(rank).unwrap_or(last);
        let noise = self.noise * self.decoder.rank_deviation(bin, q);
        let sampling = if population { q * (1.0 - q) * total } else { 0.0 };
        let half_width = half_width_in_deviations() * (noise * noise + sampling).sqrt();
        let edge = |bin: usize| self.bounds.low + bin as f64 * self.width();
        let low = if rank - half_width <= 0.0 {
            self.bounds.low
        } else {
            edge(self.first_at(rank - half_width).unwrap_or(last))
        };
        let high = match self.first_at(rank + half_width) {
            Some(bin) if rank + half_width < total => edge(bin + 1),
            _ => self.bounds.high,
        };
        let value = self.inside(bin, rank);
        Quantile { value, low, high, half_width, too_few: half_width > total / 4.0 }
    }

    /// The first bin at which F reaches `rank`.
    fn first_at(&self, rank: f64) -> Option<usize> {
        let bin = self.monotone.partition_point(|&f| f < rank);
        (bin < self.monotone.len()).then_some(bin)
    }

    /// Where in a bin a straight line reaches `rank`.
    fn inside(&self, bin: usize, rank: f64) -> f64 {
        let before = if bin == 0 { 0.0 } else { self.monotone[bin - 1] };
        let step = self.monotone[bin] - before;
        let share = if step > 0.0 { ((rank - before) / step).clamp(0.0, 1.0) } else { 0.5 };
        self.bounds.low + (bin as f64 + share) * self.width()
    }
}

/// h_j = F_j − F_{j−1}.
pub(super) fn differences(cumulative: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&0.0).chain(cumulative);
    cumulative.iter().zip(before).map(|(now, before)| now - before).collect()
}

/// The weights on F of a figure Σ g_j h_j: c_j = g_j − g_{j+1}, c_B = g_B (summation by parts).
pub(super) fn onto_cumulative(weights: &[f64]) -> Vec<f64> {
    let after = weights[1..].iter().chain(std::iter::once(&0.0));
    weights.iter().zip(after).map(|(now, after)| now - after).collect()
}
