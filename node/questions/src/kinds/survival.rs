//! `survival(t, died)`: Kaplan and Meier's curve over bins of time, and the log-rank test between two groups.

use crate::clean::nonincreasing;
use crate::estimate::Estimate;

/// Bins of time where nothing else is asked.
pub const BINS: usize = 24;

/// A curve with its deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// S at the end of each bin, between 0 and 1.
    pub survival: Vec<f64>,
    /// Its deviation over the noise.
    pub deviation: Vec<f64>,
    /// Greenwood's variance of sampling.
    pub sampling: Vec<f64>,
    /// Records at risk at the beginning of each bin.
    pub at_risk: Vec<f64>,
}

/// Records with an event and records that left, in bins of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times<'a> {
    /// Events in each bin.
    pub events: &'a [f64],
    /// Records that were censored in each bin.
    pub censored: &'a [f64],
}

impl<'a> Times<'a> {
    /// From one row of counts: events first, censored after.
    #[must_use]
    pub fn halves(sum: &'a [f64]) -> Self {
        let (events, censored) = sum.split_at(sum.len() / 2);
        Self { events, censored }
    }

    /// Everybody whose time lies in this bin or later.
    fn remaining(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mut remaining: Vec<f64> = (0..self.events.len())
            .rev()
            .map(|j| {
                sum += self.events[j] + self.censored[j];
                sum
            })
            .collect();
        remaining.reverse();
        remaining
    }

    /// The same made non-increasing and at least 1.
    fn at_risk(&self) -> Vec<f64> {
        nonincreasing(&self.remaining()).into_iter().map(|n| n.max(1.0)).collect()
    }
}

/// The curve of one group.
#[must_use]
pub fn curve(times: Times<'_>, noise: f64) -> Curve {
    let at_risk = times.at_risk();
    let mut alive = 1.0_f64;
    let survival: Vec<f64> = (0..at_risk.len())
        .map(|j| {
            alive *= 1.0 - times.events[j] / at_risk[j];
            alive.clamp(0.0, 1.0)
        })
        .collect();
    let deviation = (0..survival.len()).map(|t| survival[t] * noise * spread(times, &at_risk, t)).collect();
    let greenwood = |t: usize| {
        let terms = (0..=t).map(|j| {
            let deaths = times.events[j].max(0.0);
            deaths / (at_risk[j] * (at_risk[j] - deaths).max(1.0))
        });
        survival[t] * survival[t] * terms.sum::<f64>()
    };
    let sampling = (0..survival.len()).map(greenwood).collect();
    Curve { survival, deviation, sampling, at_risk }
}

/// The norm of the gradient of ln S(t) by all counts.
fn spread(times: Times<'_>, at_risk: &[f64], t: usize) -> f64 {
    // Nobody left: ln S is −∞ and S is 0 whatever this says, as long as it is finite.
    let left = |j: usize| (at_risk[j] - times.events[j].max(0.0)).max(1.0);
    let (mut sum, mut b) = (0.0, 0.0);
    for (i, here) in at_risk.iter().enumerate() {
        let a = if i <= t { -1.0 / left(i) } else { 0.0 };
        if i <= t {
            b += 1.0 / left(i) - 1.0 / here;
        }
        sum += (a + b) * (a + b) + b * b;
    }
    sum.sqrt()
}

/// The log-rank test of two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRank {
    /// Z, standard normal where both curves are the same.
    pub z: f64,
    /// Events of the first group beyond what was expected.
    pub observed_minus_expected: f64,
    /// Hypergeometric variance.
    pub variance: f64,
    /// Variance that the noise adds.
    pub noise_variance: f64,
}

/// O − E over the bins, with the noise of all four rows of counts.
#[must_use]
pub fn log_rank(first: Times<'_>, second: Times<'_>, noise: f64) -> LogRank {
    let difference = excess(first, second);
    let mut rows =
        [first.events.to_vec(), first.censored.to_vec(), second.events.to_vec(), second.censored.to_vec()];
    let mut gradient = 0.0;
    for row in 0..rows.len() {
        for j in 0..rows[row].len() {
            let here = rows[row][j];
            let mut moved = |value: f64| {
                rows[row][j] = value;
                let [a, b, c, d] = &rows;
                excess(Times { events: a, censored: b }, Times { events: c, censored: d })
            };
            let slope = (moved(here + 1.0) - moved(here - 1.0)) / 2.0;
            moved(here);
            gradient += slope * slope;
        }
    }
    let variance = hypergeometric(first, second);
    let noise_variance = noise * noise * gradient;
    let z = difference / (variance + noise_variance).sqrt();
    LogRank { z, observed_minus_expected: difference, variance, noise_variance }
}

/// Events of the first group minus those expected of it.
fn excess(first: Times<'_>, second: Times<'_>) -> f64 {
    let (n1, n2) = (first.at_risk(), second.at_risk());
    let term = |j: usize| {
        let deaths = first.events[j] + second.events[j];
        first.events[j] - deaths * n1[j] / (n1[j] + n2[j])
    };
    (0..n1.len()).map(term).sum()
}

fn hypergeometric(first: Times<'_>, second: Times<'_>) -> f64 {
    let (n1, n2) = (first.at_risk(), second.at_risk());
    let term = |j: usize| {
        let (n, deaths) = (n1[j] + n2[j], (first.events[j] + second.events[j]).max(0.0));
        let share = n1[j] / n;
        deaths * share * (1.0 - share) * ((n - deaths) / (n - 1.0)).max(0.0)
    };
    (0..n1.len()).map(term).sum()
}

impl Curve {
    /// S at the end of bin t.
    #[must_use]
    pub fn at(&self, t: usize) -> Estimate {
        Estimate::new(self.survival[t], self.deviation[t]).sampled(self.sampling[t])
    }
}
