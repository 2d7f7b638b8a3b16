//! `frequent(code, k)`: the commonest values of an open set, prefix by prefix.
//!
//! Level ℓ counts alive prefixes times 256; those above a threshold that noise alone passes with probability β/L live on.
//! *No invertible table*: peeling would show all members the rare keys, and noise breaks it.

use privacy::special::normal_quantile;

/// The chance that any value nobody has is shown.
pub const FALSE_ALARM: f64 = 0.05;

/// Prefixes that live on, per value that was asked for.
const ALIVE_PER_VALUE: usize = 4;

/// Next bytes of a prefix.
pub const BYTES: usize = 256;

/// What passes for common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Prefixes below are dropped: s·z(1 − β/(L·candidates)).
    pub threshold: f64,
    /// Values with so many records are found with probability 95 %.
    pub found_from: f64,
}

/// Thresholds for noise s on each of L levels.
#[must_use]
pub fn thresholds(noise: f64, levels: usize, candidates: usize, beta: f64) -> Thresholds {
    let levels = levels as f64;
    let threshold = noise * normal_quantile(1.0 - beta / (levels * candidates as f64));
    Thresholds { threshold, found_from: threshold + noise * normal_quantile(1.0 - 0.05 / levels) }
}

/// The most prefixes that a level keeps.
#[must_use]
pub fn most_alive(values: usize) -> usize {
    ALIVE_PER_VALUE * values
}

/// The most coordinates of a level.
#[must_use]
pub fn most_candidates(values: usize) -> usize {
    most_alive(values) * BYTES
}

/// A walk through the levels: prefixes that are alive, and the counts of the last level.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    values: usize,
    length: usize,
    alive: Vec<Vec<u8>>,
    counts: Vec<f64>,
}

impl Search {
    /// The beginning: one empty prefix. Values shorter than `length` bytes end in zeros.
    #[must_use]
    pub fn new(values: usize, length: usize) -> Self {
        Self { values, length, alive: vec![Vec::new()], counts: Vec::new() }
    }

    /// Whether all bytes are known.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.alive.first().is_none_or(|prefix| prefix.len() == self.length)
    }

    /// Coordinates of the next level.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.alive.len() * BYTES
    }

    /// The coordinate of a value on the next level, if its prefix is alive.
    #[must_use]
    pub fn coordinate(&self, value: &[u8]) -> Option<usize> {
        let depth = self.alive.first()?.len();
        let padded = |at: usize| value.get(at).copied().unwrap_or(0);
        let prefix: Vec<u8> = (0..depth).map(padded).collect();
        let row = self.alive.binary_search(&prefix).ok()?;
        Some(row * BYTES + usize::from(padded(depth)))
    }

    /// Takes the noisy counts of a level and keeps the prefixes that stand out.
    pub fn advance(&mut self, counts: &[f64], noise: f64) {
        let limit = thresholds(noise, self.length, counts.len().max(1), FALSE_ALARM).threshold;
        let mut standing: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > limit).collect();
        standing.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]).then(a.cmp(&b)));
        standing.truncate(most_alive(self.values));
        standing.sort_unstable();
        let extend = |&at: &usize| [&self.alive[at / BYTES][..], &[(at % BYTES) as u8]].concat();
        let alive = standing.iter().map(extend).collect();
        self.counts = standing.iter().map(|&at| counts[at]).collect();
        self.alive = alive;
    }

    /// The values that were found with their noisy counts, commonest first; zeros at the end are left out.
    #[must_use]
    pub fn found(&self) -> Vec<(Vec<u8>, f64)> {
        let trim = |value: &[u8]| -> Vec<u8> {
            let end = value.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
            value[..end].to_vec()
        };
        let mut found: Vec<(Vec<u8>, f64)> =
            self.alive.iter().zip(&self.counts).map(|(value, &count)| (trim(value), count)).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found.truncate(self.values);
        found
    }
}
